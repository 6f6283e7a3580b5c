// A ring on the ground: under the one that is followed, and where something dragged will be put.

import { DoubleSide, Mesh, MeshBasicMaterial, RingGeometry } from 'three'

export class Ring {
  readonly mesh: Mesh
  #geometry = new RingGeometry(0.82, 1, 48)
  #material: MeshBasicMaterial

  constructor(colour: number) {
    this.#material = paintOnGround(colour)
    this.mesh = new Mesh(this.#geometry, this.#material)
    this.mesh.visible = false
  }

  /** `width` is the least that it measures; far away it is larger, to be seen. */
  put(x: number, y: number, width: number, distance: number): void {
    const radius = Math.max(width, distance * 0.01)
    this.mesh.position.set(x, y, 0.01)
    this.mesh.scale.set(radius, radius, 1)
    this.mesh.visible = true
  }

  hide(): void {
    this.mesh.visible = false
  }

  close(): void {
    this.#geometry.dispose()
    this.#material.dispose()
  }
}

/** For what lies on the ground: over the lines of a field, which lie there as well. */
export function paintOnGround(colour: number): MeshBasicMaterial {
  return new MeshBasicMaterial({
    color: colour,
    transparent: true,
    opacity: 0.85,
    depthWrite: false,
    side: DoubleSide,
    polygonOffset: true,
    polygonOffsetFactor: -2,
    polygonOffsetUnits: -4,
  })
}
