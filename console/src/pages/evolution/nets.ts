// The best network, or that of each population.

import type { PopulationDetail } from '../../api'
import { h } from '../../ui'
import { type NetDrawing, netDrawing } from './net-drawing'

export interface NetsCard {
  element: HTMLElement
  show(populations: readonly PopulationDetail[]): void
}

export function netsCard(): NetsCard {
  const holder = h('div', { class: 'nets' })
  const drawings = new Map<string, NetDrawing>()
  const show = (populations: readonly PopulationDetail[]) => {
    // before the first generation there is one without a name
    const shown = populations.length === 0 ? [{ population: '', net: null }] : populations
    const names = shown.map(({ population }) => population)
    if (names.join() !== [...drawings.keys()].join() || drawings.size === 0) {
      drawings.clear()
      for (const name of names) drawings.set(name, netDrawing())
      const parts = [...drawings].flatMap(([name, { element }]) =>
        name === '' ? [element] : [h('h3', null, name), element],
      )
      holder.replaceChildren(...parts)
    }
    for (const { population, net } of shown) drawings.get(population)?.show(net)
  }
  show([])
  return {
    element: h(
      'section',
      { class: 'card net-card', 'aria-label': 'Best network' },
      h('h2', null, 'Best network'),
      holder,
    ),
    show,
  }
}
