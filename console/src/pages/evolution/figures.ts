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

/** What the workers of a run on a cluster have done; empty if it has none. */
export function workersOf({ workers: of, state }: RunSummary): string {
  if (of === null) return ''
  const words =
    state === 'running' ? [`${counted(of.workers, 'worker')}, ${of.finished} of ${of.total} individuals`] : []
  if (of.lost > 0) words.push(`${counted(of.lost, 'worker')} lost, ${counted(of.retried, 'task')} retried`)
  return words.join('; ')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
