// A robot's sensors as live plots: up to six, selected from a list.

import type { AgentReadings, Sensor } from '../../api'
import { Meter } from '../../meter'
import { COLOURS } from '../../plot'
import { empty, fill, format, h, setText } from '../../ui'

const MOST = 6
const SECONDS = 10
const PLOT_HEIGHT = 88
/** Sensor values are normalised; smaller spans are noise. */
const LEAST = 0.02

export class Sensors {
  readonly element: HTMLElement
  #senses: Sensor[]
  #shown = new Map<number, Meter>()
  #boxes: HTMLInputElement[] = []
  #plots = h('div', { class: 'stack', 'data-test': 'sensor-plots' })
  #count = h('span', { class: 'quiet' })

  constructor(senses: Sensor[]) {
    this.#senses = senses
    const rows = senses.map((sense, at) => this.#row(sense, at))
    const filter = h('input', {
      type: 'search',
      placeholder: 'Search sensors',
      'aria-label': 'Search sensors',
      oninput: () => {
        const words = filter.value.trim().toLowerCase()
        for (const [at, row] of rows.entries()) row.hidden = !senses[at]?.name.toLowerCase().includes(words)
      },
    })
    this.element = h(
      'section',
      { class: 'stack', 'aria-label': 'Sensors' },
      h('h3', null, `Sensors (${senses.length})`),
    )
    if (senses.length === 0) {
      this.element.append(empty('No sensors', 'This robot has no sensors.'))
      return
    }
    this.element.append(
      this.#plots,
      h('div', { class: 'row' }, h('div', { class: 'grow' }, filter), this.#count),
      h('div', { class: 'world-sensors scroll', 'data-test': 'sensors' }, ...rows),
    )
    // preselect two
    this.#choose(0, true)
    if (senses.length > 1) this.#choose(1, true)
  }

  hear(news: AgentReadings): void {
    for (const [at, meter] of this.#shown) {
      const number = news.senses[at]
      // NaN arrives as null
      if (typeof number === 'number') meter.show(news.time, number, format(number, 3))
    }
  }

  close(): void {
    for (const meter of this.#shown.values()) meter.close()
    this.#shown.clear()
  }

  #row(sense: Sensor, at: number): HTMLElement {
    const box = h('input', { type: 'checkbox', onchange: () => this.#choose(at, box.checked) })
    this.#boxes.push(box)
    return h(
      'label',
      { class: 'world-sensor' },
      box,
      h('span', { class: 'mono' }, sense.name),
      sense.info && h('span', { class: 'badge', title: 'Known to the simulator, not measured by the robot' }, 'info'),
    )
  }

  #choose(at: number, wanted: boolean): void {
    const there = this.#shown.get(at)
    if (wanted && !there && this.#shown.size < MOST) this.#shown.set(at, this.#plot(at))
    else if (!wanted && there) {
      there.close()
      this.#shown.delete(at)
    }
    this.#boxes.forEach((box, number) => {
      box.checked = this.#shown.has(number)
      box.disabled = !box.checked && this.#shown.size >= MOST
      box.title = box.disabled ? `${MOST} at most: deselect one first.` : ''
    })
    setText(this.#count, `${this.#shown.size} shown, ${MOST} at most`)
    const inOrder = [...this.#shown].toSorted(([a], [b]) => a - b)
    fill(this.#plots, ...inOrder.map(([, { element }]) => element))
  }

  #plot(at: number): Meter {
    const name = this.#senses[at]?.name ?? ''
    const colour = COLOURS[at % COLOURS.length]
    const options = { label: name, colour, seconds: SECONDS, height: PLOT_HEIGHT, least: LEAST }
    return new Meter(options, (figure, plot) => {
      figure.classList.add('mono')
      return h('div', { class: 'world-plot' }, h('div', null, h('span', { class: 'mono' }, name), figure), plot)
    })
  }
}
