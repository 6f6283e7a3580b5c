// A browser that stays open while the server is stopped and started again.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closePage, hook, openBrowser, openPage, textOf } from './browser.mjs'
import { freePort, newFolder, Program, removeFolder, writeScenario } from './program.mjs'
import { eventually } from './waiting.mjs'

let folder, program, browser

before(async () => {
  ;[folder, browser] = await Promise.all([newFolder(), openBrowser()])
})

after(async () => {
  await browser?.close()
  await program?.stop()
  await removeFolder(folder)
})

test('it connects again by itself', async () => {
  // no protocol but the console: nothing else needs a port
  const scenario = await writeScenario(folder, `
title = "A rover, and nobody else"
[world]
field = "flat"
[[robot]]
name = "Rover"
model = "rover"
[server]
http_port = ${await freePort()}
`)
  program = await Program.start(folder, { scenario, ports: 'own' })
  const link = program.operator
  const page = await openPage(browser, link)
  const state = (words) => eventually(words, async () => (await textOf(page, 'link-state')) === words)
  await state('Connected')
  await page.locator(hook('agent')).first().click()
  await page.locator(hook('chosen-agent')).waitFor()

  await program.stop()
  await state('Not connected')
  await page.locator(hook('gone')).waitFor()

  program = await Program.start(folder, { scenario, ports: 'own' })
  assert.equal(program.operator, link, 'the link stays the same')
  await state('Connected')
  await page.locator(hook('gone')).waitFor({ state: 'hidden' })
  const tick = async () => Number(await textOf(page, 'tick'))
  const first = await tick()
  await eventually('time', async () => (await tick()) !== first)
  // what was chosen is told again
  const heard = page.told.count('agent')
  await page.locator(hook('push-up')).click()
  await eventually('news of the robot', () => page.told.count('agent') > heard)
  // the browser notes that nobody answered
  await closePage(page, (fault) => /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(fault))
})
