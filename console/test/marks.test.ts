import assert from 'node:assert/strict'
import test from 'node:test'
import { Color, type InstancedMesh, Matrix4 } from 'three'

import { Marks } from '../src/view/marks'
import { emptyPoses } from '../src/view/poses'

const poses = emptyPoses(2)
poses.positions.set([1, 2, 0.5, -3, 4, 0.5])

/** Where ring `at` is, and its half width. */
function ring(marks: Marks, at: number): number[] {
  const matrix = new Matrix4()
  const mesh = marks.group.children[0] as InstancedMesh
  mesh.getMatrixAt(at, matrix)
  const [width = NaN] = matrix.elements
  return [...matrix.elements.slice(12, 15), width].map((number) => Math.round(number * 100) / 100)
}

test('a ring with a rim lies under each body, in its colour', () => {
  const marks = new Marks()
  marks.set([
    { body: 1, colour: 0x0000ff },
    { body: 2, colour: 0xff0000 },
  ])
  assert.equal(marks.group.children.length, 1)
  marks.place(poses, 5)
  assert.deepEqual(
    [ring(marks, 0), ring(marks, 1)],
    [
      [1, 2, 0.01, 0.7],
      [1, 2, 0.01, 0.62],
    ],
  )
  assert.deepEqual(ring(marks, 3), [-3, 4, 0.01, 0.62])
  const colour = new Color()
  ;(marks.group.children[0] as InstancedMesh).getColorAt(3, colour)
  assert.equal(colour.getHex(), 0xff0000)
  // from far away they are larger
  marks.place(poses, 100)
  assert.deepEqual(ring(marks, 2), [-3, 4, 0.01, 1.7])
})

test('a body that is not there has no ring, and none are left of those before', () => {
  const marks = new Marks()
  marks.set([{ body: 3, colour: 0 }])
  marks.place(poses, 5)
  assert.equal(ring(marks, 0)[3], 0)
  marks.set([])
  marks.place(poses, 5)
  assert.equal(marks.group.children.length, 0)
})
