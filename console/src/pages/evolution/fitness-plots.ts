// Fitness and diversity of a run by generation, with the curves of two populations in one plot.

import type { PopulationDetail, RunDetail } from '../../api'
import { Curves } from '../../plot'
import { card, h } from '../../ui'
import { type Curve, joined } from './columns'
import type { LabelledCurve } from './compared-curves'

const HEIGHT = 250

export interface FitnessPlots {
  element: HTMLElement
  show(detail: RunDetail): void
  clear(): void
  close(): void
}

export function fitnessPlots(): FitnessPlots {
  const left = h('div', { class: 'plot-holder', 'data-test': 'fitness-plot' })
  const right = h('div', { class: 'plot-holder' })
  const fitness = labelledCurves(left, 'Fitness by generation')
  const diversity = labelledCurves(right, 'Diversity by generation')
  return {
    element: h('div', { class: 'plots' }, card('Fitness', left), card('Diversity', right)),
    show({ populations }) {
      fitness.show(populations.flatMap(fitnessCurves))
      diversity.show(populations.map((of) => ({ label: of.population || 'diversity', curve: curve(of, of.diversity) })))
    },
    clear() {
      fitness.show([])
      diversity.show([])
    },
    close() {
      fitness.close()
      diversity.close()
    },
  }
}

function curve({ generations }: PopulationDetail, y: readonly number[]): Curve {
  return { x: generations, y }
}

/** A fitness that depends on another population has no best so far. */
function fitnessCurves(of: PopulationDetail): LabelledCurve[] {
  const named = (label: string, y: readonly number[]) => ({ label, curve: curve(of, y) })
  if (of.population !== '') return [named(`${of.population}: best`, of.best), named(`${of.population}: mean`, of.mean)]
  return [
    named('best so far', of.best_so_far),
    named('best', of.best),
    named('mean', of.mean),
    named('worst', of.worst),
  ]
}

/** A plot that is made again when the labels of its curves change. */
export function labelledCurves(holder: HTMLElement, title: string, height = HEIGHT) {
  let curves: Curves | null = null
  let shown = ''
  return {
    show(lines: readonly LabelledCurve[]) {
      const labels = lines.map(({ label }) => label)
      const now = JSON.stringify(labels)
      if (now !== shown || curves === null) {
        shown = now
        curves?.close()
        curves = new Curves(holder, { title, x: 'generation', series: labels.map((label) => ({ label })), height })
      }
      const { x, columns } = joined(lines.map((line) => line.curve))
      curves.set(x, columns)
    },
    close: () => curves?.close(),
  }
}
