// Pause, play and reset of the world in which the game is.

import type { WorldState } from '../../api'
import type { Link } from '../../link'
import { button, h, say } from '../../ui'

export interface WorldControls {
  element: HTMLElement
  show(state: WorldState): void
}

export function worldControls(link: Link): WorldControls {
  const may = link.role === 'operator'
  const title = may ? undefined : 'Only operators may do this.'
  let paused = false
  const pause = button('Pause', () => link.ask({ do: paused ? 'play' : 'pause' }), {
    test: 'pause',
    disabled: !may,
    ...(title ? { title } : {}),
  })
  const reset = button('Reset', () => link.ask({ do: 'reset' }), {
    test: 'reset',
    disabled: !may,
    title: title ?? 'Puts everything back to the start',
  })
  const words = h('span', { class: 'quiet', 'data-test': 'world-words', role: 'status' }, '')
  return {
    element: h('div', { class: 'world-controls', role: 'group', 'aria-label': 'World' }, pause, reset, words),
    show(state) {
      paused = state.paused
      say(pause, paused ? 'Play' : 'Pause')
      words.classList.toggle('bad', state.standstill !== null)
      say(words, state.standstill ?? (paused ? 'paused' : ''))
    },
  }
}
