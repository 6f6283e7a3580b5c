// Camera positions that show the whole field or all agents.

import { Quaternion, Vector3 } from 'three'

import type { Scene } from '../api'
import type { Poses } from './poses'
import { readPose } from './transforms'

/** Direction from the field to the camera at the side line. */
const BACK = 0.83
const UP = 0.557

export interface Viewpoint {
  eye: Vector3
  at: Vector3
}

/** Half lengths of the ground: of everything finite that is fixed to the world. */
function extent(scene: Scene): { x: number; y: number } {
  let [x, y] = [2, 2]
  for (const visual of scene.looks) {
    if (visual.body !== 0 || visual.shape === 'mesh') continue
    const flat = Math.abs(visual.quaternion[0]) > 0.99 || Math.abs(visual.quaternion[3]) > 0.99
    if (visual.shape === 'plane' && !flat) continue
    const across = visual.shape === 'plane' || visual.shape === 'box'
    x = Math.max(x, Math.abs(visual.position[0]) + (across ? (visual.size[0] ?? 0) : 0))
    y = Math.max(y, Math.abs(visual.position[1]) + (across ? (visual.size[1] ?? 0) : 0))
  }
  return { x, y }
}

/** Distance at which an object of this half width and half height fills the picture. */
function away(halfWidth: number, halfHeight: number, fov: number, aspect: number): number {
  const slope = Math.tan((fov * Math.PI) / 360)
  return Math.max(halfHeight / slope, halfWidth / (slope * aspect)) * 1.08
}

/** The whole field: from the side line, or from above. */
export function overField(scene: Scene, place: 'field' | 'above', fov: number, aspect: number): Viewpoint {
  const { x, y } = extent(scene)
  const at = new Vector3(0, 0, 0)
  if (place === 'above') {
    const height = away(x, y, fov, aspect)
    return { eye: new Vector3(0, -height * 0.01, height), at }
  }
  // the near side line is closer than the centre, and must be visible from end to end
  const distance = away(x, y * UP, fov, aspect) + y * BACK
  return { eye: new Vector3(0, -distance * BACK, distance * UP), at }
}

/** All agents, or the field if there are none. */
export function overAgents(scene: Scene, poses: Poses, fov: number, aspect: number): Viewpoint {
  const places = scene.agents
    .filter((agent) => agent.body > 0)
    .map((agent) => {
      const position = new Vector3()
      readPose(poses, agent.body, position, new Quaternion())
      return position
    })
  if (places.length === 0) return overField(scene, 'field', fov, aspect)
  const low = places.reduce((a, b) => a.clone().min(b))
  const high = places.reduce((a, b) => a.clone().max(b))
  const at = low.clone().add(high).multiplyScalar(0.5)
  const distance = away((high.x - low.x) / 2 + 1, (high.y - low.y) / 2 + 1, fov, aspect)
  return { eye: new Vector3(0.25, -0.8, 0.5).normalize().multiplyScalar(distance).add(at), at }
}
