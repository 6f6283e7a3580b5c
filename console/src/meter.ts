// One value: its current reading, and a plot of the last seconds.

import { LivePlot, type LivePlotOptions } from './plot'
import { h, setText } from './ui'

export interface MeterOptions extends Omit<LivePlotOptions, 'title' | 'series'> {
  label: string
  colour?: string
}

export class Meter {
  readonly element: HTMLElement
  #figure = h('output', null, '–')
  #plot: LivePlot

  /** `arrange` places reading and plot in the page. */
  constructor(
    { label, colour, ...options }: MeterOptions,
    arrange: (figure: HTMLElement, plot: HTMLElement) => HTMLElement,
  ) {
    const holder = h('div')
    this.element = arrange(this.#figure, holder)
    this.#plot = new LivePlot(holder, { title: '', series: [{ label, colour }], ...options })
  }

  /** Adds a value at a time, in s; `words` is its formatted text. */
  show(time: number, value: number, words: string): void {
    setText(this.#figure, words)
    this.#plot.add(time, [value])
  }

  close(): void {
    this.#plot.close()
  }
}
