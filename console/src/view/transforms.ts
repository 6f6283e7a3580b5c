// Poses of bodies and visuals as three.js types.

import { Matrix4, Quaternion, Vector3 } from 'three'

import type { Visual } from '../api'
import type { Poses } from './poses'

/** Reads the pose of a body. The world, and bodies missing in the frame, are at the origin. */
export function readPose(poses: Poses, body: number, position: Vector3, turn: Quaternion): void {
  if (body < 1 || body > poses.count) {
    position.set(0, 0, 0)
    turn.identity()
    return
  }
  const p = poses.positions
  const q = poses.quaternions
  const at = body - 1
  position.set(p[3 * at] ?? 0, p[3 * at + 1] ?? 0, p[3 * at + 2] ?? 0)
  turn.set(q[4 * at + 1] ?? 0, q[4 * at + 2] ?? 0, q[4 * at + 3] ?? 0, q[4 * at] ?? 1)
}

/** Pose of a visual in its body's frame. */
export function localMatrix(visual: Visual): Matrix4 {
  const [w, x, y, z] = visual.quaternion
  return new Matrix4().compose(new Vector3(...visual.position), new Quaternion(x, y, z, w), new Vector3(1, 1, 1))
}
