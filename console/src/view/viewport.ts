// Canvas, lights and camera. Draws only when something has changed, and with less detail on slow machines.

import {
  Color,
  DirectionalLight,
  Fog,
  HemisphereLight,
  PCFShadowMap,
  PerspectiveCamera,
  Scene as Space,
  Vector3,
  WebGLRenderer,
} from 'three'

import { Orbit } from './orbit'

const SKY = { light: 0xdbe4ee, dark: 0x1d242d }
const SUN_FROM = new Vector3(-0.45, -0.6, 1.3).normalize()
/** Frame times above which quality is reduced: first shadows, then resolution. */
const SLOW_MS = [45, 110]
const SLOW_FRAMES = 12
/** When nothing has moved for this long, a slow machine draws once in full quality. */
const IDLE_MS = 300

export class Viewport {
  readonly space = new Space()
  readonly camera = new PerspectiveCamera(42, 1, 0.05, 1500)
  readonly orbit: Orbit
  readonly canvas: HTMLCanvasElement
  /** Called before each frame; returns whether another one is needed. */
  onFrame: ((now: number) => boolean) | null = null
  /** Called when the canvas is resized. */
  onSize: (() => void) | null = null
  #renderer: WebGLRenderer
  #sun = new DirectionalLight(0xfff4e2, 2.4)
  #fog = new Fog(SKY.light, 60, 160)
  #dark = matchMedia('(prefers-color-scheme: dark)')
  #resized: ResizeObserver
  #pending = 0
  #last = 0
  #slow = 0
  /** 0: full quality; 1: no shadows, limited resolution; 2: low resolution. */
  #reduction: number
  #fine = false
  #idleTimer: ReturnType<typeof setTimeout> | undefined
  #turn = () => this.#colour()

  /** Throws if this browser has no WebGL. */
  constructor(holder: HTMLElement) {
    const slow = drawsInSoftware()
    this.#reduction = slow ? 1 : 0
    this.#renderer = new WebGLRenderer({ antialias: !slow, powerPreference: 'high-performance' })
    this.#renderer.shadowMap.enabled = true
    this.#renderer.shadowMap.type = PCFShadowMap
    this.canvas = this.#renderer.domElement
    this.canvas.tabIndex = 0
    this.canvas.classList.add('view-canvas')
    this.canvas.dataset.test = 'view'
    this.canvas.setAttribute('role', 'application')
    this.canvas.setAttribute(
      'aria-label',
      'View of the world. Arrow keys rotate, Shift and arrow keys pan, plus and minus zoom.',
    )
    this.canvas.addEventListener('webglcontextrestored', () => this.wake())
    holder.append(this.canvas)
    this.orbit = new Orbit(this.camera, this.canvas)

    this.space.fog = this.#fog
    this.#sun.castShadow = this.#reduction === 0
    this.#sun.shadow.mapSize.set(2048, 2048)
    this.#sun.shadow.bias = -0.0005
    this.#sun.shadow.normalBias = 0.02
    this.space.add(new HemisphereLight(0xffffff, 0x8d95a0, 1.7), this.#sun, this.#sun.target)
    this.#dark.addEventListener('change', this.#turn)
    this.#colour()

    this.#resized = new ResizeObserver(() => this.#fit(holder))
    this.#resized.observe(holder)
    this.#fit(holder)
  }

  /** Requests a frame. */
  wake(): void {
    clearTimeout(this.#idleTimer)
    if (this.#pending === 0) this.#pending = requestAnimationFrame((now) => this.#frame(now))
  }

  close(): void {
    cancelAnimationFrame(this.#pending)
    clearTimeout(this.#idleTimer)
    this.#pending = -1
    this.#dark.removeEventListener('change', this.#turn)
    this.#resized.disconnect()
    this.#sun.shadow.map?.dispose()
    this.#renderer.dispose()
    this.#renderer.forceContextLoss()
    this.canvas.remove()
  }

  #frame(now: number): void {
    this.#pending = 0
    const gap = this.#last > 0 ? now - this.#last : 0
    const more = this.onFrame?.(now) ?? false
    const gliding = this.orbit.advance(Math.min(0.1, gap / 1000 || 1 / 60))
    if (this.#fine) this.#refine(false)
    this.#draw()
    this.#reduceQuality(gap)
    this.#last = now
    if (more || gliding) {
      this.wake()
      return
    }
    // the pause until the next frame does not count as slowness
    this.#last = 0
    if (this.#reduction > 0) {
      this.#idleTimer = setTimeout(() => {
        this.#refine(true)
        this.#draw()
      }, IDLE_MS)
    }
  }

  #draw(): void {
    this.#placeSun()
    this.#renderer.render(this.space, this.camera)
  }

  #refine(fine: boolean): void {
    this.#fine = fine
    this.#sun.castShadow = fine || this.#reduction === 0
    this.#setRatio()
  }

  /** Reduces quality when frames are slow. */
  #reduceQuality(gap: number): void {
    const slow = SLOW_MS[this.#reduction]
    if (slow === undefined) return
    this.#slow = gap > slow ? this.#slow + 1 : Math.max(0, this.#slow - 1)
    if (this.#slow < SLOW_FRAMES) return
    this.#slow = 0
    this.#reduction++
    this.#refine(false)
  }

  #setRatio(): void {
    const ratio = Math.min(devicePixelRatio, 2)
    const coarse = Math.min(ratio, 1)
    // a still image without antialiasing is drawn at twice the resolution
    const wanted = this.#fine ? Math.max(ratio, 2) : [ratio, coarse, coarse * 0.75][this.#reduction]
    this.#renderer.setPixelRatio(wanted ?? coarse)
  }

  /** Moves light and fog with the camera: shadows are detailed where it looks, and the target is never foggy. */
  #placeSun(): void {
    const { target, distance } = this.orbit
    const reach = Math.min(45, Math.max(2.5, distance * 0.9))
    this.#sun.target.position.copy(target)
    this.#sun.position.copy(target).addScaledVector(SUN_FROM, reach * 3)
    const box = this.#sun.shadow.camera
    if (Math.abs(box.right - reach) > 0.01) {
      box.left = box.bottom = -reach
      box.right = box.top = reach
      box.near = reach
      box.far = reach * 5
      box.updateProjectionMatrix()
    }
    this.#fog.near = Math.max(50, distance * 1.6)
    this.#fog.far = this.#fog.near * 2.4
  }

  #colour(): void {
    const sky = new Color(this.#dark.matches ? SKY.dark : SKY.light)
    this.space.background = sky
    this.#fog.color = sky
    this.wake()
  }

  #fit(holder: HTMLElement): void {
    const width = holder.clientWidth
    const height = holder.clientHeight
    if (width === 0 || height === 0) return
    this.camera.aspect = width / height
    // in portrait format, show as much horizontally as in a square
    this.camera.fov = width < height ? Math.min(75, 42 * (height / width)) : 42
    this.#setRatio()
    this.#renderer.setSize(width, height)
    this.orbit.apply()
    this.onSize?.()
    this.wake()
  }
}

/** Whether WebGL runs in software. */
function drawsInSoftware(): boolean {
  const probe = document.createElement('canvas').getContext('webgl2')
  const info = probe?.getExtension('WEBGL_debug_renderer_info')
  const name: unknown = probe && info ? probe.getParameter(info.UNMASKED_RENDERER_WEBGL) : ''
  probe?.getExtension('WEBGL_lose_context')?.loseContext()
  return /swiftshader|llvmpipe|software|basic render/i.test(String(name))
}
