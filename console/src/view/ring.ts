// A ring on the ground: under the followed body, and at the target of a drag.

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

  /** `width` is the minimum radius; the ring grows with the camera's distance to stay visible. */
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

/** Material for marks on the ground, drawn over the lines of a field. */
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
