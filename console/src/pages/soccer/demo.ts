// The demo game between two example teams.

import type { Game, SoccerInfo } from '../../api'
import type { Connection } from '../../connection'
import { button, card, errorMessage, h, notice, setText } from '../../ui'
import { sentence } from './labels'
import { numberField } from './numbers'
import { forOperators } from './operators'

const PLAYERS = 3

export interface DemoGame {
  element: HTMLElement
  show(game: Game): void
  /** Same as the Start button. */
  start(): Promise<void>
}

export function demoGame(connection: Connection, soccer: SoccerInfo): DemoGame {
  const most = Math.max(1, soccer.players_per_team)
  const count = numberField('Team size', {
    value: Math.min(PLAYERS, most),
    min: 1,
    max: most,
    step: 1,
    test: 'demo-players',
  })
  const start = h('button', { class: 'primary', type: 'submit', 'data-test': 'demo-start' }, 'Start')
  const stop = button('Stop', () => connection.request({ do: 'stop-demo' }), { test: 'demo-stop', disabled: true })
  const words = h('p', { 'data-test': 'demo-words', role: 'status' }, 'Two example teams join and kick off.')
  const note = h('p', { class: 'demo-note', 'data-test': 'demo-note' }, '')
  const form = h(
    'form',
    {
      class: 'group',
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault()
        void begin()
      },
    },
    count.element,
    start,
    stop,
  )
  let running = false

  async function begin(): Promise<void> {
    const players = count.read()
    if (players === null) return
    start.disabled = true
    try {
      await connection.request({ do: 'demo', players })
    } catch (error) {
      notice(errorMessage(error), 'error')
    } finally {
      start.disabled = running
    }
  }

  const become = (now: boolean) => {
    running = now
    start.disabled = now
    start.title = now ? 'It is already running.' : ''
    stop.disabled = !now
    count.input.disabled = now
  }
  return {
    element: card('Demo game', forOperators(connection, form), h('div', { class: 'demo-words' }, words, note)),
    show({ demo }) {
      // report the end of a game, but not that none was started
      if (demo ?? running) setText(words, sentence(demo?.note ?? 'no demo game'))
      setText(note, demo ? `${demo.players} players per team.` : '')
      if ((demo !== null) !== running) become(demo !== null)
    },
    start: begin,
  }
}
