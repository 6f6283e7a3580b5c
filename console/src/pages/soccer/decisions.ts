// The referee's decisions, latest first.

import type { Decision } from '../../api'
import { card, h } from '../../ui'
import { clock } from './labels'

/** Maximum number of rows. */
const SHOWN = 200

export interface DecisionList {
  element: HTMLElement
  add(decisions: Decision[]): void
}

export function decisionList(): DecisionList {
  const none = h('p', { class: 'quiet' }, 'None yet. Goals, fouls, set plays and play mode changes are listed here.')
  const list = h('ol', {
    class: 'decisions',
    'data-test': 'decisions',
    'aria-live': 'polite',
    'aria-relevant': 'additions',
  })
  // focusable, so that the keyboard can scroll it
  const holder = h(
    'div',
    { class: 'decisions-holder', tabIndex: 0, role: 'group', 'aria-label': 'Decisions' },
    none,
    list,
  )
  const known = new Map<number, string>()
  return {
    element: card('Referee', holder),
    add(decisions) {
      // a restarted server counts from the beginning
      if (decisions.some(({ number, text }) => (known.get(number) ?? text) !== text)) {
        known.clear()
        list.replaceChildren()
      }
      for (const { number, play_time, text } of decisions) {
        if (known.has(number)) continue
        known.set(number, text)
        list.prepend(h('li', { 'data-test': 'decision' }, h('time', null, clock(play_time)), h('span', null, text)))
      }
      while (list.children.length > SHOWN) list.lastElementChild?.remove()
      none.hidden = list.children.length > 0
    },
  }
}
