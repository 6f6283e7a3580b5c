import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressFault, splitAddresses } from '../src/pages/evolution/addresses.ts'
import { fit, formatLength, scaleBar } from '../src/pages/evolution/arena-fit.ts'
import { padded } from '../src/pages/evolution/columns.ts'
import { fitnessFor, fitnessObjection, objection, reasonsOf, worldFor } from '../src/pages/evolution/combinations.ts'
import { layOut } from '../src/pages/evolution/net-layout.ts'

test('addresses as people write them', () => {
  assert.deepEqual(splitAddresses(' a:1, b\n[::1]:7720;c '), ['a:1', 'b', '[::1]:7720', 'c'])
  assert.deepEqual(splitAddresses(' \n'), [])
  for (const good of ['localhost', '127.0.0.1:7720', 'lab-2.example:80', '[::1]:7720', '[fe80::1]'])
    assert.equal(addressFault(good), null, good)
  for (const bad of ['http://a:1', 'a:99999', 'a:0', 'a:b', '::1', ':7720'])
    assert.notEqual(addressFault(bad), null, bad)
})

test('combinations that make no sense are left out with their reasons', () => {
  const named = (name: string) => ({ name, title: name })
  const menus = {
    worlds: ['empty', 'hill'].map(named),
    fitnesses: ['climb', 'far', 'line'].map(named),
    bodies: [
      { ...named('car'), fitness: 'climb' },
      { ...named('tram'), fitness: 'line' },
    ],
    objections: [
      { body: 'car', fitness: 'climb', world: 'empty', reason: 'it is level' },
      { body: 'car', fitness: 'line', world: null, reason: 'no sensors' },
      { body: 'tram', fitness: 'line', world: 'empty', reason: 'no line' },
      { body: 'tram', fitness: 'line', world: 'hill', reason: 'no line' },
    ],
  }
  assert.equal(objection(menus, 'car', 'climb', 'empty'), 'it is level')
  assert.equal(objection(menus, 'car', 'climb', 'hill'), null)
  assert.equal(objection(menus, 'car', 'line', 'hill'), 'no sensors')
  // in one world of two, in all, in each
  assert.equal(fitnessObjection(menus, 'car', 'climb'), null)
  assert.equal(fitnessObjection(menus, 'car', 'line'), 'no sensors')
  assert.equal(fitnessObjection(menus, 'tram', 'line'), 'no line')
  assert.deepEqual([fitnessFor(menus, 'car'), fitnessFor(menus, 'tram')], ['climb', 'climb'])
  assert.deepEqual(
    [worldFor(menus, 'car', 'climb', 'empty'), worldFor(menus, 'car', 'far', 'empty')],
    ['hill', 'empty'],
  )
  const reasons = ['a', 'b', 'c'].map((name) => ({ name, reason: name === 'b' ? null : 'why not' }))
  assert.equal(reasonsOf(reasons), 'Not offered: a, c (why not).')
  assert.equal(reasonsOf([]), '')
})

test('an arena fits into its picture', () => {
  const { scale, left, top } = fit([0, 0, 2, 1], 420, 420, 10)
  assert.equal(scale, 200)
  assert.deepEqual([left, left + 2 * scale], [10, 410])
  assert.deepEqual([top - 1 * scale, top], [110, 310])
})

test('round lengths for the scale', () => {
  const check = (scale: number, words: string) => assert.equal(formatLength(scaleBar(scale, 100)), words)
  check(200, '50 cm')
  check(30, '2 m')
  check(1000, '10 cm')
  check(20_000, '5 mm')
})

test('columns of runs that are not equally long', () => {
  assert.deepEqual(padded([[1, 2], [3], []]), {
    x: [1, 2],
    columns: [
      [1, 2],
      [3, null],
      [null, null],
    ],
  })
  assert.deepEqual(padded([]), { x: [], columns: [] })
})

test('a net is laid out within its drawing', () => {
  const check = (inputs: number, hidden: number, outputs: number) => {
    const name = (_: unknown, at: number) => `sensor number ${at}`
    const all = inputs + hidden + outputs
    const weights = Array.from({ length: all }, (_, at) => ({ from: at, to: all - 1 - at, weight: at - 3 }))
    const net = {
      generation: 1,
      individual: 1,
      fitness: 0,
      inputs: Array.from({ length: inputs }, name),
      hidden,
      outputs: Array.from({ length: outputs }, name),
      weights,
    }
    const { width, height, neurons, connections, strongest } = layOut(net)
    assert.equal(neurons.length, all)
    assert.deepEqual(
      neurons.map(({ number }) => number),
      neurons.map((_, at) => at),
    )
    assert.equal(connections.length, all)
    assert.equal(strongest, Math.max(3, all - 4))
    for (const { x, y } of neurons) assert.ok(x > 0 && x < width && y > 0 && y < height)
    for (const [at, a] of neurons.entries())
      for (const b of neurons.slice(at + 1)) assert.ok(Math.hypot(a.x - b.x, a.y - b.y) > 20)
  }
  check(10, 4, 2)
  check(10, 0, 2)
  check(3, 100, 2)
  check(1, 1, 40)
})

test('a weight of a neuron that does not exist is left out', () => {
  const net = {
    generation: 1,
    individual: 1,
    fitness: 0,
    inputs: ['a'],
    hidden: 0,
    outputs: ['b'],
    weights: [{ from: 0, to: 9, weight: 1 }],
  }
  assert.equal(layOut(net).connections.length, 0)
})
