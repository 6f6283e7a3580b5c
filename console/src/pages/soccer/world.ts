// Pause, play and reset of the game's world.

import type { WorldState } from '../../api'
import type { Connection } from '../../connection'
import { button, h, setText } from '../../ui'

export interface WorldControls {
  element: HTMLElement
  show(state: WorldState): void
}

export function worldControls(connection: Connection): WorldControls {
  const may = connection.role === 'operator'
  const title = may ? undefined : 'Only operators can do this.'
  let paused = false
  const pause = button('Pause', () => connection.request({ do: paused ? 'play' : 'pause' }), {
    test: 'pause',
    disabled: !may,
    ...(title ? { title } : {}),
  })
  const reset = button('Reset', () => connection.request({ do: 'reset' }), {
    test: 'reset',
    disabled: !may,
    title: title ?? 'Reset the world',
  })
  const words = h('span', { class: 'quiet', 'data-test': 'world-words', role: 'status' }, '')
  return {
    element: h('div', { class: 'world-controls', role: 'group', 'aria-label': 'World' }, pause, reset, words),
    show(state) {
      paused = state.paused
      setText(pause, paused ? 'Play' : 'Pause')
      words.classList.toggle('bad', state.standstill !== null)
      setText(words, state.standstill ?? (paused ? 'paused' : ''))
    },
  }
}
