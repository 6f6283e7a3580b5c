// Figures of a run, in words.

import type { RunSummary } from '../../api'
import { format } from '../../ui'

/** The best fitness, or that of each population. */
export function bestFitness({ best }: RunSummary): string {
  const words = best.map(({ population, fitness }) => `${population} ${format(fitness, 4)}`.trim())
  return words.length === 0 ? '–' : words.join(', ')
}

/** `3 of 100`, or `3` if the run goes on until it is stopped. */
export function progressOf({ generation, generations }: RunSummary): string {
  return generations === 0 ? String(generation) : `${generation} of ${generations}`
}
