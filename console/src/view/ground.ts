// Planes: floors, lawns and walls, visible from the front only.

import {
  type Color,
  DataTexture,
  LinearMipmapLinearFilter,
  Mesh,
  MeshLambertMaterial,
  NearestFilter,
  PlaneGeometry,
  RepeatWrapping,
} from 'three'

import type { Visual } from '../api'
import { localMatrix } from './transforms'

/** Half length of an infinite plane. Fog hides its edge. */
const ENDLESS_M = 600
/** Smaller planes have no pattern. */
const PATTERN_FROM_M = 2

export interface Ground {
  mesh: Mesh<PlaneGeometry, MeshLambertMaterial>
  disposables: { dispose(): void }[]
}

export function ground(visual: Visual, colour: Color): Ground {
  const [halfX = 0, halfY = 0] = visual.size
  const x = halfX || ENDLESS_M
  const y = halfY || ENDLESS_M
  const geometry = new PlaneGeometry(2 * x, 2 * y)
  const material = new MeshLambertMaterial({
    color: colour,
    // lines on the ground must be drawn over it
    polygonOffset: true,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
    ...(visual.rgba[3] < 1 ? { transparent: true, opacity: visual.rgba[3], depthWrite: false } : {}),
  })
  const disposables: { dispose(): void }[] = [geometry, material]
  if (Math.min(x, y) >= PATTERN_FROM_M) {
    const texture = visual.material === 'grass' ? stripes(x) : checks(x, y)
    material.map = texture
    disposables.push(texture)
  }
  const mesh = new Mesh(geometry, material)
  mesh.matrixAutoUpdate = false
  mesh.matrix.copy(localMatrix(visual))
  mesh.receiveShadow = true
  return { mesh, disposables }
}

/**
 * A plain infinite floor below the lowest one. Floors are infinite in the simulation however large they are drawn, so
 * robots can walk off them. Null if there is no floor, or an infinite one.
 */
export function apron(looks: Visual[]): Visual | null {
  const lies = (visual: Visual) => Math.abs(visual.quaternion[0]) > 0.99
  const floors = looks.filter((visual) => visual.shape === 'plane' && visual.body === 0 && lies(visual))
  if (floors.length === 0 || floors.some((floor) => !floor.size[0] || !floor.size[1])) return null
  const lowest = Math.min(...floors.map((floor) => floor.position[2]))
  return {
    body: 0,
    position: [0, 0, lowest - 0.01],
    quaternion: [1, 0, 0, 0],
    shape: 'plane',
    size: [0, 0],
    rgba: [0.56, 0.59, 0.62, 1],
    material: null,
  }
}

/**
 * Draws a floor first, and everything else over it: from far away, a centimetre is below the depth resolution.
 */
export function drawFirst(mesh: Mesh<PlaneGeometry, MeshLambertMaterial>): void {
  mesh.renderOrder = -1
  mesh.material.depthWrite = false
}

/** Squares of 1 m, to give a sense of scale. */
function checks(x: number, y: number): DataTexture {
  const texture = pattern([255, 241, 241, 255], 2, 2)
  texture.repeat.set(x, y)
  return texture
}

/** Mowing stripes across the field. */
function stripes(x: number): DataTexture {
  const texture = pattern([255, 236], 2, 1)
  const width = 2.5
  texture.repeat.set(x / width, 1)
  return texture
}

function pattern(greys: number[], width: number, height: number): DataTexture {
  // grey as RGBA: the red channel alone would tint the ground
  const bytes = new Uint8Array(greys.flatMap((grey) => [grey, grey, grey, 255]))
  const texture = new DataTexture(bytes, width, height)
  texture.wrapS = RepeatWrapping
  texture.wrapT = RepeatWrapping
  texture.magFilter = NearestFilter
  texture.minFilter = LinearMipmapLinearFilter
  texture.generateMipmaps = true
  texture.anisotropy = 4
  texture.needsUpdate = true
  return texture
}
