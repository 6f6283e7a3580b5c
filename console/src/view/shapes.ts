// Everything drawn, in few draw calls: one instanced mesh per kind of shape.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  CylinderGeometry,
  Group,
  InstancedMesh,
  type Material,
  Matrix4,
  type Mesh,
  MeshBasicMaterial,
  MeshPhongMaterial,
  type Object3D,
  Quaternion,
  SphereGeometry,
  SRGBColorSpace,
  Vector3,
} from 'three'

import type { Mesh as MeshData, Scene, Visual } from '../api'
import { apron, drawFirst, type Ground, ground } from './ground'
import type { Poses } from './poses'
import { localMatrix, readPose } from './transforms'

/** Tessellation of round shapes, coarser in scenes with many visuals. */
const CORNERS = [
  { beyond: 1200, corners: 10 },
  { beyond: 500, corners: 14 },
  { beyond: 0, corners: 28 },
] as const

interface Instance {
  body: number
  local: Matrix4
  colour: Color
}

interface Batch {
  mesh: InstancedMesh
  parts: Instance[]
}

export class Shapes {
  readonly group = new Group()
  #moving: Batch[] = []
  #movingGrounds: { mesh: Mesh; body: number; local: Matrix4 }[] = []
  #bodies: number[] = []
  #bodyMatrices: Matrix4[] = []
  #bodiesOf = new Map<Object3D, number[]>()
  #disposables: { dispose(): void }[] = []

  constructor(scene: Scene) {
    const corners = CORNERS.find(({ beyond }) => scene.looks.length >= beyond)?.corners ?? 28
    const geometries = new Map<string, BufferGeometry>()
    const batches = new Map<string, { geometry: BufferGeometry; visual: Visual; parts: Instance[] }>()
    for (const visual of scene.looks) {
      if (visual.shape === 'plane') {
        this.#addGround(visual)
        continue
      }
      for (const { name, local } of pieces(visual)) {
        let geometry = geometries.get(name)
        if (!geometry) {
          geometry = make(name, corners, scene)
          if (!geometry) continue
          geometries.set(name, geometry)
          this.#disposables.push(geometry)
        }
        // static shapes are separate, so that they are not uploaded with every frame
        const key = [name, visual.body === 0, visual.rgba[3].toFixed(2), visual.material === 'glow'].join()
        const batch = batches.get(key) ?? { geometry, visual, parts: [] }
        batches.set(key, batch)
        batch.parts.push({ body: visual.body, local, colour: colourOf(visual) })
      }
    }
    for (const { geometry, visual, parts } of batches.values()) this.#addBatch(geometry, visual, parts)
    this.#bodyMatrices = scene.bodies.map(() => new Matrix4())
    const below = apron(scene.looks)
    if (below) drawFirst(this.#addGround(below))
    this.#bodies = [
      ...new Set([...this.#moving.flatMap(({ parts }) => parts), ...this.#movingGrounds].map(({ body }) => body)),
    ]
  }

  /** Moves everything not fixed to the world. */
  place(poses: Poses): void {
    const position = new Vector3()
    const turn = new Quaternion()
    const one = new Vector3(1, 1, 1)
    for (const body of this.#bodies) {
      readPose(poses, body, position, turn)
      this.#bodyMatrices[body]?.compose(position, turn, one)
    }
    for (const { mesh, body, local } of this.#movingGrounds) {
      const place = this.#bodyMatrices[body]
      if (place) mesh.matrix.multiplyMatrices(place, local)
      mesh.matrixWorldNeedsUpdate = true
    }
    const matrix = new Matrix4()
    for (const { mesh, parts } of this.#moving) {
      parts.forEach(({ body, local }, at) => {
        const place = this.#bodyMatrices[body]
        if (place) mesh.setMatrixAt(at, matrix.multiplyMatrices(place, local))
      })
      mesh.instanceMatrix.needsUpdate = true
      // recomputed when a click casts a ray
      mesh.boundingSphere = null
    }
  }

  /** The body hit by a ray. */
  bodyOf(object: Object3D, instance: number | undefined): number {
    return this.#bodiesOf.get(object)?.[instance ?? 0] ?? 0
  }

  close(): void {
    for (const thing of this.#disposables) thing.dispose()
  }

  #addBatch(geometry: BufferGeometry, visual: Visual, parts: Instance[]): void {
    const material = paint(visual)
    const mesh = new InstancedMesh(geometry, material, parts.length)
    parts.forEach(({ local, colour }, at) => {
      mesh.setMatrixAt(at, local)
      mesh.setColorAt(at, colour)
    })
    mesh.frustumCulled = false
    mesh.castShadow = visual.rgba[3] > 0.5
    mesh.receiveShadow = true
    this.group.add(mesh)
    this.#bodiesOf.set(
      mesh,
      parts.map(({ body }) => body),
    )
    this.#disposables.push(mesh, material)
    if (visual.body !== 0) this.#moving.push({ mesh, parts })
  }

  #addGround(visual: Visual): Ground['mesh'] {
    const { mesh, disposables } = ground(visual, colourOf(visual))
    this.group.add(mesh)
    this.#bodiesOf.set(mesh, [visual.body])
    this.#disposables.push(...disposables)
    if (visual.body !== 0) this.#movingGrounds.push({ mesh, body: visual.body, local: mesh.matrix.clone() })
    return mesh
  }
}

/** A visual as transformed unit shapes. */
function pieces(visual: Visual): { name: string; local: Matrix4 }[] {
  const [a = 0, b = a, c = b] = visual.size
  const at = (name: string, x: number, y: number, z: number, up = 0, flip = false) => {
    const local = localMatrix(visual)
    if (up !== 0) local.multiply(new Matrix4().makeTranslation(0, 0, up))
    if (flip) local.multiply(new Matrix4().makeRotationX(Math.PI))
    return { name, local: local.scale(new Vector3(x, y, z)) }
  }
  switch (visual.shape) {
    case 'box':
      return [at('box', a, b, c)]
    case 'sphere':
      return [at('ball', a, a, a)]
    case 'ellipsoid':
      return [at('ball', a, b, c)]
    case 'cylinder':
      return [at('cylinder', a, a, b)]
    case 'capsule':
      return [at('tube', a, a, b), at('dome', a, a, a, b), at('dome', a, a, a, -b, true)]
    case 'mesh':
      return [at(`mesh ${a}`, 1, 1, 1)]
    case 'plane':
      return []
  }
}

/** A unit shape of half length 1 along z; those of three.js are along y. */
function make(name: string, corners: number, scene: Scene): BufferGeometry | undefined {
  const rings = Math.ceil(corners / 2)
  switch (name) {
    case 'box':
      return new BoxGeometry(2, 2, 2)
    case 'ball':
      return new SphereGeometry(1, corners, rings).rotateX(Math.PI / 2)
    case 'cylinder':
      return new CylinderGeometry(1, 1, 2, corners).rotateX(Math.PI / 2)
    case 'tube':
      return new CylinderGeometry(1, 1, 2, corners, 1, true).rotateX(Math.PI / 2)
    case 'dome':
      return new SphereGeometry(1, corners, Math.ceil(rings / 2), 0, 2 * Math.PI, 0, Math.PI / 2).rotateX(Math.PI / 2)
    default:
      return triangles(scene.meshes[Number(name.slice('mesh '.length))])
  }
}

function triangles(mesh: MeshData | undefined): BufferGeometry | undefined {
  if (!mesh) return undefined
  const indexed = new BufferGeometry()
  indexed.setAttribute('position', new BufferAttribute(new Float32Array(mesh.vertices), 3))
  indexed.setIndex(mesh.faces)
  // separate vertices for each triangle, so that edges are sharp
  const geometry = indexed.toNonIndexed()
  geometry.computeVertexNormals()
  return geometry
}

function paint(visual: Visual): Material {
  const opacity = visual.rgba[3]
  const glass = opacity < 1 ? { transparent: true, opacity, depthWrite: false } : {}
  if (visual.material === 'glow') return new MeshBasicMaterial(glass)
  return new MeshPhongMaterial({ specular: 0x2a2a2a, shininess: 40, ...glass })
}

function colourOf(visual: Visual): Color {
  return new Color().setRGB(visual.rgba[0], visual.rgba[1], visual.rgba[2], SRGBColorSpace)
}
