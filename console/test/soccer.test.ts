import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scene } from '../src/api.ts'
import { BATCH, FrameBuffer } from '../src/pages/soccer/frame-buffer.ts'
import { clock, formatBytes, halfLabel, modeLabel, sideOf } from '../src/pages/soccer/labels.ts'
import { advanced, isGoal, labelled, markBefore, merged, sceneAt } from '../src/pages/soccer/timeline.ts'

test('play modes in words', () => {
  const check = (mode: string, words: string) => assert.equal(modeLabel(mode, ['Reds', null]), words)
  check('BeforeKickOff', 'Before kick-off')
  check('KickOff_Left', 'Kick-off for Reds')
  check('KickIn_Right', 'Kick-in for Right team')
  check('direct_free_kick_left', 'Direct free kick for Reds')
  check('goal_kick_right', 'Goal kick for Right team')
  check('PlayOn', 'Play on')
  check('throw_in_left', 'throw in for Reds')
})

test('the side that a name tells', () => {
  const check = (agent: string, side: string | null) => assert.equal(sideOf(agent), side)
  check('Left 3', 'left')
  check('Right 11', 'right')
  check('Left', null)
  check('Rover1', null)
  check('Left 3 foot', null)
})

test('clock, halves and bytes', () => {
  const check = (got: string, words: string) => assert.equal(got, words)
  check(clock(0), '00:00')
  check(clock(59.99), '00:59')
  check(clock(61.25, true), '01:01.2')
  check(clock(0.3, true), '00:00.3')
  check(clock(6000), '100:00')
  check(clock(-1), '00:00')
  check(halfLabel(1), '1st half')
  check(halfLabel(3), 'part 3')
  check(formatBytes(999), '999 B')
  check(formatBytes(8110), '8.1 kB')
  check(formatBytes(184_332_110), '184 MB')
  check(formatBytes(5e12), '5000 GB')
})

test('a reel asks for what is at the playhead, then ahead, then behind', () => {
  const buffer = new FrameBuffer<number>()
  const give = (from: number, count: number, playhead: number) => {
    for (let number = from; number < from + count; number++) buffer.put(number, number, playhead)
  }
  assert.deepEqual(buffer.wanted(0, 0), null)
  assert.deepEqual(buffer.wanted(0, 30), { from: 0, count: 30 })
  give(0, 30, 0)
  assert.deepEqual(buffer.wanted(0, 30), null)
  // more was read
  assert.deepEqual(buffer.wanted(0, 250), { from: 30, count: BATCH - 30 })
  assert.deepEqual(buffer.wanted(1010, 6000), { from: 1000, count: BATCH })
  give(1000, 5 * BATCH, 1010)
  assert.deepEqual(buffer.wanted(1010, 6000), { from: 800, count: BATCH })
  assert.equal(buffer.frame(1999), 1999)
  assert.equal(buffer.frame(2000), undefined)
})

test('a reel keeps 3000 frames around the playhead', () => {
  const buffer = new FrameBuffer<number>()
  for (let number = 0; number < 10_000; number++) buffer.put(number, number, number)
  assert.ok(buffer.size <= 3000)
  assert.equal(buffer.frame(9999), 9999)
  assert.equal(buffer.frame(0), undefined)
})

test('the playhead waits for frames and stops at the end', () => {
  const all = () => true
  assert.equal(advanced(10, 0.5, 2, 25, 1000, all), 35)
  assert.equal(advanced(990, 1, 8, 25, 1000, all), 999)
  assert.equal(
    advanced(10, 1, 1, 25, 1000, (frame) => frame <= 12),
    12,
  )
  assert.equal(advanced(0, 1, 1, 25, 0, all), 0)
})

test('scenes and marks by frame', () => {
  const scene = (generation: number) =>
    ({ generation, bodies: [], parents: [], looks: [], meshes: [], agents: [] }) satisfies Scene
  const scenes = merged(
    [{ from: 100, scene: scene(2) }],
    [
      { from: 0, scene: scene(1) },
      { from: 100, scene: scene(2) },
    ],
    ({ from }) => String(from),
    ({ from }) => from,
  )
  assert.deepEqual(
    scenes.map(({ from }) => from),
    [0, 100],
  )
  assert.equal(sceneAt(scenes, 99)?.generation, 1)
  assert.equal(sceneAt(scenes, 100)?.generation, 2)
  assert.equal(sceneAt([], 5), null)
  const marks = [
    { frame: 5, text: 'a' },
    { frame: 9, text: 'b' },
  ]
  assert.equal(markBefore(marks, 4), null)
  assert.equal(markBefore(marks, 9)?.text, 'b')
})

test('goals are distinguished from goal kicks, and their labels come first', () => {
  assert.ok(isGoal('Goal for Reds: 1:0'))
  assert.ok(isGoal('Goal_Left'))
  assert.ok(!isGoal('Goal kick for Reds'))
  assert.ok(!isGoal('goal_kick_left'))
  const marks = [
    { frame: 0, text: 'Kick-off' },
    { frame: 4, text: 'Goal' },
    { frame: 6, text: 'Kick-in' },
    { frame: 99, text: 'Game over' },
  ]
  const labels = labelled(marks, 100, 300, () => 100)
  assert.deepEqual(
    labels.map(({ mark, row }) => [mark.text, row]),
    [
      ['Goal', 0],
      ['Kick-off', 1],
      ['Game over', 0],
    ],
  )
  for (const { left, width } of labels) assert.ok(left >= 0 && left + width <= 300)
})
