// Rings on the ground under some bodies, to tell at a glance which belong together. One draw call for all.

import { Color, Group, InstancedMesh, Matrix4, Quaternion, RingGeometry, Vector3 } from 'three'
import type { Poses } from './poses'
import { paintOnGround } from './ring'
import { readPose } from './transforms'

/** Half width, in m, and by the camera's distance: the ring of the one that is followed fits inside. */
const LEAST_M = 0.7
const BY_DISTANCE = 0.017
/** What the colour leaves of a ring is its white rim: it is seen on any ground, and so is the colour beside it. */
const INSIDE_RIM = 0.88
const RIM = new Color(0xffffff)

export interface Mark {
  body: number
  colour: number
}

export class Marks {
  readonly group = new Group()
  #geometry = new RingGeometry(0.68, 1, 40)
  #material = paintOnGround(0xffffff)
  #marks: Mark[] = []
  #mesh: InstancedMesh | null = null

  /** In the place of those before. */
  set(marks: Mark[]): void {
    this.#mesh?.removeFromParent().dispose()
    this.#mesh = null
    this.#marks = marks
    if (marks.length === 0) return
    // two rings each: a white one, and over it a smaller one with the colour
    const mesh = new InstancedMesh(this.#geometry, this.#material, 2 * marks.length)
    marks.forEach(({ colour }, at) => {
      mesh.setColorAt(2 * at, RIM)
      mesh.setColorAt(2 * at + 1, new Color(colour))
    })
    mesh.frustumCulled = false
    // under all else that can be seen through
    mesh.renderOrder = -1
    this.#mesh = mesh
    this.group.add(mesh)
  }

  place(poses: Poses, distance: number): void {
    const mesh = this.#mesh
    if (!mesh) return
    const radius = Math.max(LEAST_M, distance * BY_DISTANCE)
    const position = new Vector3()
    const turn = new Quaternion()
    const matrix = new Matrix4()
    this.#marks.forEach(({ body }, at) => {
      readPose(poses, body, position, turn)
      // one that is not there yet, or not any more
      const size = body > 0 && body <= poses.count ? radius : 0
      for (const [ring, part] of [1, INSIDE_RIM].entries()) {
        matrix.makeScale(size * part, size * part, 1).setPosition(position.x, position.y, 0.01)
        mesh.setMatrixAt(2 * at + ring, matrix)
      }
    })
    mesh.instanceMatrix.needsUpdate = true
  }

  close(): void {
    this.#mesh?.dispose()
    this.#geometry.dispose()
    this.#material.dispose()
  }
}
