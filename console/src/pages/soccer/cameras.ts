// Camera buttons.

import type { Side } from '../../api'
import { h, select } from '../../ui'
import type { View } from '../../view/view'

/** Distance from which the camera follows the ball: the players around it stay visible. */
const FROM_BALL_M = 9

/** Bodies that the camera can follow. */
export interface Targets {
  ball: number | null
  /** `side` is null if unknown. */
  players: { label: string; body: number; side: Side | null }[]
}

export interface Cameras {
  element: HTMLElement
  show(targets: Targets): void
  /** Follows a body, or none. */
  follow(body: number | null): void
}

/** Creates the camera buttons; `followed` is called with the followed body. */
export function cameras(view: View, followed: (body: number | null) => void): Cameras {
  let ball: number | null = null
  let at: number | null = null
  let shown = ''
  const presets = {
    field: preset('Field', () => look('field')),
    above: preset('Above', () => look('above')),
    ball: preset('Ball', () => follow(ball)),
  }
  presets.ball.disabled = true
  const player = select([{ value: '', label: 'Player …' }], '', (value) => follow(value === '' ? null : Number(value)))
  player.setAttribute('aria-label', 'Follow a player')
  player.dataset.test = 'camera-player'
  press(presets.field)

  function press(pressed: HTMLButtonElement | null): void {
    for (const one of Object.values(presets)) one.setAttribute('aria-pressed', String(one === pressed))
  }

  function look(place: 'field' | 'above'): void {
    at = null
    view.follow(null)
    view.lookFrom(place)
    press(presets[place])
    player.value = ''
    followed(null)
  }

  function follow(body: number | null): void {
    // a click on nothing only ends following
    if (body === null && at === null) return
    at = body
    view.follow(body, body === ball ? FROM_BALL_M : null)
    press(body !== null && body === ball ? presets.ball : null)
    player.value = body === null ? '' : String(body)
    // bodies other than players are not in the list
    if (player.selectedIndex < 0) player.value = ''
    followed(body)
  }

  return {
    element: h('div', { class: 'cameras', role: 'group', 'aria-label': 'Camera' }, ...Object.values(presets), player),
    show(targets) {
      const now = JSON.stringify(targets)
      if (now === shown) return
      shown = now
      ball = targets.ball
      presets.ball.disabled = ball === null
      presets.ball.title = ball === null ? 'No ball.' : 'Follow the ball'
      listPlayers(player, targets)
    },
    follow,
  }
}

/** Replaces the options; the chosen player stays chosen if it is still there. */
function listPlayers(list: HTMLSelectElement, { players }: Targets): void {
  const chosen = list.value
  list.replaceChildren(
    h('option', { value: '' }, 'Player …'),
    ...players.map(({ label, body }) => h('option', { value: String(body) }, label)),
  )
  list.value = chosen
  if (list.selectedIndex < 0) list.value = ''
  list.disabled = players.length === 0
}

function preset(label: string, act: () => void): HTMLButtonElement {
  return h(
    'button',
    {
      class: 'plain toggle',
      type: 'button',
      'aria-pressed': 'false',
      'data-test': `camera-${label.toLowerCase()}`,
      onclick: act,
    },
    label,
  )
}
