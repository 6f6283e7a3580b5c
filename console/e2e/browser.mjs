// One browser for all tests, and pages that record everything that goes wrong in them.

import assert from 'node:assert/strict'
import { chromium } from 'playwright-core'
import { DEADLINE_MS } from './waiting.mjs'

/** Debian's Chromium with software rendering and no background traffic. */
export const CHROMIUM = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--enable-unsafe-swiftshader',
    '--use-angle=swiftshader',
  ],
}

export const SMALL = { width: 720, height: 540 }

/** Connects to the browser started by `run.mjs`, or launches one for a single file. */
export async function openBrowser() {
  const there = process.env.ROSSUM_BROWSER
  return there ? chromium.connect(there) : chromium.launch(CHROMIUM)
}

/**
 * Opens a link in a new window. `page.faults` records errors, content policy violations and requests to other hosts;
 * `page.received` has the server's messages, `page.sent` the page's commands.
 */
export async function openPage(browser, link, { tab = 'world', size = SMALL, dark = false, still = false } = {}) {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: still ? 'reduce' : 'no-preference',
    // the user has compared the fingerprint
    ignoreHTTPSErrors: true,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(DEADLINE_MS)
  page.faults = []
  page.sent = []
  page.received = new Received()
  const own = new URL(link).host
  page.on('console', (message) => {
    if (message.type() === 'error') page.faults.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => page.faults.push(`error: ${error.stack ?? error.message}`))
  page.on('request', (request) => {
    const address = new URL(request.url())
    if (address.host !== own && !['blob:', 'data:'].includes(address.protocol)) page.faults.push(`asks ${address}`)
  })
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => page.received.hear(payload))
    socket.on('framesent', ({ payload }) => page.sent.push(JSON.parse(payload)))
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`content policy: ${event.violatedDirective} ${event.blockedURI}`)
    })
  })
  await page.goto(`${link}#${tab}`)
  return page
}

/** Closes a page's window, and fails if it had faults. */
export async function closePage(page, allowed = () => false) {
  await page.context().close()
  assert.deepEqual(
    page.faults.filter((fault) => !allowed(fault)),
    [],
  )
}

/** Messages received over the WebSocket. */
class Received {
  /** Latest message of each type. */
  latest = new Map()
  /** Number of messages of each type; `poses`, `video`, `sound` and `playback` for frames. */
  counts = new Map()
  /** All text messages. */
  messages = []
  /** The latest pose frame. */
  poses = null
  /** Number and poses of the latest playback frame. */
  playback = null

  hear(payload) {
    if (typeof payload === 'string') {
      const message = JSON.parse(payload)
      this.latest.set(message.type, message)
      this.messages.push(message)
      this.#count(message.type)
      return
    }
    const kind = ['', 'poses', 'video', 'sound', 'playback'][payload[0]] ?? 'unknown'
    this.#count(kind)
    if (kind === 'poses') this.poses = payload
    if (kind === 'playback') this.playback = { number: payload.readUInt32LE(4), poses: payload.subarray(8) }
  }

  count(kind) {
    return this.counts.get(kind) ?? 0
  }

  /** Position of a body in m, by name; null if unknown. */
  position(body) {
    const scene = this.latest.get('scene')
    const at = scene ? scene.bodies.indexOf(body) : -1
    if (at < 1 || !this.poses || this.poses.readUInt32LE(4) !== scene.generation) return null
    return positionIn(this.poses, at)
  }

  #count(kind) {
    this.counts.set(kind, this.count(kind) + 1)
  }
}

/** Position of a body, by index, in a pose frame. */
export function positionIn(poses, body) {
  const offset = 24 + 15 * (body - 1)
  return [0, 3, 6].map((by) => poses.readIntLE(offset + by, 3) / 10_000)
}

/** Selector of an element by its `data-test`. */
export function hook(name) {
  return `[data-test="${name}"]`
}

/** Trimmed text of an element. */
export async function textOf(page, name) {
  return ((await page.locator(hook(name)).first().textContent()) ?? '').trim()
}
