// The Evolution page: a small run that improves, is stopped and resumed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closePage, hook, openPage, textOf } from './browser.mjs'
import { portray } from './pictures.mjs'
import { setting } from './setting.mjs'
import { eventually } from './waiting.mjs'

const here = setting()

test('a run improves, is stopped, and is resumed', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'evolution' })
  await page.locator(hook('no-runs')).waitFor()
  const { worlds, bodies } = page.received.latest.get('hello').evolution
  assert.ok(worlds.length > 1 && bodies.length > 1)
  assert.match(await textOf(page, 'robot-simulator'), /^127\.0\.0\.1:\d+$/)
  await page.locator(hook('run-world')).selectOption('obstacles')
  await page.locator(hook('run-body')).selectOption('platine')
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
  const run = () => page.received.latest.get('run')
  await eventually('some generations', () => (run()?.best_so_far.length ?? 0) >= 6)
  await eventually('a better one than at first', () => run().best_so_far.at(-1) > run().best_so_far[0])
  const state = (words) => eventually(words, async () => (await textOf(page, 'chosen-state')) === words)

  await page.locator(hook('run-stop')).click()
  await state('stopped')
  await eventually('the fitness on the page', async () => Number(await textOf(page, 'fitness')) > 0)
  const generation = async () => Number((await textOf(page, 'chosen-generation')).split(' ')[0])
  const before = await generation()
  const best = run().best_so_far.at(-1)

  // the best individual of any generation can be replayed
  await page.locator(hook('replay-which')).selectOption('one')
  await page.locator(hook('replay-generation')).fill('1')
  await page.locator(hook('replay-show')).click()
  await eventually('the first generation', () => page.received.latest.get('replay')?.generation === 1)
  await page.locator(hook('replay-which')).selectOption('all')
  await eventually('the best one', () => page.received.latest.get('replay').generation > 1)
  const replay = page.received.latest.get('replay')
  assert.ok(replay.trials.length > 0 && replay.arena.polygons.length > 0)
  await page.locator(hook('net')).waitFor()

  await page.locator(hook('resume-generations')).fill(String(before + 10))
  await page.locator(hook('run-resume')).click()
  await eventually('ten more', async () => (await generation()) === before + 10)
  await state('stopped')
  assert.ok(run().best_so_far.at(-1) >= best, 'nothing is lost')
  assert.equal(await page.locator(hook('run-row')).count(), 1)
  const { fitness } = page.received.latest.get('run').net
  await page.locator(hook('replay-show')).click()
  await eventually('the best of all', () => page.received.latest.get('replay').fitness === fitness)
  await page.locator(hook('replay-line')).fill(await page.locator(hook('replay-line')).getAttribute('max'))
  await portray(page, 'evolution')
  await closePage(page)
})
