// The scoreboard: teams, score, half, clock and play mode.

import type { Game } from '../../api'
import { h, setText } from '../../ui'
import { clock, halfLabel, modeLabel, teamName } from './labels'

export interface Scoreboard {
  element: HTMLElement
  show(game: Game): void
}

export function scoreboard(): Scoreboard {
  const left = h('span', { class: 'team left', 'data-test': 'team-left' }, 'Left team')
  const right = h('span', { class: 'team right', 'data-test': 'team-right' }, 'Right team')
  const score = h('span', { class: 'score', 'data-test': 'score', 'aria-live': 'polite' }, '0 : 0')
  const half = h('span', { 'data-test': 'half' }, '')
  const time = h('span', { class: 'clock', 'data-test': 'clock' }, '00:00')
  const mode = h('span', { class: 'mode', 'data-test': 'mode', 'aria-live': 'polite' }, 'Waiting for the game')
  const element = h(
    'section',
    { class: 'scoreboard', 'aria-label': 'Scoreboard' },
    left,
    score,
    right,
    h('div', { class: 'about' }, half, time, mode),
  )
  return {
    element,
    show(game) {
      setText(left, teamName(game.teams, 'left'))
      setText(right, teamName(game.teams, 'right'))
      left.title = teamName(game.teams, 'left')
      right.title = teamName(game.teams, 'right')
      setText(score, `${game.score[0]} : ${game.score[1]}`)
      setText(half, halfLabel(game.half))
      setText(time, clock(game.play_time))
      setText(mode, modeLabel(game.mode, game.teams))
      mode.dataset.mode = game.mode
    },
  }
}
