// The best fitness of several runs in one plot.

import type { RunDetail, RunSummary } from '../../api'
import { card, h } from '../../ui'
import { comparedCurves } from './compared-curves'
import { labelledCurves } from './fitness-plots'

export interface Comparison {
  element: HTMLElement
  show(runs: readonly RunSummary[], details: ReadonlyMap<string, RunDetail>): void
  close(): void
}

export function comparison(): Comparison {
  const holder = h('div', { class: 'plot-holder' })
  const element = card('Comparison', holder)
  element.dataset.test = 'comparison'
  element.hidden = true
  const curves = labelledCurves(holder, 'Best fitness by generation', 260)
  return {
    element,
    show(runs, details) {
      element.hidden = runs.length < 2
      if (!element.hidden) curves.show(comparedCurves(runs, details))
    },
    close: () => curves.close(),
  }
}
