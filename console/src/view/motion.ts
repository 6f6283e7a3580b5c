// Interpolates between pose frames. They arrive about 30 times a second, not quite evenly; the screen is drawn 60 times a
// second. The shown state moves to the latest frame within the recent frame interval, so it lags by one frame and does
// not jump, except on a reset.

import { copyPoses, emptyPoses, type Poses } from './poses'

const USUAL_MS = 33
/** Frames further apart than this are not a stream: the world is stepped, or was paused. */
const LONGEST_MS = 150

export class Motion {
  /** The state to draw. */
  shown: Poses = emptyPoses()
  #from: Poses = emptyPoses()
  #to: Poses | null = null
  #arrived = 0
  #pace = USUAL_MS

  /** Adds a frame and takes ownership of it. */
  push(poses: Poses, now: number): void {
    const before = this.#to
    if (!before || !follows(before, poses)) {
      this.jump(poses, now)
      return
    }
    this.advance(now)
    this.#from = copyPoses(this.shown, this.#from)
    const gap = now - this.#arrived
    if (gap < LONGEST_MS) this.#pace += (gap - this.#pace) * 0.15
    this.#to = poses
    this.#arrived = now
  }

  /** Shows a frame immediately. */
  jump(poses: Poses, now: number): void {
    this.shown = copyPoses(poses, this.shown)
    this.#from = copyPoses(poses, this.#from)
    this.#to = poses
    this.#arrived = now
    this.#pace = USUAL_MS
  }

  forget(): void {
    this.#to = null
  }

  /** Advances the shown state; returns whether it will move further without a new frame. */
  advance(now: number): boolean {
    const to = this.#to
    if (!to) return false
    const part = Math.min(1, Math.max(0, (now - this.#arrived) / Math.max(8, this.#pace)))
    blend(this.#from, to, part, this.shown)
    return part < 1
  }
}

/** Whether one frame follows the other without a reset in between. A reset sets the time back; ticks go on. */
function follows(before: Poses, after: Poses): boolean {
  const same = after.generation === before.generation && after.count === before.count
  return same && after.tick >= before.tick && after.time >= before.time
}

/** Interpolates by `part`: positions linearly, orientations along the shorter arc. */
export function blend(from: Poses, to: Poses, part: number, into: Poses): void {
  into.generation = to.generation
  into.tick = to.tick
  into.time = from.time + (to.time - from.time) * part
  for (let at = 0; at < to.positions.length; at++) {
    const begin = from.positions[at] ?? 0
    into.positions[at] = begin + ((to.positions[at] ?? 0) - begin) * part
  }
  for (let at = 0; at < to.quaternions.length; at += 4) {
    slerp(from.quaternions, to.quaternions, at, part, into.quaternions)
  }
}

function slerp(from: Float32Array, to: Float32Array, at: number, part: number, into: Float32Array): void {
  let cosine = 0
  for (let i = at; i < at + 4; i++) cosine += (from[i] ?? 0) * (to[i] ?? 0)
  const sign = cosine < 0 ? -1 : 1
  cosine = Math.abs(cosine)
  let a = 1 - part
  let b = part
  // for small angles linear interpolation is accurate, and the sine is near 0
  if (cosine < 0.9995) {
    const angle = Math.acos(cosine)
    const sine = Math.sin(angle)
    a = Math.sin(a * angle) / sine
    b = Math.sin(b * angle) / sine
  }
  let length = 0
  for (let i = at; i < at + 4; i++) {
    const value = (from[i] ?? 0) * a + (to[i] ?? 0) * b * sign
    into[i] = value
    length += value * value
  }
  const scale = length > 0 ? 1 / Math.sqrt(length) : 1
  for (let i = at; i < at + 4; i++) into[i] = (into[i] ?? 0) * scale
}
