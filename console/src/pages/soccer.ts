// The soccer page: the game, its referee, the trainer's commands, and films of games.

import { Frame, type Game, type Hello, type Scene, type SoccerInfo, type Topic } from '../api'
import type { Link } from '../link'
import type { Opener, Page } from '../page'
import { button, empty, h } from '../ui'
import { View } from '../view/view'
import { cameras, type Targets } from './soccer/cameras'
import { decisionList } from './soccer/decisions'
import { demoGame } from './soccer/demo'
import { dragging } from './soccer/dragging'
import { filmList } from './soccer/films'
import { Projector } from './soccer/projector'
import { teamRings } from './soccer/rings'
import { scoreboard } from './soccer/scoreboard'
import { squads } from './soccer/squads'
import { theatre } from './soccer/theatre'
import { trainer } from './soccer/trainer'
import { sideOf, teamName } from './soccer/words'
import { worldControls } from './soccer/world'
import './soccer.css'

const TOPICS: Topic[] = ['world', 'poses', 'soccer']

export const open: Opener = (link) => {
  const soccer = link.hello?.soccer
  return link.hello && soccer ? gamePage(link, link.hello, soccer) : noSoccer()
}

function noSoccer(): Page {
  const words =
    'The world that runs has no field and no referee. Start “rossum soccer”, or “rossum serve --scenario soccer”, ' +
    'and open the link that it prints.'
  return {
    element: h('div', { class: 'soccer-none', 'data-test': 'no-soccer' }, empty('No soccer in this scenario', words)),
    topics: [],
    close: () => undefined,
  }
}

function gamePage(link: Link, hello: Hello, soccer: SoccerInfo): Page {
  const holder = h('div', { class: 'pitch', 'data-test': 'soccer-view' })
  const view = new View(holder)
  const board = scoreboard()
  const decisions = decisionList()
  const teams = squads((player) => camera.follow(player.body))
  const camera = cameras(view, (body) => teams.followed(body))
  const rings = teamRings(view)
  const drag = dragging(link, view)
  const orders = trainer(link, soccer)
  const demo = demoGame(link, soccer)
  const world = worldControls(link)
  const nobody = noPlayers(hello, link.role === 'operator' ? () => demo.start() : null)
  const projector = new Projector(link, view)
  const film = theatre(projector)
  const films = filmList(link, (name) => void projector.open(name))

  let game: Game | null = null
  let live: Scene | null = null
  let isFilm = false

  function aim(targets: Targets): void {
    camera.show(targets)
    rings.show(targets)
  }

  /** From the live game to a film, and back. */
  function turn(): void {
    element.classList.toggle('is-film', isFilm)
    camera.follow(null)
    drag.allow(!isFilm)
    link.watch(isFilm ? ['world', 'soccer'] : TOPICS)
    // the list of films is far below the picture
    scrollTo({ top: 0 })
    if (isFilm) {
      film.focus()
      return
    }
    if (live) view.setScene(live)
    if (game) aim(targetsOf(game))
  }

  projector.onChange = () => {
    const showing = projector.showing
    films.watched(showing?.name ?? null)
    if (isFilm !== (showing !== null)) {
      isFilm = showing !== null
      turn()
    }
    if (showing) film.show(showing)
  }
  projector.onScene = (scene) => aim(targetsIn(scene))
  view.onPick = (body) => camera.follow(body)

  const ends = [
    link.on('scene', (scene) => {
      const first = live === null
      live = scene
      if (!isFilm) view.setScene(scene)
      if (first) view.lookFrom('field')
    }),
    link.onFrame(Frame.poses, (frame) => {
      if (!isFilm) view.pose(frame)
    }),
    link.on('state', (state) => world.show(state)),
    link.on('game', (now) => {
      game = now
      for (const part of [board, orders, demo, teams, drag]) part.show(now)
      if (!isFilm) aim(targetsOf(now))
      nobody.hidden = now.players.length > 0
    }),
    link.on('decisions', (message) => decisions.add(message.decisions)),
  ]

  const element = h(
    'div',
    { class: 'soccer' },
    h('div', { class: 'live-only board' }, board.element),
    h('div', { class: 'film-only board' }, film.head),
    h(
      'div',
      { class: 'stage' },
      h('div', { class: 'stage-bar' }, camera.element, h('div', { class: 'live-only' }, world.element)),
      h('div', { class: 'picture' }, holder, h('div', { class: 'live-only' }, nobody)),
      h('div', { class: 'film-only' }, film.bar),
    ),
    h(
      'div',
      { class: 'side' },
      h('div', { class: 'film-only' }, film.marks),
      h('div', { class: 'live-only side-cards' }, demo.element, decisions.element, orders.element),
    ),
    h('div', { class: 'below' }, h('div', { class: 'live-only' }, teams.element), films.element),
  )

  return {
    element,
    topics: TOPICS,
    close() {
      for (const end of ends) end()
      films.close()
      film.close()
      projector.close()
      view.close()
    },
  }
}

/** A film knows no teams, but it has the names of those who play. */
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

/** Over an empty field: what to do next. */
function noPlayers(hello: Hello, startDemo: (() => Promise<void>) | null): HTMLElement {
  const agents = hello.addresses.filter(({ title }) => /soccer agents/i.test(title))
  const where = agents.map(({ address }) => address).join(', ')
  const connect = where === '' ? '' : `Agents connect to ${where}.`
  const next = startDemo ? 'Start a demo game, or let your own team in.' : 'An operator can start a demo game.'
  const start = startDemo && button('Start a demo game', startDemo, { kind: 'primary', test: 'demo-start-empty' })
  return h(
    'div',
    { class: 'no-players', 'data-test': 'no-players' },
    empty('Nobody on the field yet', `${next} ${connect}`, ...(start ? [start] : [])),
  )
}
