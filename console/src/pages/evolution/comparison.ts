// Best-so-far curves of several runs in one plot.

import type { RunDetail } from '../../api'
import { Curves } from '../../plot'
import { card, h } from '../../ui'
import { padded } from './columns'

export interface Comparison {
  element: HTMLElement
  show(names: string[], details: ReadonlyMap<string, RunDetail>): void
  close(): void
}

export function comparison(): Comparison {
  const holder = h('div', { class: 'plot-holder' })
  const element = card('Comparison', holder)
  element.dataset.test = 'comparison'
  element.hidden = true
  let curves: Curves | null = null
  let shown = ''
  return {
    element,
    show(names, details) {
      const many = names.length >= 2
      element.hidden = !many
      const now = JSON.stringify(names)
      if (now !== shown) {
        shown = now
        curves?.close()
        const series = names.map((label) => ({ label }))
        const options = { title: 'Best fitness so far', x: 'generation', series, height: 260 }
        curves = many ? new Curves(holder, options) : null
      }
      const { x, columns } = padded(names.map((name) => details.get(name)?.best_so_far ?? []))
      curves?.set(x, columns)
    },
    close: () => curves?.close(),
  }
}
