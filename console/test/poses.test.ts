import assert from 'node:assert/strict'
import test from 'node:test'

import { BODY_BYTES, decode, generationOf, HEADER_BYTES, samePoses } from '../src/view/poses'

type Pose = { position: [number, number, number]; quaternion: [number, number, number, number] }

/** A frame as the server makes it. */
function frameOf(generation: number, tick: number, time: number, poses: Pose[]): DataView {
  const frame = new DataView(new ArrayBuffer(HEADER_BYTES + BODY_BYTES * poses.length))
  frame.setUint8(0, 1)
  frame.setUint32(4, generation, true)
  frame.setFloat64(8, tick, true)
  frame.setFloat64(16, time, true)
  poses.forEach(({ position, quaternion }, body) => {
    const start = HEADER_BYTES + BODY_BYTES * body
    position.forEach((metres, axis) => {
      const steps = Math.round(metres * 1e4)
      frame.setUint16(start + 3 * axis, steps & 0xffff, true)
      frame.setInt8(start + 3 * axis + 2, steps >> 16)
    })
    const sizes = quaternion.map(Math.abs)
    const left = sizes.indexOf(Math.max(...sizes))
    const sign = (quaternion[left] ?? 0) < 0 ? -1 : 1
    const words = quaternion
      .filter((_, part) => part !== left)
      .map((value) => Math.round(((value * sign + Math.SQRT1_2) / Math.SQRT2) * 32767))
    words[0] = (words[0] ?? 0) | ((left >> 1) << 15)
    words[1] = (words[1] ?? 0) | ((left & 1) << 15)
    for (const [at, word] of words.entries()) frame.setUint16(start + 9 + 2 * at, word, true)
  })
  return frame
}

function check(pose: Pose): void {
  const poses = decode(frameOf(7, 1, 0.02, [pose]))
  assert.equal(poses.count, 1)
  pose.position.forEach((metres, axis) => {
    assert.ok(Math.abs(metres - (poses.positions[axis] ?? NaN)) < 1e-4, `${axis} of ${pose.position}`)
  })
  // a quaternion and its negative are the same turn
  const same = pose.quaternion.reduce((sum, part, at) => sum + part * (poses.quaternions[at] ?? NaN), 0)
  assert.ok(Math.abs(same) > 0.99999, `${pose.quaternion} came as ${poses.quaternions}`)
}

test('a pose comes as it was sent', () => {
  const half = Math.SQRT1_2
  for (const position of [
    [0, 0, 0],
    [1.2345, -2.5, 0.75],
    [-838.86, 838.86, -0.0001],
  ] as Pose['position'][]) {
    for (const quaternion of [
      [1, 0, 0, 0],
      [0, 1, 0, 0],
      [0, 0, 1, 0],
      [0, 0, 0, 1],
      [-1, 0, 0, 0],
      [half, 0, 0, half],
      [half, -half, 0, 0],
      [0.5, -0.5, 0.5, -0.5],
      [0.1, 0.7, -0.7, 0.1],
    ] as Pose['quaternion'][]) {
      check({ position, quaternion })
    }
  }
})

test('the head of a frame', () => {
  const poses = decode(frameOf(4000000000, 123456789012, 99.5, []))
  assert.deepEqual([poses.generation, poses.tick, poses.time, poses.count], [4000000000, 123456789012, 99.5, 0])
  assert.equal(generationOf(frameOf(3, 0, 0, [])), 3)
})

test('the bytes of a frame, by hand', () => {
  const bytes = [1, 0, 0, 0, 2, 0, 0, 0, ...Array<number>(16).fill(0)]
  // 1 m, -0.1 mm, 838.8607 m; a half turn about z: the z part is left out, the others are in the middle
  bytes.push(0x10, 0x27, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00, 0xc0, 0x00, 0xc0, 0x00, 0x40)
  const poses = decode(new DataView(new Uint8Array(bytes).buffer))
  assert.deepEqual(
    [...poses.positions].map((metres) => Math.round(metres * 1e4)),
    [10000, -1, 8388607],
  )
  assert.ok((poses.quaternions[3] ?? 0) > 0.9999)
})

test('what is cut off is left out, and nothing throws', () => {
  const whole = frameOf(1, 1, 1, [
    { position: [1, 2, 3], quaternion: [1, 0, 0, 0] },
    { position: [4, 5, 6], quaternion: [1, 0, 0, 0] },
  ])
  for (let length = 0; length < whole.byteLength; length++) {
    const count = Math.max(0, Math.floor((length - HEADER_BYTES) / BODY_BYTES))
    assert.equal(decode(new DataView(whole.buffer, 0, length)).count, count)
  }
})

test('a frame inside another one, as in playback frames', () => {
  const inner = frameOf(5, 6, 7, [{ position: [1, 2, 3], quaternion: [1, 0, 0, 0] }])
  const outer = new Uint8Array(8 + inner.byteLength)
  outer.set(new Uint8Array(inner.buffer), 8)
  assert.equal(decode(new DataView(outer.buffer, 8)).generation, 5)
})

test('frames of a world where nothing moves are the same', () => {
  const here: Pose = { position: [1, 2, 3], quaternion: [1, 0, 0, 0] }
  const there: Pose = { position: [1, 2, 3.0001], quaternion: [1, 0, 0, 0] }
  for (const [a, b, same] of [
    [frameOf(1, 1, 1, [here]), frameOf(1, 2, 2, [here]), true],
    [frameOf(1, 1, 1, [here]), frameOf(2, 1, 1, [here]), false],
    [frameOf(1, 1, 1, [here]), frameOf(1, 1, 1, [there]), false],
    [frameOf(1, 1, 1, [here]), frameOf(1, 1, 1, [here, there]), false],
  ] as const) {
    assert.equal(samePoses(a, b), same)
  }
})
