// Rings on the ground that show which bodies belong together, in one draw call.

import { Color, Group, InstancedMesh, Matrix4, Quaternion, RingGeometry, Vector3 } from 'three'
import type { Poses } from './poses'
import { paintOnGround } from './ring'
import { readPose } from './transforms'

/** Minimum radius in m, and growth with the camera's distance. The ring of the followed body fits inside. */
const LEAST_M = 0.7
const BY_DISTANCE = 0.017
/** The coloured part of a ring; the rest is a white rim, which makes it visible on any ground. */
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

  /** Replaces all marks. */
  set(marks: Mark[]): void {
    this.#mesh?.removeFromParent().dispose()
    this.#mesh = null
    this.#marks = marks
    if (marks.length === 0) return
    // two rings each: a white one, and a smaller coloured one over it
    const mesh = new InstancedMesh(this.#geometry, this.#material, 2 * marks.length)
    marks.forEach(({ colour }, at) => {
      mesh.setColorAt(2 * at, RIM)
      mesh.setColorAt(2 * at + 1, new Color(colour))
    })
    mesh.frustumCulled = false
    // below everything transparent
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
      // not in the scene yet, or no longer
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
