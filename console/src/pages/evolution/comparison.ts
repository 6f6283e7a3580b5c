// Best-so-far curves of several runs in one plot.

import type { RunDetail } from '../../api'
import { card, h } from '../../ui'
import { labelledCurves } from './fitness-plots'

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
  const curves = labelledCurves(holder, 'Best fitness so far', 260)
  return {
    element,
    show(names, details) {
      element.hidden = names.length < 2
      if (!element.hidden) curves.show(names.flatMap((name) => curvesOf(name, details.get(name))))
    },
    close: () => curves.close(),
  }
}

/** A run with two populations has two curves, of the best of each generation. */
function curvesOf(name: string, detail: RunDetail | undefined) {
  const populations = detail?.populations ?? []
  if (populations.length === 0) return [{ label: name, curve: { x: [], y: [] } }]
  return populations.map(({ population, generations, best, best_so_far }) => ({
    label: population === '' ? name : `${name}: ${population}`,
    curve: { x: generations, y: population === '' ? best_so_far : best },
  }))
}
