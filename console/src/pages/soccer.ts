// The Soccer page: the game, the referee, the trainer's commands, and playback of recorded games.

import { Frame, type Game, type Hello, type Scene, type SoccerInfo, type Topic } from '../api'
import type { Connection } from '../connection'
import type { Opener, Page } from '../page'
import { button, empty, h } from '../ui'
import { View } from '../view/view'
import { cameras, type Targets } from './soccer/cameras'
import { decisionList } from './soccer/decisions'
import { demoGame } from './soccer/demo'
import { dragging } from './soccer/dragging'
import { sideOf, teamName } from './soccer/labels'
import { Playback } from './soccer/playback'
import { playbackList } from './soccer/playback-list'
import { createPlaybackPanel } from './soccer/playback-panel'
import { teamRings } from './soccer/rings'
import { scoreboard } from './soccer/scoreboard'
import { teamLists } from './soccer/team-lists'
import { trainer } from './soccer/trainer'
import { worldControls } from './soccer/world'
import './soccer.css'

const TOPICS: Topic[] = ['world', 'poses', 'soccer']

export const open: Opener = (connection) => {
  const soccer = connection.hello?.soccer
  return connection.hello && soccer ? gamePage(connection, connection.hello, soccer) : noSoccer()
}

function noSoccer(): Page {
  const words =
    'The running world has no field and no referee. Start “rossum soccer” or “rossum serve --scenario soccer”, ' +
    'then open the link it prints.'
  return {
    element: h('div', { class: 'soccer-none', 'data-test': 'no-soccer' }, empty('No soccer in this scenario', words)),
    topics: [],
    close: () => undefined,
  }
}

function gamePage(connection: Connection, hello: Hello, soccer: SoccerInfo): Page {
  const holder = h('div', { class: 'pitch', 'data-test': 'soccer-view' })
  const view = new View(holder)
  const board = scoreboard()
  const decisions = decisionList()
  const teams = teamLists((player) => camera.follow(player.body))
  const camera = cameras(view, (body) => teams.followed(body))
  const rings = teamRings(view)
  const drag = dragging(connection, view)
  const trainerPanel = trainer(connection, soccer)
  const demo = demoGame(connection, soccer)
  const world = worldControls(connection)
  const nobody = noPlayers(hello, connection.role === 'operator' ? () => demo.start() : null)
  const playback = new Playback(connection, view)
  const playbackPanel = createPlaybackPanel(playback)
  const playbackEntries = playbackList(connection, (name) => void playback.open(name))

  let game: Game | null = null
  let live: Scene | null = null
  let isPlayback = false

  function aim(targets: Targets): void {
    camera.show(targets)
    rings.show(targets)
  }

  /** Switches between the live game and playback. */
  function switchSource(): void {
    element.classList.toggle('is-playback', isPlayback)
    camera.follow(null)
    drag.allow(!isPlayback)
    connection.watch(isPlayback ? ['world', 'soccer'] : TOPICS)
    // the list of recordings is far below the picture
    scrollTo({ top: 0 })
    if (isPlayback) {
      playbackPanel.focus()
      return
    }
    if (live) view.setScene(live)
    if (game) aim(targetsOf(game))
  }

  playback.onChange = () => {
    const status = playback.status
    playbackEntries.watched(status?.name ?? null)
    if (isPlayback !== (status !== null)) {
      isPlayback = status !== null
      switchSource()
    }
    if (status) playbackPanel.show(status)
  }
  playback.onScene = (scene) => aim(targetsIn(scene))
  view.onPick = (body) => camera.follow(body)

  const ends = [
    connection.on('scene', (scene) => {
      const first = live === null
      live = scene
      if (!isPlayback) view.setScene(scene)
      if (first) view.lookFrom('field')
    }),
    connection.onFrame(Frame.poses, (frame) => {
      if (!isPlayback) view.pose(frame)
    }),
    connection.on('state', (state) => world.show(state)),
    connection.on('game', (now) => {
      game = now
      for (const part of [board, trainerPanel, demo, teams, drag]) part.show(now)
      if (!isPlayback) aim(targetsOf(now))
      nobody.hidden = now.players.length > 0
    }),
    connection.on('decisions', (message) => decisions.add(message.decisions)),
  ]

  const element = h(
    'div',
    { class: 'soccer' },
    h('div', { class: 'live-only board' }, board.element),
    h('div', { class: 'playback-only board' }, playbackPanel.head),
    h(
      'div',
      { class: 'stage' },
      h('div', { class: 'stage-bar' }, camera.element, h('div', { class: 'live-only' }, world.element)),
      h('div', { class: 'picture' }, holder, h('div', { class: 'live-only' }, nobody)),
      h('div', { class: 'playback-only' }, playbackPanel.bar),
    ),
    h(
      'div',
      { class: 'side' },
      h('div', { class: 'playback-only' }, playbackPanel.marks),
      h('div', { class: 'live-only side-cards' }, demo.element, decisions.element, trainerPanel.element),
    ),
    h('div', { class: 'below' }, h('div', { class: 'live-only' }, teams.element), playbackEntries.element),
  )

  return {
    element,
    topics: TOPICS,
    close() {
      for (const end of ends) end()
      playbackEntries.close()
      playbackPanel.close()
      playback.close()
      view.close()
    },
  }
}

/** A playback has no teams, but the agents' names contain the sides. */
function targetsIn({ bodies, agents }: Scene): Targets {
  const ball = bodies.findIndex((name) => /(^|\/)ball$/i.test(name))
  const players = agents
    .filter(({ body }) => body >= 0)
    .map(({ name, body }) => ({ label: name, body, side: sideOf(name) }))
  return { ball: ball < 0 ? null : ball, players }
}

function targetsOf({ ball, players, teams }: Game): Targets {
  return {
    ball,
    players: players.map(({ side, number, body }) => ({ label: `${teamName(teams, side)} ${number}`, body, side })),
  }
}

/** Shown over an empty field: what to do next. */
function noPlayers(hello: Hello, startDemo: (() => Promise<void>) | null): HTMLElement {
  const agents = hello.addresses.filter(({ title }) => /soccer agents/i.test(title))
  const where = agents.map(({ address }) => address).join(', ')
  const connect = where === '' ? '' : `Agents connect to ${where}.`
  const next = startDemo ? 'Start a demo game, or connect your own team.' : 'An operator can start a demo game.'
  const start = startDemo && button('Start a demo game', startDemo, { kind: 'primary', test: 'demo-start-empty' })
  return h(
    'div',
    { class: 'no-players', 'data-test': 'no-players' },
    empty('No players yet', `${next} ${connect}`, ...(start ? [start] : [])),
  )
}
