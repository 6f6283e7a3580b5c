// Orbit controls of the camera: drag to rotate, drag with the right button or Shift to pan, wheel or pinch to zoom; arrow
// keys, + and - do the same.

import { MathUtils, type PerspectiveCamera, Vector3 } from 'three'

const NEAREST_M = 0.2
const FURTHEST_M = 250
const LOWEST = MathUtils.degToRad(-5)
const HIGHEST = MathUtils.degToRad(89.5)
/** Time constant of a glide. */
const GLIDE_S = 0.12

export class Orbit {
  readonly target = new Vector3()
  azimuth = -Math.PI / 2
  elevation = 0.4
  distance = 8
  /** Called when the user moves the camera. */
  onMove: (() => void) | null = null
  #goal: { target: Vector3; distance: number } | null = null
  #camera: PerspectiveCamera
  #canvas: HTMLElement
  #fingers = new Map<number, { x: number; y: number }>()
  #shifting = false

  constructor(camera: PerspectiveCamera, canvas: HTMLElement) {
    this.#camera = camera
    this.#canvas = canvas
    canvas.addEventListener('pointermove', (event) => this.#dragged(event))
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
      canvas.addEventListener(end, (event) => this.#fingers.delete(event.pointerId))
    }
    canvas.addEventListener('contextmenu', (event) => event.preventDefault())
    canvas.addEventListener('wheel', (event) => this.#rolled(event), { passive: false })
    canvas.addEventListener('keydown', (event) => this.#pressed(event))
    this.apply()
  }

  /** Lets a pointer move the camera. */
  grab(event: PointerEvent): void {
    this.#fingers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    this.#shifting = event.button === 2 || event.button === 1 || event.shiftKey
  }

  /** Distance at the end of the current glide. */
  get wanted(): number {
    return this.#goal?.distance ?? this.distance
  }

  /** Glides to a target. */
  glide(target: Vector3, distance: number): void {
    this.#goal = { target: target.clone(), distance }
  }

  jump(target: Vector3, distance: number): void {
    this.#goal = null
    this.target.copy(target)
    this.distance = distance
    this.apply()
  }

  look(eye: Vector3, at: Vector3): void {
    this.#goal = null
    this.target.copy(at)
    const away = eye.clone().sub(at)
    this.distance = MathUtils.clamp(away.length(), NEAREST_M, FURTHEST_M)
    this.azimuth = Math.atan2(away.y, away.x)
    this.elevation = MathUtils.clamp(Math.asin(away.z / Math.max(away.length(), 1e-6)), LOWEST, HIGHEST)
    this.apply()
  }

  /** Advances a glide; returns whether it goes on. */
  advance(seconds: number): boolean {
    if (!this.#goal) return false
    const part = 1 - Math.exp(-seconds / GLIDE_S)
    this.target.lerp(this.#goal.target, part)
    this.distance += (this.#goal.distance - this.distance) * part
    const left = this.target.distanceTo(this.#goal.target) + Math.abs(this.distance - this.#goal.distance)
    if (left < 0.002) this.#goal = null
    this.apply()
    return this.#goal !== null
  }

  apply(): void {
    const flat = Math.cos(this.elevation) * this.distance
    this.#camera.position.set(
      this.target.x + flat * Math.cos(this.azimuth),
      this.target.y + flat * Math.sin(this.azimuth),
      this.target.z + Math.sin(this.elevation) * this.distance,
    )
    // stay above the ground
    this.#camera.position.z = Math.max(this.#camera.position.z, 0.05)
    this.#camera.up.set(0, 0, 1)
    this.#camera.lookAt(this.target)
    this.#camera.near = Math.max(0.02, this.distance * 0.02)
    this.#camera.far = 1500
    this.#camera.updateProjectionMatrix()
    this.#camera.updateMatrixWorld()
  }

  #moved(): void {
    this.apply()
    this.onMove?.()
  }

  #turn(right: number, up: number): void {
    this.azimuth -= right
    this.elevation = MathUtils.clamp(this.elevation + up, LOWEST, HIGHEST)
    this.#moved()
  }

  #zoom(factor: number): void {
    this.distance = MathUtils.clamp(this.distance * factor, NEAREST_M, FURTHEST_M)
    if (this.#goal) this.#goal.distance = this.distance
    this.#moved()
  }

  /** Pans over the ground by this many pixels. */
  #shift(right: number, down: number): void {
    this.#goal = null
    const scale = (this.distance * 1.2) / Math.max(1, this.#canvas.clientHeight)
    const cos = Math.cos(this.azimuth)
    const sin = Math.sin(this.azimuth)
    this.target.x += (sin * right - cos * down) * scale
    this.target.y += (-cos * right - sin * down) * scale
    this.#moved()
  }

  #dragged(event: PointerEvent): void {
    const before = this.#fingers.get(event.pointerId)
    if (!before) return
    const now = { x: event.clientX, y: event.clientY }
    const [dx, dy] = [now.x - before.x, now.y - before.y]
    const other = [...this.#fingers].find(([id]) => id !== event.pointerId)?.[1]
    this.#fingers.set(event.pointerId, now)
    if (other) {
      const was = Math.hypot(before.x - other.x, before.y - other.y)
      const is = Math.hypot(now.x - other.x, now.y - other.y)
      this.#shift(dx / 2, dy / 2)
      if (is > 0) this.#zoom(was / is)
    } else if (this.#shifting) this.#shift(dx, dy)
    else this.#turn(dx * 0.006, dy * 0.006)
  }

  #rolled(event: WheelEvent): void {
    event.preventDefault()
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / 100 : event.deltaY / 3
    this.#zoom(1.15 ** MathUtils.clamp(lines, -4, 4))
  }

  #pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const shift = event.shiftKey
    const acts: Record<string, () => void> = {
      ArrowLeft: () => (shift ? this.#shift(40, 0) : this.#turn(0.1, 0)),
      ArrowRight: () => (shift ? this.#shift(-40, 0) : this.#turn(-0.1, 0)),
      ArrowUp: () => (shift ? this.#shift(0, 40) : this.#turn(0, 0.08)),
      ArrowDown: () => (shift ? this.#shift(0, -40) : this.#turn(0, -0.08)),
      '+': () => this.#zoom(1 / 1.15),
      '=': () => this.#zoom(1 / 1.15),
      '-': () => this.#zoom(1.15),
    }
    const act = acts[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
}
