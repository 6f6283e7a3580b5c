// The Soccer page: a demo game from kick-off on, the trainer's commands, and the playback of that game.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closePage, hook, openPage, positionIn, textOf } from './browser.mjs'
import { portray } from './pictures.mjs'
import { Program } from './program.mjs'
import { setting } from './setting.mjs'
import { eventually } from './waiting.mjs'

const here = setting((folder) => Program.start(folder, { options: ['--record', 'game.mcap'] }))

test('a demo game kicks off, and the trainer can interfere', async () => {
  const page = await openPage(here.browser, here.program.operator, { tab: 'soccer' })
  const mode = () => page.locator(hook('mode')).getAttribute('data-mode')
  const game = () => page.received.latest.get('game')
  await page.locator(hook('no-players')).waitFor()
  assert.equal(await mode(), 'BeforeKickOff')
  await page.locator(hook('demo-players')).fill('2')
  await page.locator(hook('demo-start')).click()
  await eventually('two teams', () => game().players.length === 4)
  // the first team to connect plays on the left
  const names = async () => [await textOf(page, 'team-left'), await textOf(page, 'team-right')].sort().join()
  await eventually('both teams are named', async () => (await names()) === 'Guests,Home')
  assert.equal(await page.locator(hook('player')).count(), 4)
  await eventually('a kick-off', async () => /^KickOff_/.test(await mode()) || (await mode()) === 'PlayOn')
  await eventually('the clock', async () => (await textOf(page, 'clock')) !== '00:00')
  await eventually('the referee', async () => (await page.locator(hook('decision')).count()) > 0)
  await page.locator(hook('camera-ball')).click()
  await portray(page, 'soccer')

  await page.locator(hook('ball-x')).fill('3')
  await page.locator(hook('ball-y')).fill('-2')
  await page.locator(hook('ball-z')).fill('1.5')
  await page.locator(hook('ball-place')).click()
  const ball = () => positionIn(page.received.poses, game().ball)
  await eventually('the ball is there', () => Math.hypot(ball()[0] - 3, ball()[1] + 2) < 0.5)
  await page.locator(hook('demo-stop')).click()
  await eventually('an empty field', () => game().players.length === 0)
  await closePage(page)
})

test('the recording of that game is played back', async () => {
  await here.program.stop()
  here.program = await Program.start(here.folder)
  const page = await openPage(here.browser, here.program.operator, { tab: 'soccer' })
  await page.locator(`${hook('playback-entry')}[data-name="game.mcap"]`).click()
  await page.locator(hook('playback-bar')).waitFor()
  const line = page.locator(hook('playback-line'))
  const frames = async () => Number(await line.getAttribute('max'))
  await eventually('some of the playback', async () => (await frames()) > 50)
  await eventually('the first picture', () => page.received.playback)
  await page.locator(hook('playback-play')).click()
  const at = async () => Number(await line.inputValue())
  await eventually('it plays', async () => (await at()) > 5)
  await page.locator(hook('playback-play')).click()
  await eventually('all of it', () => page.received.latest.get('film').complete)
  const { ready, trouble } = page.received.latest.get('film')
  assert.equal(trouble, null)
  const marks = page.received.messages.filter(({ type }) => type === 'film').flatMap(({ marks }) => marks)
  assert.ok(
    marks.some(({ text }) => /kick/i.test(text)),
    `the kick-off is marked: ${JSON.stringify(marks)}`,
  )
  await line.fill(String(ready - 2))
  await eventually('the end', () => page.received.playback.number >= ready - 2)
  await page.locator(hook('playback-back')).click()
  assert.equal(await at(), ready - 3)
  // seek to the last mark, where all players are on the field
  await page
    .locator(`${hook('playback-marks')} button`)
    .last()
    .click()
  await eventually('the last mark', async () => (await at()) < ready - 3)
  await portray(page, 'playback')
  await page.locator(hook('playback-leave')).click()
  await page.locator(hook('mode')).waitFor()
  await closePage(page)
})
