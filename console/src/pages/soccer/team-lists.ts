// The players of both teams, by number.

import type { Game, Player, Side } from '../../api'
import { card, h, setText } from '../../ui'
import { teamName } from './labels'

export interface TeamLists {
  element: HTMLElement
  show(game: Game): void
  /** Highlights the player followed by the camera. */
  followed(body: number | null): void
}

export function teamLists(follow: (player: Player) => void): TeamLists {
  let body: number | null = null
  const sides = { left: teamList('left', follow), right: teamList('right', follow) }
  const mark = () => {
    for (const side of Object.values(sides)) side.mark(body)
  }
  return {
    element: card('Teams', h('div', { class: 'team-lists' }, sides.left.element, sides.right.element)),
    show(game) {
      sides.left.show(game)
      sides.right.show(game)
      mark()
    },
    followed(now) {
      body = now
      mark()
    },
  }
}

function teamList(side: Side, follow: (player: Player) => void) {
  const name = h('h3', { class: side }, '')
  const list = h('ul', { 'data-test': `players-${side}` })
  const none = h('p', { class: 'quiet' }, 'no players')
  let shown = ''
  return {
    element: h('div', { class: 'team-list' }, name, none, list),
    show(game: Game) {
      setText(name, teamName(game.teams, side))
      const players = game.players.filter((player) => player.side === side).sort((a, b) => a.number - b.number)
      // rebuilt only when players come or go, to keep the focus
      const now = JSON.stringify(players)
      if (now === shown) return
      shown = now
      none.hidden = players.length > 0
      list.replaceChildren(
        ...players.map((player) =>
          h(
            'li',
            null,
            h(
              'button',
              {
                class: `player ${side}`,
                type: 'button',
                title: `Follow ${player.agent}`,
                'data-test': 'player',
                'data-body': player.body,
                'aria-pressed': 'false',
                onclick: () => follow(player),
              },
              h('span', { class: 'shirt' }, player.number),
              h('span', { class: 'agent' }, player.agent),
            ),
          ),
        ),
      )
    },
    mark(body: number | null) {
      for (const item of list.querySelectorAll('button')) {
        item.setAttribute('aria-pressed', String(body !== null && item.dataset.body === String(body)))
      }
    },
  }
}
