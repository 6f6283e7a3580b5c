// The Puppet page: the robot speaks with a gesture and reports the end; a face is named.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { closePage, hook, openPage, textOf } from './browser.mjs'
import { portray } from './pictures.mjs'
import { Program, writeScenario } from './program.mjs'
import { setting } from './setting.mjs'
import { eventually } from './waiting.mjs'

/** Folder of the puppet's fetched files. */
function fetched(name) {
  const script = fileURLToPath(new URL('../../scripts/fetch-puppet', import.meta.url))
  return execFileSync(script, [name], { encoding: 'utf8' }).trim()
}

const here = setting(async (folder) => {
  fetched('voice')
  // a picture of an astronaut in front of the camera; no loudspeaker and no microphone
  const scenario = await writeScenario(
    folder,
    `
title = "Alice meets an astronaut"
[world]
field = "flat"
timestep = 0.005
steps_per_tick = 2
[[robot]]
name = "Alice"
model = "alice"
[oz]
sound = "none"
ears = "none"
frames = 10.0
names = "names.json"
[[oz.person]]
picture = "${join(fetched('faces'), 'skimage/data/astronaut.png')}"
position = [1.1, 0.0, 0.78]
`,
  )
  return Program.start(folder, { scenario })
})

test('the robot speaks with a gesture, and a face is named', async () => {
  const size = { width: 1300, height: 800 }
  const page = await openPage(here.browser, here.program.operator, { tab: 'puppet', size })
  await eventually('pictures', () => page.received.count('video') > 2)
  const events = (what) => {
    const received = page.received.messages
      .filter(({ type }) => type === 'puppet-events')
      .flatMap(({ events }) => events)
    return received.filter((event) => event.what === what)
  }

  await page.locator(hook('say-box')).fill('Hello, ')
  await page.getByRole('button', { name: '[yess]', exact: true }).click()
  await page.locator(hook('say-box')).pressSequentially(' nice to meet you.')
  assert.equal(await page.locator(hook('say-box')).inputValue(), 'Hello, [yess] nice to meet you.')
  await page.keyboard.press('Enter')
  await eventually('it begins', () => events('speak-begun').length === 1)
  await eventually('a gesture', () => events('speak-gesture').length === 1)
  await eventually('SPEAK_DONE', () => events('speak-done').length === 1)
  await eventually('the page says so', async () => /^Done at/.test(await textOf(page, 'speak-state')))
  assert.ok(page.received.count('sound') > 0, 'its voice is heard in the browser')
  await page.locator(hook('panel-log')).click()
  assert.match(await textOf(page, 'session-log'), /Finished speaking/)

  const face = page.locator(hook('face-box')).first()
  await face.waitFor()
  // the box moves with the head, so use the keyboard
  await face.focus()
  await page.keyboard.press('Enter')
  await page.locator(hook('face-name')).fill('Eileen')
  await page.locator(hook('face-save')).click()
  await eventually('the name in the picture', async () => (await face.textContent()) === 'Eileen')
  assert.deepEqual(page.received.latest.get('puppet').known, ['Eileen'])
  // the face is somebody's, and our pictures are ours
  await page.locator(hook('eye-video')).evaluate((video) => (video.style.filter = 'blur(14px)'))
  await portray(page, 'puppet', async () => eventually('the face', () => face.isVisible()))
  await closePage(page)
})
