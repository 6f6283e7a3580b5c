// A page that stays open while the server restarts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closePage, hook, openPage, textOf } from './browser.mjs'
import { freePort, Program, writeScenario } from './program.mjs'
import { setting } from './setting.mjs'
import { eventually } from './waiting.mjs'

const here = setting(() => null)

test('the page reconnects', async () => {
  // only the console, so that no other port is needed
  const scenario = await writeScenario(
    here.folder,
    `
title = "A rover, and nobody else"
[world]
field = "flat"
[[robot]]
name = "Rover"
model = "rover"
[server]
http_port = ${await freePort()}
`,
  )
  here.program = await Program.start(here.folder, { scenario, ports: 'own' })
  const link = here.program.operator
  const page = await openPage(here.browser, link)
  const state = (words) => eventually(words, async () => (await textOf(page, 'link-state')) === words)
  await state('Connected')
  await page.locator(hook('agent')).first().click()
  await page.locator(hook('chosen-agent')).waitFor()

  await here.program.stop()
  await state('Not connected')
  await page.locator(hook('gone')).waitFor()

  here.program = await Program.start(here.folder, { scenario, ports: 'own' })
  assert.equal(here.program.operator, link, 'the link stays the same')
  await state('Connected')
  await page.locator(hook('gone')).waitFor({ state: 'hidden' })
  const tick = async () => Number(await textOf(page, 'tick'))
  const first = await tick()
  await eventually('time', async () => (await tick()) !== first)
  // subscriptions are restored
  const heard = page.received.count('agent')
  await page.locator(hook('push-up')).click()
  await eventually('news of the robot', () => page.received.count('agent') > heard)
  // the browser logs the failed connections
  await closePage(page, (fault) => /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(fault))
})
