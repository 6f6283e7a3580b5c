// Decodes pose frames. See `Frame` in api.ts for the layout.

export const HEADER_BYTES = 24
export const BODY_BYTES = 15

const METRES = 1e-4
const HALF = Math.SQRT1_2
const STEP = (2 * HALF) / 32767

export interface Poses {
  /** Generation of the scene. */
  generation: number
  tick: number
  time: number
  /** Number of bodies without the world. */
  count: number
  /** x, y, z of each body. */
  positions: Float32Array
  /** w, x, y, z of each body. */
  quaternions: Float32Array
}

export function emptyPoses(count = 0): Poses {
  return {
    generation: -1,
    tick: -1,
    time: 0,
    count,
    positions: new Float32Array(3 * count),
    quaternions: new Float32Array(4 * count).map((_, at) => (at % 4 === 0 ? 1 : 0)),
  }
}

/** Generation of the scene that a pose frame belongs to. */
export function generationOf(frame: DataView): number {
  return frame.byteLength >= HEADER_BYTES ? frame.getUint32(4, true) : -1
}

/** Whether all poses of two frames are the same. */
export function samePoses(a: DataView, b: DataView): boolean {
  if (a.byteLength !== b.byteLength || generationOf(a) !== generationOf(b)) return false
  for (let at = HEADER_BYTES; at < a.byteLength; at++) if (a.getUint8(at) !== b.getUint8(at)) return false
  return true
}

/** Decodes a pose frame. A truncated body is ignored. */
export function decode(frame: DataView): Poses {
  if (frame.byteLength < HEADER_BYTES) return emptyPoses()
  const count = Math.floor((frame.byteLength - HEADER_BYTES) / BODY_BYTES)
  const poses = emptyPoses(count)
  poses.generation = frame.getUint32(4, true)
  poses.tick = frame.getFloat64(8, true)
  poses.time = frame.getFloat64(16, true)
  for (let body = 0; body < count; body++) {
    const start = HEADER_BYTES + BODY_BYTES * body
    for (let axis = 0; axis < 3; axis++) {
      poses.positions[3 * body + axis] = signed24(frame, start + 3 * axis) * METRES
    }
    turnAt(frame, start + 9, poses.quaternions, 4 * body)
  }
  return poses
}

export function copyPoses(from: Poses, into: Poses): Poses {
  if (from.count !== into.count) {
    return { ...from, positions: from.positions.slice(), quaternions: from.quaternions.slice() }
  }
  into.generation = from.generation
  into.tick = from.tick
  into.time = from.time
  into.positions.set(from.positions)
  into.quaternions.set(from.quaternions)
  return into
}

function signed24(frame: DataView, at: number): number {
  return frame.getUint16(at, true) | (frame.getInt8(at + 2) << 16)
}

/** Decodes a quaternion from its three smaller components. */
function turnAt(frame: DataView, at: number, into: Float32Array, place: number): void {
  const words = [frame.getUint16(at, true), frame.getUint16(at + 2, true), frame.getUint16(at + 4, true)] as const
  const left = ((words[0] >> 15) << 1) | (words[1] >> 15)
  let next = 0
  let rest = 1
  for (let part = 0; part < 4; part++) {
    if (part === left) continue
    const value = ((words[next++] ?? 0) & 0x7fff) * STEP - HALF
    into[place + part] = value
    rest -= value * value
  }
  into[place + left] = Math.sqrt(Math.max(0, rest))
}
