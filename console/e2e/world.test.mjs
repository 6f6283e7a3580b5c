// The World page, behaviour common to all pages, and access rights, on the playground.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { closePage, hook, openPage, textOf } from './browser.mjs'
import { tabThrough } from './keyboard.mjs'
import { checkLayout, drawn } from './layout.mjs'
import { portray, WINDOWS } from './pictures.mjs'
import { setting } from './setting.mjs'
import { eventually } from './waiting.mjs'

/** Each page, and an element that shows that it has loaded. */
const TABS = { world: 'agent', soccer: 'no-players', evolution: 'no-runs', puppet: 'say-box', health: 'gauge' }

const here = setting()

const far = (a, b) => Math.hypot(...a.map((part, at) => part - b[at]))

test('the link shows the world, and robots move', async () => {
  const page = await openPage(here.browser, here.program.operator)
  await eventually('a connection', async () => (await textOf(page, 'link-state')) === 'Connected')
  assert.equal(await textOf(page, 'role'), 'Operator')
  // the token is removed from the address bar
  assert.ok(!page.url().includes('token'), page.url())
  await eventually('four agents', async () => (await page.locator(hook('agent')).count()) === 4)
  const tick = async () => Number(await textOf(page, 'tick'))
  const first = await tick()
  await eventually('time', async () => (await tick()) > first)

  await page.locator(hook('agent')).filter({ hasText: 'Rover1' }).click()
  const view = page.locator('canvas').first()
  const picture = await view.screenshot()
  const home = await eventually('a pose', () => page.received.position('Rover1:Chassis'))
  const motors = await page.locator(`${hook('motors')} input`).all()
  for (const motor of motors) await motor.fill(await motor.getAttribute('max'))
  await eventually('the rover drives', () => far(page.received.position('Rover1:Chassis'), home) > 0.5)
  assert.notDeepEqual(await view.screenshot(), picture, 'the view shows it')
  // for the screenshot, one with other robots around
  await page.locator(hook('agent')).filter({ hasText: 'Alice' }).click()
  await eventually('sensor plots', () => page.locator(`${hook('sensor-plots')} canvas`).count())
  const heard = page.received.count('agent')
  await eventually('something in the plots', () => page.received.count('agent') > heard + 15)
  await portray(page, 'world')
  await closePage(page)
})

test('pause, step and reset', async () => {
  const page = await openPage(here.browser, here.program.operator)
  const press = (name) => page.locator(hook(name)).click()
  const number = async (name) => Number(await textOf(page, name))
  await eventually('a state', () => number('tick'))
  await press('play')
  await eventually('a pause', async () => (await textOf(page, 'pace')) === 'paused')
  const [tick, tries] = [page.received.latest.get('state').tick, await number('tries')]
  await press('step')
  await eventually('one tick', () => page.received.latest.get('state').tick === tick + 1)
  await page.locator(hook('seed')).fill('7')
  await press('reset')
  await eventually('a reset', async () => (await number('tries')) === tries + 1)
  await eventually('time from the beginning', () => page.received.latest.get('state').step <= 1)
  await press('play')
  await eventually('time goes on', () => page.received.latest.get('state').step > 3)
  await closePage(page)
})

test('a variable is edited, and others see it', async () => {
  const page = await openPage(here.browser, here.program.operator)
  const other = await openPage(here.browser, here.program.viewer)
  const row = (window) => window.locator(`${hook('variable')}[data-name="/Simulation/Gravitation"]`)
  for (const window of [page, other]) {
    await window.locator(hook('panel-variables')).click()
    await window.locator(hook('variable-search')).fill('gravitation')
    await eventually('its value', async () => (await row(window).textContent())?.includes('9.81'))
  }
  await row(page).locator(hook('variable-value')).click()
  await row(page).locator(hook('variable-input')).fill('strong')
  await page.keyboard.press('Enter')
  await row(page).locator(hook('variable-refused')).waitFor()
  await row(page).locator(hook('variable-input')).fill('3.7')
  await page.keyboard.press('Enter')
  for (const window of [page, other]) {
    await eventually('the new value', async () => (await row(window).textContent())?.includes('3.7'))
  }
  assert.equal(await row(other).locator(hook('variable-value')).count(), 0, 'a viewer has nothing to edit')
  await closePage(page)
  await closePage(other)
})

test('a viewer can watch but not control', async () => {
  const page = await openPage(here.browser, here.program.viewer)
  await eventually('a connection', async () => (await textOf(page, 'role')) === 'Viewer')
  const forbidden = {
    world: ['play', 'step', 'reset', 'seed', 'speed'],
    soccer: ['demo-start', 'kick-off-left', 'drop-ball', 'reset'],
    evolution: ['run-start'],
    puppet: ['say', 'say-box', 'stop'],
  }
  for (const [tab, controls] of Object.entries(forbidden)) {
    await page.locator(hook(`tab-${tab}`)).click()
    for (const control of controls) {
      await page.locator(hook(control)).first().waitFor()
      assert.ok(await page.locator(hook(control)).first().isDisabled(), `${tab}: ${control}`)
    }
  }
  // the server refuses commands that bypass the page
  const commands = [
    { do: 'pause' },
    { do: 'reset' },
    { do: 'speed', factor: 2 },
    { do: 'write', variable: '/Simulation/Gravitation', value: '1' },
    { do: 'push', agent: 'Rover1', velocity: [0, 0, 1] },
    { do: 'act', agent: 'Rover1', motors: [[0, 1]] },
    { do: 'kick-off', side: null },
    { do: 'demo', players: 1 },
    { do: 'puppet', order: 'reset' },
    { do: 'stop-run', name: 'a' },
    { do: 'open-film', name: 'a.mcap' },
    { do: 'save', key: 'a', value: 1 },
  ]
  const answers = await page.evaluate(
    async ([address, commands]) => {
      const socket = new WebSocket(address)
      const answers = []
      await new Promise((done, fail) => {
        socket.onclose = fail
        socket.onopen = () => {
          for (const [id, command] of commands.entries()) socket.send(JSON.stringify({ ...command, id }))
        }
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(data)
          if (message.type === 'done' || message.type === 'refused') answers.push(message)
          if (answers.length === commands.length) done()
        }
      })
      socket.onclose = null
      socket.close()
      return answers
    },
    [here.program.viewer.replace('http', 'ws').replace('/?', '/api?'), commands],
  )
  assert.deepEqual(
    answers.filter(({ type, why }) => type !== 'refused' || !/viewers cannot/.test(why)),
    [],
  )
  await closePage(page)
})

test('a viewer is not told who is connected and where files are', async () => {
  const operator = await openPage(here.browser, here.program.operator)
  const page = await openPage(here.browser, here.program.viewer)
  for (const [window, shown] of [
    [operator, /127\.0\.0\.1:\d/],
    [page, /hidden/],
  ]) {
    await window.locator(hook('panel-clients')).click()
    await eventually('the clients', async () => shown.test(await textOf(window, 'clients')))
  }
  assert.doesNotMatch(await textOf(page, 'clients'), /127\.0\.0\.1/)
  await page.locator(hook('tab-evolution')).click()
  await page.locator(hook('new-run')).waitFor()
  await page.locator(hook('tab-health')).click()
  await eventually('components', async () => (await page.locator(hook('part')).count()) > 3)
  assert.match(await textOf(page, 'recording'), /Only operators/)
  assert.doesNotMatch(JSON.stringify([...page.received.latest.values()]), /rossum-console-/)
  await closePage(page)
  await closePage(operator)
})

test('a hidden tab requests and receives nothing', async () => {
  const page = await openPage(here.browser, here.program.operator)
  const other = await openPage(here.browser, here.program.viewer)
  await page.locator(hook('agent')).filter({ hasText: 'Rover2' }).click()
  await eventually('poses', () => page.received.count('poses') > 0)
  // all tabs of a test browser are visible
  const hide = (is) =>
    page.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { value: is, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, is)
  await hide(true)
  const watched = () => page.sent.filter((command) => command.do === 'watch').at(-1).topics
  assert.deepEqual(watched(), [])
  // messages in flight have arrived when another command is answered
  const answered = page.received.count('films')
  await page.evaluate(() => (location.hash = 'soccer'))
  await eventually('an answer', () => page.received.count('films') > answered)
  const frames = () => page.received.count('poses') + page.received.count('state')
  const [before, elsewhere] = [frames(), other.received.count('state')]
  await eventually('news elsewhere', () => other.received.count('state') > elsewhere + 5)
  assert.equal(frames(), before)
  await hide(false)
  assert.deepEqual(watched(), ['world', 'poses', 'soccer'])
  await eventually('news again', () => frames() > before)
  await closePage(page)
  await closePage(other)
})

test('a wrong token and another origin get 403', async () => {
  const status = (path, headers = {}) =>
    new Promise((resolve, reject) => {
      const asked = request(here.program.origin + path, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      asked.on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(response.statusCode)
      })
      asked.on('error', reject)
      asked.end()
    })
  const socket = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const { origin: own, operator } = here.program
  const { search } = new URL(operator)
  assert.equal(await status(`/${search}`), 200)
  assert.equal(await status('/?token=wrong'), 403)
  assert.equal(await status('/api?token=wrong', socket), 403)
  assert.equal(await status('/api', socket), 403)
  assert.equal(await status(`/api${search}`, socket), 101)
  assert.equal(await status(`/api${search}`, { ...socket, origin: own }), 101)
  for (const origin of ['http://evil.example', 'null', own.replace('http', 'https'), 'http://127.0.0.1:1']) {
    assert.equal(await status(`/api${search}`, { ...socket, origin }), 403, origin)
  }
  assert.equal(await status(`/${search}`, { host: 'evil.example' }), 403)
})

test('a browser without a link is asked for one', async () => {
  const page = await openPage(here.browser, `${here.program.origin}/`)
  await page.locator(hook('gate-link')).waitFor()
  await checkLayout(page, 'the gate')
  await page.locator(hook('gate-link')).fill(here.program.operator)
  await page.keyboard.press('Enter')
  await eventually('a connection', async () => (await textOf(page, 'link-state')) === 'Connected')
  await closePage(page)
})

test('the health page shows components and metrics', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'health' })
  await eventually('components', async () => (await page.locator(hook('part')).count()) > 3)
  await eventually('metrics', async () => (await page.locator(hook('gauge')).count()) > 3)
  await eventually('something in the plots', () => page.received.count('health') > 4)
  assert.match(await textOf(page, 'addresses'), /Console/)
  const opened = page.context().waitForEvent('page')
  await page.locator(hook('link-status')).click()
  const status = await opened
  await eventually('the status as text', async () => /\ntick \d+/.test(await status.textContent('body')))
  await status.close()
  await portray(page, 'health')
  await closePage(page)
})

for (const [tab, sight] of Object.entries(TABS)) {
  test(`the ${tab} page fits into every window and can be used with the keyboard`, async () => {
    const page = await openPage(here.browser, here.program.operator, { tab })
    await page.locator(hook(sight)).first().waitFor()
    for (const { width, height } of WINDOWS) {
      await page.setViewportSize({ width, height })
      await drawn(page)
      await checkLayout(page, `${tab} at ${width}x${height}`)
    }
    await page.setViewportSize({ width: 1024, height: 768 })
    await tabThrough(page, tab)
    await closePage(page)
  })
}
