// The Soccer page: the game, the referee, the trainer's commands, and playback of recorded games.

import { Frame, type Game, type Hello, type Scene, type SoccerInfo, type Topic } from '../api'
import type { Connection } from '../connection'
import type { Opener, Page } from '../page'
import { button, empty, h } from '../ui'
import { View } from '../view/view'
import { cameras, type Targets } from './soccer/cameras'
import { decisionList } from './soccer/decisions'
import { type DemoGame, demoGame } from './soccer/demo'
import { type Dragging, dragging } from './soccer/dragging'
import { sideOf, teamName } from './soccer/labels'
import { Playback } from './soccer/playback'
import { type PlaybackList, playbackList } from './soccer/playback-list'
import { createPlaybackPanel, type PlaybackPanel } from './soccer/playback-panel'
import { teamRings } from './soccer/rings'
import { scoreboard } from './soccer/scoreboard'
import { teamLists } from './soccer/team-lists'
import { type Trainer, trainer } from './soccer/trainer'
import { type WorldControls, worldControls } from './soccer/world'
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
  return new GamePage(connection, hello, soccer)
}

class GamePage implements Page {
  readonly topics = TOPICS
  readonly element: HTMLElement
  readonly #connection: Connection
  readonly #holder = h('div', { class: 'pitch', 'data-test': 'soccer-view' })
  readonly #view = new View(this.#holder)
  readonly #board = scoreboard()
  readonly #decisions = decisionList()
  readonly #teams = teamLists((player) => this.#camera.follow(player.body))
  readonly #camera = cameras(this.#view, (body) => this.#teams.followed(body))
  readonly #rings = teamRings(this.#view)
  readonly #drag: Dragging
  readonly #trainer: Trainer
  readonly #demo: DemoGame
  readonly #world: WorldControls
  readonly #nobody: HTMLElement
  readonly #playback: Playback
  readonly #playbackPanel: PlaybackPanel
  readonly #entries: PlaybackList
  readonly #ends: (() => void)[]
  #game: Game | null = null
  #live: Scene | null = null
  #isPlayback = false

  constructor(connection: Connection, hello: Hello, soccer: SoccerInfo) {
    this.#connection = connection
    this.#drag = dragging(connection, this.#view)
    this.#trainer = trainer(connection, soccer)
    this.#demo = demoGame(connection, soccer)
    this.#world = worldControls(connection)
    this.#nobody = noPlayers(hello, connection.role === 'operator' ? () => this.#demo.start() : null)
    this.#playback = new Playback(connection, this.#view)
    this.#playbackPanel = createPlaybackPanel(this.#playback)
    this.#entries = playbackList(connection, (name) => void this.#playback.open(name))
    this.#playback.onChange = () => this.#playbackChanged()
    this.#playback.onScene = (scene) => this.#aim(targetsIn(scene))
    this.#view.onPick = (body) => this.#camera.follow(body)
    this.#ends = [
      connection.on('scene', (scene) => this.#setScene(scene)),
      connection.onFrame(Frame.poses, (frame) => {
        if (!this.#isPlayback) this.#view.pose(frame)
      }),
      connection.on('state', (state) => this.#world.show(state)),
      connection.on('game', (game) => this.#update(game)),
      connection.on('decisions', ({ decisions }) => this.#decisions.add(decisions)),
    ]
    this.element = this.#layout()
  }

  close(): void {
    for (const end of this.#ends) end()
    this.#entries.close()
    this.#playbackPanel.close()
    this.#playback.close()
    this.#view.close()
  }

  #layout(): HTMLElement {
    const liveOnly = (...children: HTMLElement[]) => h('div', { class: 'live-only' }, ...children)
    const playbackOnly = (...children: HTMLElement[]) => h('div', { class: 'playback-only' }, ...children)
    const { head, bar, marks } = this.#playbackPanel
    return h(
      'div',
      { class: 'soccer' },
      h('div', { class: 'live-only board' }, this.#board.element),
      h('div', { class: 'playback-only board' }, head),
      h(
        'div',
        { class: 'stage' },
        h('div', { class: 'stage-bar' }, this.#camera.element, liveOnly(this.#world.element)),
        h('div', { class: 'picture' }, this.#holder, liveOnly(this.#nobody)),
        playbackOnly(bar),
      ),
      h(
        'div',
        { class: 'side' },
        playbackOnly(marks),
        h('div', { class: 'live-only side-cards' }, this.#demo.element, this.#decisions.element, this.#trainer.element),
      ),
      h('div', { class: 'below' }, liveOnly(this.#teams.element), this.#entries.element),
    )
  }

  #aim(targets: Targets): void {
    this.#camera.show(targets)
    this.#rings.show(targets)
  }

  #setScene(scene: Scene): void {
    const first = this.#live === null
    this.#live = scene
    if (!this.#isPlayback) this.#view.setScene(scene)
    if (first) this.#view.lookFrom('field')
  }

  #update(game: Game): void {
    this.#game = game
    for (const part of [this.#board, this.#trainer, this.#demo, this.#teams, this.#drag]) part.show(game)
    if (!this.#isPlayback) this.#aim(targetsOf(game))
    this.#nobody.hidden = game.players.length > 0
  }

  #playbackChanged(): void {
    const { status } = this.#playback
    this.#entries.watched(status?.name ?? null)
    if (this.#isPlayback !== (status !== null)) {
      this.#isPlayback = status !== null
      this.#switchSource()
    }
    if (status) this.#playbackPanel.show(status)
  }

  /** Switches between the live game and playback. */
  #switchSource(): void {
    this.element.classList.toggle('is-playback', this.#isPlayback)
    this.#camera.follow(null)
    this.#drag.allow(!this.#isPlayback)
    this.#connection.watch(this.#isPlayback ? ['world', 'soccer'] : TOPICS)
    // the list of recordings is far below the picture
    scrollTo({ top: 0 })
    if (this.#isPlayback) {
      this.#playbackPanel.focus()
      return
    }
    if (this.#live) this.#view.setScene(this.#live)
    if (this.#game) this.#aim(targetsOf(this.#game))
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
