// The Evolution page: a small run that improves, is stopped and resumed.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { closePage, hook, openPage, textOf } from './browser.mjs'
import { portray } from './pictures.mjs'
import { freePort, newFolder, Program, removeFolder, Server, writeScenario } from './program.mjs'
import { setting } from './setting.mjs'
import { eventually } from './waiting.mjs'

const here = setting()

test('a run improves, is stopped, and is resumed', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'evolution' })
  await page.locator(hook('no-runs')).waitFor()
  const { worlds, bodies, default_run: preset } = page.received.latest.get('hello').evolution
  assert.ok(worlds.length > 1 && bodies.length > 1)
  await eventually('the address', async () => /^127\.0\.0\.1:\d+$/.test(await textOf(page, 'robot-simulator')))
  for (const name of ['world', 'body', 'fitness', 'algorithm', 'generations'])
    assert.equal(await page.locator(hook(`run-${name}`)).inputValue(), String(preset[name]), name)
  await page.locator(hook('run-algorithm')).selectOption('ga')
  for (const [field, value] of [
    ['generations', 400],
    ['population', 20],
    ['hidden', 2],
    ['seed', 1],
  ]) {
    await page.locator(hook(`run-${field}`)).fill(String(value))
  }
  await page.locator(hook('run-start')).click()
  const run = () => page.received.latest.get('run')?.populations[0]
  await eventually('some generations', () => (run()?.best_so_far.length ?? 0) >= 6)
  await eventually('a better one than at first', () => run().best_so_far.at(-1) > run().best_so_far[0])
  const state = (words) => eventually(words, async () => (await textOf(page, 'chosen-state')) === words)

  await page.locator(hook('run-stop')).click()
  await state('stopped')
  await eventually('the fitness on the page', async () => Number(await textOf(page, 'fitness')) > 0)
  assert.match(await textOf(page, 'chosen-learnt'), /^The best robot .*\.$/)
  const generation = async () => Number((await textOf(page, 'chosen-generation')).split(' ')[0])
  const before = await generation()
  const best = run().best_so_far.at(-1)

  await replayAnyGeneration(page)
  await page.locator(hook('net')).waitFor()

  await page.locator(hook('resume-generations')).fill(String(before + 10))
  await page.locator(hook('run-resume')).click()
  await eventually('ten more', async () => (await generation()) === before + 10)
  await state('stopped')
  assert.ok(run().best_so_far.at(-1) >= best, 'nothing is lost')
  assert.equal(await page.locator(hook('run-row')).count(), 1)
  const { fitness } = run().net
  await page.locator(hook('replay-show')).click()
  await eventually('the best of all', () => page.received.latest.get('replay').robots[0].fitness === fitness)
  await page.locator(hook('replay-line')).fill(await page.locator(hook('replay-line')).getAttribute('max'))
  await portray(page, 'evolution')
  await showsWorkers(page)
  await closePage(page)
})

/** The workers of a run on a cluster are shown, once they are in its folder. */
async function showsWorkers(page) {
  const { folder } = page.received.latest.get('hello').evolution
  const { name } = page.received.latest.get('evolution').runs[0]
  const workers = { workers: 2, lost: 1, retried: 3, finished: 20, total: 20 }
  await writeFile(join(folder, name, 'workers.json'), JSON.stringify(workers))
  const words = '1 worker lost, 3 tasks retried'
  await eventually('its workers', async () => (await textOf(page, 'chosen-workers')) === words)
}

/** The best individual of any generation can be replayed. */
async function replayAnyGeneration(page) {
  await page.locator(hook('replay-which')).selectOption('one')
  await page.locator(hook('replay-generation')).fill('1')
  await page.locator(hook('replay-show')).click()
  await eventually('the first generation', () => page.received.latest.get('replay')?.generation === 1)
  await page.locator(hook('replay-which')).selectOption('all')
  await eventually('the best one', () => page.received.latest.get('replay').generation > 1)
  const replay = page.received.latest.get('replay')
  assert.equal(replay.robots.length, 1)
  assert.ok(replay.robots[0].trials.length > 0 && replay.arena.polygons.length > 0)
}

test('only suitable combinations are offered, and the others have a reason', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'evolution' })
  const value = (name) => page.locator(hook(`run-${name}`)).inputValue()
  const isOffered = (name, option) => page.locator(`${hook(`run-${name}`)} option[value=${option}]`).isEnabled()
  const reasons = (name) => textOf(page, `${name === 'world' ? name : `run-${name}`}-reasons`)
  assert.ok(!(await isOffered('fitness', 'line')) && (await isOffered('fitness', 'distance')))
  assert.match(await reasons('fitness'), /line \(the robot has no sensors in the group `line`\)/)

  // another body brings its own fitness, and a world for it
  await page.locator(hook('run-body')).selectOption('liner')
  assert.deepEqual([await value('fitness'), await value('world')], ['line', 'line'])
  assert.ok(!(await isOffered('world', 'cliff')))
  assert.match(await reasons('world'), /cliff.* \(the robot's sensors detect nothing in this world\)/)
  await page.locator(hook('run-body')).selectOption('sonar')
  await page.locator(hook('run-fitness')).selectOption('climb')
  assert.equal(await value('world'), 'cliff')
  assert.match(await reasons('world'), /this world is level/)
  // in a world in which robots meet, the form says so
  await page.locator(hook('run-fitness')).selectOption('distance')
  assert.ok(!(await page.locator(hook('encounters')).isVisible()))
  await page.locator(hook('run-world')).selectOption('coevolution')
  assert.match(await textOf(page, 'encounters'), /evaluated in groups/)
  await closePage(page)
})

test('predators and prey evolve against each other, with both curves in one plot', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'evolution' })
  const hello = () => page.received.latest.get('hello')
  await eventually('the greeting', () => hello() !== undefined)
  const { default_coevolution: preset } = hello().evolution
  const value = (name) => page.locator(hook(name)).inputValue()
  assert.ok(!(await page.locator(hook('rival-body')).isVisible()))
  await page.locator(hook('run-where')).selectOption('two')
  assert.deepEqual(
    [await value('run-body'), await value('rival-body'), await value('run-world'), await value('run-algorithm')],
    [preset.body, preset.rival.body, preset.world, preset.algorithm],
  )
  assert.deepEqual([await value('run-fitness'), await value('rival-fitness')], ['escape', 'pursuit'])
  assert.match(await textOf(page, 'encounters'), /^Each individual meets some of the other population/)
  assert.match(await textOf(page, 'world-reasons'), /maze.* \(there are no two kinds of robots that meet\)/)
  // until it is stopped
  await page.locator(hook('run-generations')).fill('')
  await page.locator(hook('run-population')).fill('8')
  await page.locator(hook('run-start')).click()
  const summary = () => page.received.latest.get('evolution')?.runs.find(({ name }) => name.includes('prey-predator'))
  await eventually('the run', () => summary() !== undefined)
  assert.equal(summary().generations, 0)
  await page.locator(`${hook('run-row')}[data-name="${summary().name}"]`).click()
  const detail = () => page.received.latest.get('run')
  await eventually('some generations', () => (detail()?.populations[1]?.best.length ?? 0) >= 3)
  assert.deepEqual(
    detail().populations.map(({ population }) => population),
    ['prey', 'predator'],
  )
  const legend = await page.locator(`${hook('fitness-plot')} .u-legend`).textContent()
  for (const label of ['prey: best', 'prey: mean', 'predator: best', 'predator: mean'])
    assert.ok(legend.includes(label), legend)
  assert.match(await textOf(page, 'fitness'), /^prey .*, predator /)
  assert.match(await textOf(page, 'chosen-learnt'), /the best prey .*the best predator /)
  assert.match(await textOf(page, 'chosen-generation'), /^\d+$/)

  await page.locator(hook('run-stop')).click()
  await eventually('stopped', async () => (await textOf(page, 'chosen-state')) === 'stopped')
  await page.locator(hook('replay-show')).click()
  await eventually('both robots', () => page.received.latest.get('replay')?.robots.length === 2)
  await page.locator(hook('replay-line')).fill(await page.locator(hook('replay-line')).getAttribute('max'))
  assert.match(await textOf(page, 'replay-words'), /prey: fitness .*predator: fitness /)
  const done = summary().generation
  await page.locator(hook('resume-generations')).fill(String(done + 2))
  await page.locator(hook('run-resume')).click()
  await eventually('two more', () => summary().generation === done + 2 && summary().state === 'finished')
  await portray(page, 'coevolution')
  await closePage(page)
})

test('without an address, the Robot Simulator of this machine evaluates', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'evolution' })
  await page.locator(hook('run-where')).selectOption('simulators')
  assert.ok(!(await page.locator(hook('run-body')).isVisible()))
  await page.locator(hook('run-start')).click()
  const run = () => page.received.latest.get('evolution')?.runs.find(({ name }) => name.startsWith('simulators-'))
  await eventually('the run', () => run() !== undefined)
  assert.equal(run().place, '127.0.0.1:7720')
  await page.locator(`${hook('run-row')}[data-name="${run().name}"]`).click()
  const stop = page.locator(hook('run-stop'))
  // unless a Robot Simulator happens to run on this machine, it waits for one
  await eventually('it can be stopped', async () => (await stop.isEnabled()) || run().state === 'failed')
  if (await stop.isEnabled()) await stop.click()
  await eventually('its end', () => run().state !== 'running')
  await closePage(page)
})

test('two runs over sockets evolve against each other, with both curves in the comparison', async (t) => {
  const world = await Server.start(['world', 'coevolution', '--free-ports'])
  t.after(() => world.stop())
  const robots = await Promise.all(
    ['prey', 'predator'].map((kind) => {
      const address = world.address(`World Simulator for ${kind}`)
      return Server.start(['robot', kind, '--world', address, '--pipeline', '--free-ports'])
    }),
  )
  t.after(() => Promise.all(robots.map((robot) => robot.stop())))
  const page = await openPage(here.browser, here.program.operator, { tab: 'evolution' })
  const runs = () => page.received.latest.get('evolution')?.runs ?? []
  await page.locator(hook('run-where')).selectOption('simulators')
  await page.locator(hook('run-algorithm')).selectOption('ga')
  await page.locator(hook('run-generations')).fill('')
  await page.locator(hook('run-population')).fill('4')
  const names = []
  for (const robot of robots) {
    const address = robot.address('Robot Simulator')
    await page.locator(hook('run-addresses')).fill(address)
    await page.locator(hook('run-start')).click()
    const run = await eventually('the run', () => runs().find(({ place }) => place === address))
    names.push(run.name)
  }
  const generation = (name) => runs().find((run) => run.name === name).generation
  await eventually('some generations of both', () => names.every((name) => generation(name) >= 3))

  for (const name of names) await page.getByLabel(`Compare ${name}`, { exact: true }).check()
  const comparison = page.locator(hook('comparison'))
  await eventually('both labels', async () => {
    const labels = await comparison.locator('.u-series .u-label').allTextContents()
    return labels.sort().join() === names.sort().join()
  })
  await eventually('both curves', async () => {
    const drawn = await comparison.locator('canvas').evaluate(countOfColours, [
      [47, 125, 225],
      [224, 123, 0],
    ])
    return drawn.every((count) => count > 20)
  })
  await portray(page, 'comparison')

  for (const name of names) {
    await page.locator(`${hook('run-row')}[data-name="${name}"]`).click()
    await page.locator(hook('run-stop')).click()
    await eventually('its end', () => runs().find((run) => run.name === name).state === 'stopped')
  }
  await closePage(page)
})

/** How many pixels of a canvas have each of these colours; runs in the page. */
function countOfColours(canvas, colours) {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  return colours.map((colour) => {
    let count = 0
    for (let at = 0; at < data.length; at += 4)
      if (colour.every((value, part) => Math.abs(data[at + part] - value) < 24)) count++
    return count
  })
}

test('operators change the ports of the simulators and the world of the robots', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'evolution' })
  await page.locator(hook('simulator-settings')).locator('summary').click()
  const port = await freePort()
  const world = await freePort()
  await page.locator(hook('robot-simulator-port')).fill(String(port))
  await page.locator(hook('world-simulator-port')).fill(String(world))
  await page.locator(hook('simulators-apply')).click()
  await eventually('the new ports', async () => {
    const shown = [await textOf(page, 'robot-simulator'), await textOf(page, 'world-simulator')]
    return shown.join() === [`127.0.0.1:${port}`, `127.0.0.1:${world}`].join()
  })
  assert.equal(await textOf(page, 'robots-use'), 'in this process')
  await page.locator(hook('robot-world')).selectOption('other')
  // without an address, that of this machine
  await page.locator(hook('simulators-apply')).click()
  await eventually('the default', async () => (await textOf(page, 'robots-use')) === '127.0.0.1:7770')
  await page.locator(hook('robot-world-address')).fill(`127.0.0.1:${world}`)
  await page.locator(hook('simulators-apply')).click()
  await eventually('the world', async () => (await textOf(page, 'robots-use')) === `127.0.0.1:${world}`)

  // a port that is in use is refused, and nothing changes
  await page.locator(hook('robot-simulator-port')).fill(String(world))
  await page.locator(hook('simulators-apply')).click()
  await eventually('the reason', async () =>
    /former settings are kept/.test(await page.locator('#notices-error').textContent()),
  )
  assert.equal(await textOf(page, 'robot-simulator'), `127.0.0.1:${port}`)
  await portray(page, 'simulators')
  await closePage(page)
})

test('every port of a world is shown', async () => {
  const folder = await newFolder()
  const scenario = await writeScenario(folder, '[world]\nfield = "flat"\n[evo]\nworld = "coevolution"\n')
  const program = await Program.start(folder, { scenario })
  const page = await openPage(here.browser, program.operator, { tab: 'evolution' })
  await page.locator(hook('world-simulator')).nth(1).waitFor()
  const titles = await page.locator(`${hook('simulators')} dt`).allTextContents()
  assert.deepEqual(titles, ['World Simulator for prey', 'World Simulator for predator', 'Robot Simulator'])
  assert.match(await textOf(page, 'robot-simulator'), /not running/)
  assert.equal(await page.locator(hook('world-simulator')).count(), 2)
  await closePage(page)
  await program.stop()
  await removeFolder(folder)
})
