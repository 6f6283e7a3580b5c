// A console for other machines, which uses TLS, and tokens that are replaced while pages are open.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closePage, hook, openPage, textOf } from './browser.mjs'
import { Program } from './program.mjs'
import { setting } from './setting.mjs'
import { eventually } from './waiting.mjs'

const BEYOND_LOOPBACK = ['--bind', '0.0.0.0', '--allow', '203.0.113.0/24']
const here = setting((folder) => Program.start(folder, { scenario: 'small', options: BEYOND_LOOPBACK }))

const connected = (page) => eventually('a connection', async () => (await textOf(page, 'link-state')) === 'Connected')

test('pages and their WebSocket work over TLS, and a replaced token closes only its own pages', async () => {
  const { operator: link, viewer: watching } = here.program
  assert.match(link, /^https:/)
  const operator = await openPage(here.browser, link)
  const viewer = await openPage(here.browser, watching)
  await connected(operator)
  await connected(viewer)
  await operator.locator(hook('agent')).first().click()
  const heard = operator.received.count('poses')
  await operator.locator(hook('push-up')).click()
  await eventually('a move', () => operator.received.count('poses') > heard)

  await here.program.run('tokens', 'rotate', 'viewer')
  await viewer.locator(hook('gate-link')).waitFor()
  await viewer.locator(hook('gate-link')).fill((await here.program.run('tokens', 'show', 'viewer')).trim())
  await viewer.keyboard.press('Enter')
  await connected(viewer)
  assert.equal(await textOf(viewer, 'role'), 'Viewer')
  assert.equal(await textOf(operator, 'link-state'), 'Connected')
  await closePage(operator)
  // the browser logs the refused connections
  await closePage(viewer, (fault) => /403/.test(fault))
})
