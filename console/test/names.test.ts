import assert from 'node:assert/strict'
import test from 'node:test'

import { controllers, describeControllers } from '../src/pages/world/controllers'
import { inside, leaf, trimmed } from '../src/pages/world/paths'
import { tokenIn } from '../src/token'
import { descendants, findAncestor, pickedBody } from '../src/view/hierarchy'

test('paths of variables', () => {
  for (const [path, name, whole] of [
    ['/', 'Sim', '/Sim'],
    ['', 'Sim', '/Sim'],
    ['/Sim', 'Rover1', '/Sim/Rover1'],
    ['/Sim/', 'Rover1/', '/Sim/Rover1'],
    ['/Sim', '/Sim/Rover1', '/Sim/Rover1'],
    ['/', '/Sim', '/Sim'],
    ['/Sim', 'Sim', '/Sim/Sim'],
  ] as const) {
    assert.equal(inside(path, name), whole)
  }
  assert.equal(leaf('/Sim/Rover1/Mass'), 'Mass')
  assert.equal(leaf('/Sim/'), 'Sim')
  assert.equal(trimmed('/'), '')
})

test('a click on a hand picks the robot', () => {
  const parents = [0, 0, 1, 2, 0, 4]
  const agents = [{ name: 'a', robot: 'ant', body: 1, motors: [], senses: [] }]
  for (const [body, found] of [
    [0, null],
    [1, 1],
    [3, 1],
    [5, 5],
  ] as const) {
    assert.equal(pickedBody({ parents, agents }, body), found)
  }
  assert.equal(findAncestor(parents, 5, new Set([4])), 4)
  assert.deepEqual(descendants(parents, 1), [1, 2, 3])
  assert.equal(findAncestor([0, 2, 1], 1, new Set([9])), null)
})

test('the token in what was pasted', () => {
  for (const [pasted, token] of [
    ['http://127.0.0.1:1920/?token=abc-1_2', 'abc-1_2'],
    [' abc \n', 'abc'],
    ['http://127.0.0.1:1920/?x=1&token=a%2Db#soccer', 'a-b'],
    ['http://127.0.0.1:1920/', null],
    ['', null],
  ] as const) {
    assert.equal(tokenIn(pasted), token)
  }
})

test('who controls a robot', () => {
  const client = { id: 1, peer: '127.0.0.1:9', agents: ['a'], role: null, lockstep: false }
  const all = [
    { ...client, protocol: 'osp' },
    { ...client, protocol: 'console' },
    { ...client, protocol: 'odcp', peer: '' },
  ]
  assert.equal(describeControllers(controllers(all, 'a')), 'osp at 127.0.0.1:9, odcp')
  assert.equal(describeControllers(controllers(all, 'b')), 'not controlled')
})
