import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressFault, splitAddresses } from '../src/pages/evolution/addresses.ts'
import { fit, formatLength, scaleBar } from '../src/pages/evolution/arena-fit.ts'
import { joined } from '../src/pages/evolution/columns.ts'
import {
  fitnessFor,
  fitnessObjection,
  kindsOf,
  objection,
  reasonsOf,
  worldFor,
  worldObjection,
} from '../src/pages/evolution/combinations.ts'
import { comparedCurves } from '../src/pages/evolution/compared-curves.ts'
import { bestFitness, progressOf, workersOf } from '../src/pages/evolution/figures.ts'
import { layOut } from '../src/pages/evolution/net-layout.ts'

test('addresses as people write them', () => {
  assert.deepEqual(splitAddresses(' a:1, b\n[::1]:7720;c '), ['a:1', 'b', '[::1]:7720', 'c'])
  assert.deepEqual(splitAddresses(' \n'), [])
  for (const good of ['localhost', '127.0.0.1:7720', 'lab-2.example:80', '[::1]:7720', '[fe80::1]'])
    assert.equal(addressFault(good), null, good)
  for (const bad of ['http://a:1', 'a:99999', 'a:0', 'a:b', '::1', ':7720'])
    assert.notEqual(addressFault(bad), null, bad)
})

test('unsuitable combinations are left out with their reasons', () => {
  const named = (name: string) => ({ name, title: name })
  const menus = {
    worlds: [
      { ...named('empty'), kinds: [] },
      { ...named('hill'), kinds: [] },
    ],
    fitnesses: ['climb', 'far', 'line'].map(named),
    bodies: [
      { ...named('car'), fitness: 'climb' },
      { ...named('tram'), fitness: 'line' },
    ],
    objections: [
      { body: 'car', fitness: 'climb', world: 'empty', kind: null, reason: 'it is level' },
      { body: 'car', fitness: 'line', world: null, kind: null, reason: 'no sensors' },
      { body: 'tram', fitness: 'line', world: 'empty', kind: null, reason: 'no line' },
      { body: 'tram', fitness: 'line', world: 'hill', kind: null, reason: 'no line' },
    ],
  }
  const car = (fitness: string) => ({ body: 'car', fitness })
  assert.equal(objection(menus, car('climb'), 'empty', null), 'it is level')
  assert.equal(objection(menus, car('climb'), 'hill', null), null)
  assert.equal(objection(menus, car('line'), 'hill', null), 'no sensors')
  // in one world of two, in all, in each
  assert.equal(fitnessObjection(menus, car('climb'), null), null)
  assert.equal(fitnessObjection(menus, car('line'), null), 'no sensors')
  assert.equal(fitnessObjection(menus, { body: 'tram', fitness: 'line' }, null), 'no line')
  assert.deepEqual([fitnessFor(menus, 'car', null), fitnessFor(menus, 'tram', null)], ['climb', 'climb'])
  assert.deepEqual(
    [worldFor(menus, [car('climb')], 'empty'), worldFor(menus, [car('far')], 'empty')],
    ['hill', 'empty'],
  )
  const reasons = ['a', 'b', 'c'].map((name) => ({ name, reason: name === 'b' ? null : 'why not' }))
  assert.equal(reasonsOf(reasons), 'Not offered: a, c (why not).')
  assert.equal(reasonsOf([]), '')
})

test('two populations need a world with two kinds in which each makes sense', () => {
  const named = (name: string) => ({ name, title: name })
  const menus = {
    worlds: [
      { ...named('empty'), kinds: [] },
      { ...named('wood'), kinds: ['hare', 'fox'] },
    ],
    fitnesses: ['flee', 'hunt', 'far'].map(named),
    bodies: [
      { ...named('hare'), fitness: 'flee' },
      { ...named('fox'), fitness: 'hunt' },
    ],
    objections: [
      { body: 'hare', fitness: 'flee', world: 'wood', kind: null, reason: 'nobody hunts it' },
      { body: 'hare', fitness: 'flee', world: 'empty', kind: null, reason: 'nobody hunts it' },
      { body: 'hare', fitness: 'flee', world: 'wood', kind: 'fox', reason: 'it is a fox' },
      { body: 'hare', fitness: 'hunt', world: null, kind: null, reason: 'no nose' },
    ],
  }
  const [hare, fox] = [
    { body: 'hare', fitness: 'flee' },
    { body: 'fox', fitness: 'hunt' },
  ]
  assert.deepEqual([kindsOf(menus, 'wood'), kindsOf(menus, 'empty')], [['hare', 'fox'], []])
  assert.equal(worldObjection(menus, [hare, fox], 'wood'), null)
  assert.equal(worldObjection(menus, [fox, hare], 'wood'), 'it is a fox')
  assert.match(worldObjection(menus, [hare, fox], 'empty') ?? '', /no two kinds/)
  assert.equal(worldFor(menus, [hare, fox], 'empty'), 'wood')
  // alone, nobody hunts it
  assert.equal(worldObjection(menus, [hare], 'wood'), 'nobody hunts it')
  assert.deepEqual([fitnessFor(menus, 'hare', 0), fitnessFor(menus, 'hare', 1)], ['flee', 'far'])
  assert.equal(fitnessFor(menus, 'hare', null), 'far')
  assert.equal(fitnessObjection(menus, { body: 'hare', fitness: 'hunt' }, 0), 'no nose')
})

test('the figures of a run in words', () => {
  const run = {
    name: 'a',
    algorithm: 'ga',
    place: '',
    seed: 1,
    generations: 100,
    generation: 3,
    best: [{ population: '', fitness: 0.25 }],
    state: 'running' as const,
    words: '',
    here: true,
    workers: null,
  }
  assert.deepEqual([bestFitness(run), progressOf(run)], ['0.2500', '3 of 100'])
  const best = [
    { population: 'hare', fitness: 0.5 },
    { population: 'fox', fitness: -1 },
  ]
  assert.deepEqual(
    [bestFitness({ ...run, best }), bestFitness({ ...run, best: [] })],
    ['hare 0.5000, fox −1.0000', '–'],
  )
  assert.equal(progressOf({ ...run, generations: 0 }), '3')
  const workers = { workers: 2, lost: 0, retried: 0, finished: 5, total: 8 }
  assert.equal(workersOf(run), '')
  assert.equal(workersOf({ ...run, workers }), '2 workers, 5 of 8 individuals')
  const lost = { ...run, workers: { ...workers, workers: 1, lost: 1, retried: 3 } }
  assert.equal(workersOf(lost), '1 worker, 5 of 8 individuals; 1 worker lost, 3 tasks retried')
  assert.equal(workersOf({ ...lost, state: 'finished' }), '1 worker lost, 3 tasks retried')
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

test('curves of different generations have one axis', () => {
  const curve = (x: number[], y: number[]) => ({ x, y })
  assert.deepEqual(joined([curve([1, 2, 10], [5, 6, 7]), curve([1, 4], [8, 9]), curve([], [])]), {
    x: [1, 2, 4, 10],
    columns: [
      [5, 6, null, 7],
      [8, null, 9, null],
      [null, null, null, null],
    ],
  })
  assert.deepEqual(joined([]), { x: [], columns: [] })
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

test('runs are compared by the best so far, or where it is no measure, by the best of each generation', () => {
  const run = (name: string, here: boolean) => ({
    name,
    algorithm: 'ga',
    place: '',
    seed: 1,
    generations: 3,
    generation: 3,
    best: [],
    state: 'running' as const,
    words: '',
    here,
  })
  const population = (name: string) => ({
    population: name,
    generations: [1, 2, 3],
    best: [2, 3, 1],
    mean: [],
    worst: [],
    best_so_far: [2, 3, 3],
    diversity: [],
    learnt: '',
    net: null,
  })
  const details = new Map(
    [['alone', ['']] as const, ['pair', ['prey', 'predator']] as const, ['elsewhere', ['']] as const].map(
      ([name, populations]) => [name, { name, populations: populations.map(population) }],
    ),
  )
  const runs = [run('alone', true), run('pair', true), run('elsewhere', false), run('new', true)]
  assert.deepEqual(
    comparedCurves(runs, details).map(({ label, curve }) => [label, curve.y]),
    [
      ['alone', [2, 3, 3]],
      ['pair: prey', [2, 3, 1]],
      ['pair: predator', [2, 3, 1]],
      ['elsewhere', [2, 3, 1]],
      ['new', []],
    ],
  )
})
