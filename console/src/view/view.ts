// The 3-D view of a world, as the pages use it.

import { MathUtils, Plane, Quaternion, Raycaster, Vector2, Vector3 } from 'three'

import type { Scene, Vector } from '../api'
import { empty } from '../ui'
import { descendants, findAncestor, pickedBody } from './hierarchy'
import { type Mark, Marks } from './marks'
import { Motion } from './motion'
import type { Orbit } from './orbit'
import { decode, generationOf, samePoses } from './poses'
import { Ring } from './ring'
import { Shapes } from './shapes'
import { readPose } from './transforms'
import { overAgents, overField } from './viewpoint'
import { Viewport } from './viewport'
import './view.css'

/** A pointer that moved at most this far has clicked. */
const CLICK_PX = 5
/** Distance from which the camera follows a body: a multiple of its size, within limits in m. */
const FOLLOW_FROM_SIZES = 6
const FOLLOW_FROM_M = [1, 4] as const
const GROUND = new Plane(new Vector3(0, 0, 1), 0)

/** The clock of requestAnimationFrame. */
const now = () => performance.now()
const still = matchMedia('(prefers-reduced-motion: reduce)')

interface Hold {
  pointer: number
  x: number
  y: number
  /** The dragged body; null while moving the camera. */
  body: number | null
  moved: boolean
}

export class View {
  /** Called with the clicked body, or its agent's first body; null for a click on nothing. */
  onPick: ((body: number | null) => void) | null = null
  #viewport: Viewport | null = null
  #scene: Scene | null = null
  #shapes: Shapes | null = null
  /** Shapes of the previous scene, shown until the new one has poses. */
  #before: Shapes | null = null
  #motion = new Motion()
  /** A pose frame that arrived before its scene. */
  #early: DataView | null = null
  #latest: DataView | null = null
  #followed: number | null = null
  /** Whether to approach the followed body with the next frame. */
  #nearer = false
  /** Distance to approach to, in m; null to derive it from the body's size. */
  #from: number | null = null
  /** Size of the followed body, in m. */
  #size = 0.3
  #followRing = new Ring(0x2f7de1)
  #dragRing = new Ring(0xffb020)
  #marks = new Marks()
  #draggable = new Set<number>()
  #dropped: ((body: number, x: number, y: number) => void) | null = null
  #hold: Hold | null = null
  /** Whether the user has chosen a viewpoint. */
  #chosen = false
  #placed = false
  #viewpoint: 'field' | 'above' | null = null

  constructor(holder: HTMLElement) {
    holder.classList.add('view')
    try {
      this.#viewport = new Viewport(holder)
    } catch {
      holder.append(
        empty(
          '3-D view unavailable',
          'WebGL is missing or disabled in this browser. Everything else works. ' +
            'Turn on hardware acceleration in its settings, or open the link in another browser.',
        ),
      )
      return
    }
    const viewport = this.#viewport
    viewport.space.add(this.#followRing.mesh, this.#dragRing.mesh, this.#marks.group)
    viewport.onFrame = (time) => this.#advance(time)
    viewport.onSize = () => this.#look()
    viewport.orbit.onMove = () => {
      this.#chosen = true
      this.#viewpoint = null
      viewport.wake()
    }
    viewport.canvas.addEventListener('pointerdown', (event) => this.#pressed(event))
    viewport.canvas.addEventListener('pointermove', (event) => this.#moved(event))
    viewport.canvas.addEventListener('pointerup', (event) => this.#released(event))
    viewport.canvas.addEventListener('pointercancel', () => this.#letGo())
    viewport.canvas.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#letGo()
    })
  }

  setScene(scene: Scene): void {
    if (!this.#viewport) return
    this.#letGo()
    this.#scene = scene
    // keep showing the previous scene until the new one has poses
    if (this.#placed) this.#before = this.#shapes
    else this.#shapes?.close()
    this.#shapes = new Shapes(scene)
    this.#motion.forget()
    this.#placed = false
    const early = this.#early
    this.#early = null
    // a world without bodies sends no poses
    if (scene.bodies.length <= 1) this.#appear()
    else if (early) this.pose(early)
    this.#viewport.wake()
  }

  /** Takes a live pose frame; motion is interpolated between frames. */
  pose(frame: DataView): void {
    if (!this.#takes(frame)) return
    // nothing moved: nothing to draw
    if (this.#placed && this.#latest && samePoses(this.#latest, frame)) return
    this.#latest = frame
    this.#motion.push(decode(frame), now())
    this.#appear()
    this.#viewport?.wake()
  }

  /** Takes a playback frame; it is shown immediately, without interpolation. */
  show(frame: DataView): void {
    if (!this.#takes(frame)) return
    this.#latest = frame
    this.#motion.jump(decode(frame), now())
    this.#appear()
    this.#viewport?.wake()
  }

  /** Follows a body, starting from this distance in m, or one derived from its size. */
  follow(body: number | null, from: number | null = null): void {
    if (body !== null && body !== this.#followed) this.#nearer = true
    this.#from = from
    this.#followed = body
    if (body === null) this.#followRing.hide()
    else {
      this.#chosen = true
      this.#viewpoint = null
    }
    this.#viewport?.wake()
  }

  lookFrom(place: 'field' | 'above' | { eye: Vector; at: Vector }): void {
    this.#chosen = true
    this.#followed = null
    this.#followRing.hide()
    if (typeof place === 'string') {
      this.#viewpoint = place
      this.#look()
    } else {
      this.#viewpoint = null
      this.#viewport?.orbit.look(new Vector3(...place.eye), new Vector3(...place.at))
    }
    this.#viewport?.wake()
  }

  /** Puts a ring under each of these bodies. */
  mark(marks: Mark[]): void {
    this.#marks.set(marks)
    this.#viewport?.wake()
  }

  /** Makes bodies draggable over the ground; `dropped` is called with the target on the ground. */
  draggable(bodies: number[], dropped: (body: number, x: number, y: number) => void): void {
    this.#draggable = new Set(bodies)
    this.#dropped = dropped
  }

  close(): void {
    this.#shapes?.close()
    this.#before?.close()
    this.#followRing.close()
    this.#dragRing.close()
    this.#marks.close()
    this.#viewport?.close()
    this.#viewport = null
  }

  /** Whether a frame belongs to the current scene. One that is ahead of its scene is kept. */
  #takes(frame: DataView): boolean {
    if (!this.#viewport) return false
    if (this.#scene && generationOf(frame) === this.#scene.generation) return true
    this.#early = frame
    return false
  }

  /** Shows the new scene, now that its poses are known. */
  #appear(): void {
    if (!this.#viewport || !this.#shapes || this.#placed) return
    if (this.#before) this.#viewport.space.remove(this.#before.group)
    this.#before?.close()
    this.#before = null
    this.#viewport.space.add(this.#shapes.group)
    this.#placed = true
    this.#look()
  }

  /** Applies the chosen viewpoint; shows all agents until one is chosen. */
  #look(): void {
    if (!this.#viewport || !this.#scene) return
    const { camera, orbit } = this.#viewport
    if (this.#viewpoint) {
      const { eye, at } = overField(this.#scene, this.#viewpoint, camera.fov, camera.aspect)
      orbit.look(eye, at)
    } else if (!this.#chosen && this.#placed) {
      const { eye, at } = overAgents(this.#scene, this.#motion.shown, camera.fov, camera.aspect)
      orbit.look(eye, at)
    }
  }

  #advance(time: number): boolean {
    const more = this.#motion.advance(time)
    if (!this.#viewport || !this.#shapes || !this.#placed) return more
    this.#shapes.place(this.#motion.shown)
    this.#marks.place(this.#motion.shown, this.#viewport.orbit.distance)
    this.#viewport.canvas.dataset.tick = String(this.#motion.shown.tick)
    if (this.#followed !== null) this.#approach(this.#followed, this.#viewport.orbit)
    return more
  }

  #approach(body: number, orbit: Orbit): void {
    const place = new Vector3()
    readPose(this.#motion.shown, body, place, new Quaternion())
    if (this.#nearer) this.#size = this.#sizeOf(body, place)
    this.#followRing.put(place.x, place.y, MathUtils.clamp(this.#size * 0.6, 0.12, 0.4), orbit.distance)
    const near = this.#from ?? MathUtils.clamp(this.#size * FOLLOW_FROM_SIZES, ...FOLLOW_FROM_M)
    const distance = this.#nearer ? near : orbit.wanted
    this.#nearer = false
    if (still.matches) orbit.jump(place, distance)
    else orbit.glide(place, distance)
  }

  /** Largest distance of a robot's bodies from its first one. */
  #sizeOf(body: number, place: Vector3): number {
    const part = new Vector3()
    const turn = new Quaternion()
    const distances = descendants(this.#scene?.parents ?? [], body).map((member) => {
      readPose(this.#motion.shown, member, part, turn)
      return part.distanceTo(place)
    })
    return Math.max(0.15, ...distances)
  }

  #ray(event: PointerEvent): Raycaster | null {
    if (!this.#viewport) return null
    const box = this.#viewport.canvas.getBoundingClientRect()
    const point = new Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1,
      1 - ((event.clientY - box.top) / box.height) * 2,
    )
    const ray = new Raycaster()
    ray.setFromCamera(point, this.#viewport.camera)
    return ray
  }

  /** The body under the pointer; 0 is the world. */
  #bodyUnder(event: PointerEvent): number {
    const shapes = this.#placed ? this.#shapes : null
    const hit = shapes && this.#ray(event)?.intersectObjects(shapes.group.children, false)[0]
    return hit ? shapes.bodyOf(hit.object, hit.instanceId) : 0
  }

  #groundUnder(event: PointerEvent): Vector3 | null {
    return this.#ray(event)?.ray.intersectPlane(GROUND, new Vector3()) ?? null
  }

  #pressed(event: PointerEvent): void {
    const viewport = this.#viewport
    if (!viewport || !this.#scene) return
    viewport.canvas.setPointerCapture(event.pointerId)
    const mayDrag = event.button === 0 && !this.#hold && this.#draggable.size > 0
    const body = mayDrag ? findAncestor(this.#scene.parents, this.#bodyUnder(event), this.#draggable) : null
    if (!this.#hold) this.#hold = { pointer: event.pointerId, x: event.clientX, y: event.clientY, body, moved: false }
    if (body === null) viewport.orbit.grab(event)
  }

  #moved(event: PointerEvent): void {
    const hold = this.#hold
    if (!hold || hold.pointer !== event.pointerId) return
    if (Math.hypot(event.clientX - hold.x, event.clientY - hold.y) > CLICK_PX) hold.moved = true
    if (!hold.moved || hold.body === null || !this.#viewport) return
    const place = this.#groundUnder(event)
    this.#viewport.canvas.classList.add('dragging')
    if (place) this.#dragRing.put(place.x, place.y, 0.25, this.#viewport.orbit.distance)
    this.#viewport.wake()
  }

  #released(event: PointerEvent): void {
    const hold = this.#hold
    if (!hold || hold.pointer !== event.pointerId) return
    this.#letGo()
    if (!hold.moved) {
      if (event.button === 0 && this.#scene) this.onPick?.(pickedBody(this.#scene, this.#bodyUnder(event)))
    } else if (hold.body !== null) {
      const place = this.#groundUnder(event)
      if (place) this.#dropped?.(hold.body, place.x, place.y)
    }
  }

  #letGo(): void {
    this.#hold = null
    this.#dragRing.hide()
    this.#viewport?.canvas.classList.remove('dragging')
    this.#viewport?.wake()
  }
}
