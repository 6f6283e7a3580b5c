// Frames come about 30 times a second and not quite evenly; the screen is drawn 60 times. What is shown glides from
// where it is to the latest frame, in the time in which frames have come of late. So it is one frame late and never
// jumps, but for a reset of the world.

import { copyPoses, emptyPoses, type Poses } from './poses'

const USUAL_MS = 33
/** Frames further apart than this are not a stream: somebody steps, or the world was paused. */
const LONGEST_MS = 150

export class Motion {
  /** What is to be drawn. */
  shown: Poses = emptyPoses()
  #from: Poses = emptyPoses()
  #to: Poses | null = null
  #arrived = 0
  #pace = USUAL_MS

  /** A frame has come. It is kept; give another one the next time. */
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

  /** Shows this at once. */
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

  /** Moves what is shown. Whether there is more to come without a new frame. */
  advance(now: number): boolean {
    const to = this.#to
    if (!to) return false
    const part = Math.min(1, Math.max(0, (now - this.#arrived) / Math.max(8, this.#pace)))
    blend(this.#from, to, part, this.shown)
    return part < 1
  }
}

/** Whether one frame comes after the other in the same try. A reset sets back the time; ticks go on. */
function follows(before: Poses, after: Poses): boolean {
  const same = after.generation === before.generation && after.count === before.count
  return same && after.tick >= before.tick && after.time >= before.time
}

/** `part` of the way from one to the other: places on a line, turns on the shorter arc. */
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
  // for small angles the line is the arc, and the sine is near 0
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
