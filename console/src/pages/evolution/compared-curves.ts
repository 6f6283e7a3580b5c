// The curves of several runs in one plot.

import type { RunDetail, RunSummary } from '../../api'
import type { Curve } from './columns'

export interface LabelledCurve {
  label: string
  curve: Curve
}

/**
 * The best fitness so far of each run. A fitness that depends on others is no measure across generations: of two populations,
 * and of a run whose individuals may meet others in a World Simulator, there is the best of each generation.
 */
export function comparedCurves(runs: readonly RunSummary[], details: ReadonlyMap<string, RunDetail>): LabelledCurve[] {
  return runs.flatMap(({ name, here }) => {
    const populations = details.get(name)?.populations ?? []
    if (populations.length === 0) return [{ label: name, curve: { x: [], y: [] } }]
    return populations.map(({ population, generations, best, best_so_far }) => ({
      label: population === '' ? name : `${name}: ${population}`,
      curve: { x: generations, y: here && population === '' ? best_so_far : best },
    }))
  })
}
