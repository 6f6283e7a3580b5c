// Metrics, with plots of the last two minutes.

import type { Gauge } from '../../api'
import type { Connection } from '../../connection'
import { Meter } from '../../meter'
import { empty, fill, format, h } from '../../ui'

const SECONDS = 120
const PLOT_HEIGHT = 84

export class Gauges {
  readonly element = h('div', { class: 'health-gauges', 'data-test': 'gauges' })
  #gauges = new Map<string, Meter>()
  #begun = performance.now()
  #end: () => void

  constructor(connection: Connection) {
    fill(this.element, empty('No metrics yet', 'They arrive once a second.'))
    this.#end = connection.on('health', ({ gauges }) => this.#hear(gauges))
  }

  close(): void {
    this.#end()
    for (const gauge of this.#gauges.values()) gauge.close()
  }

  #hear(figures: Gauge[]): void {
    const names = figures.map(({ name }) => name)
    if (names.join() !== [...this.#gauges.keys()].join()) this.#remake(figures)
    const time = (performance.now() - this.#begun) / 1000
    for (const figure of figures) {
      const words = `${brief(figure.value)}${figure.unit ? ` ${figure.unit}` : ''}`
      this.#gauges.get(figure.name)?.show(time, figure.value, words)
    }
  }

  /** Replaces the set of metrics; those that stay keep their plots. */
  #remake(figures: Gauge[]): void {
    const before = this.#gauges
    this.#gauges = new Map(figures.map((figure) => [figure.name, before.get(figure.name) ?? gaugeOf(figure)]))
    for (const [name, gauge] of before) if (!this.#gauges.has(name)) gauge.close()
    fill(this.element, ...[...this.#gauges.values()].map(({ element }) => element))
  }
}

function gaugeOf({ name, help }: Gauge): Meter {
  return new Meter({ label: name, seconds: SECONDS, height: PLOT_HEIGHT }, (figure, plot) => {
    figure.classList.add('health-value')
    return h(
      'div',
      { class: 'health-gauge', 'data-test': 'gauge', title: help },
      h('div', null, h('h3', null, name), figure),
      h('p', { class: 'quiet' }, help),
      plot,
    )
  })
}

/** Formats with a sensible number of digits. */
function brief(value: number): string {
  const size = Math.abs(value)
  return format(value, Number.isInteger(value) || size >= 1000 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4)
}
