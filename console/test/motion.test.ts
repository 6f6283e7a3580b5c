import assert from 'node:assert/strict'
import test from 'node:test'

import { blend, Motion } from '../src/view/motion'
import { emptyPoses, type Poses } from '../src/view/poses'

/** One body at x, turned about z. */
function at(tick: number, x: number, turn = 0, generation = 1): Poses {
  const poses = emptyPoses(1)
  Object.assign(poses, { generation, tick, time: tick / 50 })
  poses.positions[0] = x
  poses.quaternions.set([Math.cos(turn / 2), 0, 0, Math.sin(turn / 2)])
  return poses
}

const x = (motion: Motion) => motion.shown.positions[0] ?? NaN
const near = (is: number, wanted: number) => assert.ok(Math.abs(is - wanted) < 1e-3, `${is}, not ${wanted}`)

test('the first frame is shown at once', () => {
  const motion = new Motion()
  assert.equal(motion.advance(0), false)
  motion.push(at(0, 2), 10)
  near(x(motion), 2)
})

test('between frames it glides, and stops at the latest', () => {
  const motion = new Motion()
  motion.push(at(0, 0), 0)
  motion.push(at(1, 1), 33)
  assert.equal(motion.advance(33), true)
  near(x(motion), 0)
  assert.equal(motion.advance(33 + 16.5), true)
  near(x(motion), 0.5)
  assert.equal(motion.advance(33 + 40), false)
  near(x(motion), 1)
})

test('a frame that comes early goes on from what is shown', () => {
  const motion = new Motion()
  motion.push(at(0, 0), 0)
  motion.push(at(1, 1), 33)
  motion.push(at(2, 2), 33 + 16.5)
  near(x(motion), 0.5)
})

test('a reset, and another scene, jump', () => {
  for (const next of [at(0, 5), { ...at(9, 5), time: 0 }, at(9, 5, 0, 2)]) {
    const motion = new Motion()
    motion.push(at(7, 0), 0)
    motion.push(at(8, 1), 33)
    motion.push(next, 66)
    near(x(motion), 5)
  }
})

test('frames far apart do not make it slow', () => {
  const motion = new Motion()
  motion.push(at(0, 0), 0)
  motion.push(at(1, 1), 60_000)
  motion.advance(60_050)
  near(x(motion), 1)
})

test('turns take the shorter arc', () => {
  const table: [number, number, number, number][] = [
    [0, 1, 0.5, 0.5],
    [0, 0.01, 0.5, 0.005],
    [3, -3, 0.5, Math.PI],
    [0, 2, 0, 0],
    [0, 2, 1, 2],
  ]
  for (const [from, to, part, wanted] of table) {
    const into = emptyPoses(1)
    blend(at(0, 0, from), at(1, 0, to), part, into)
    const [w = 0, , , z = 0] = into.quaternions
    const off = Math.abs(w * Math.cos(wanted / 2) + z * Math.sin(wanted / 2))
    assert.ok(off > 0.99999, `from ${from} to ${to}: ${w} ${z}`)
  }
})
