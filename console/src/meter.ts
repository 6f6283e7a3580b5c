// One value: its latest figure, and a plot of its last seconds.

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

  /** `lay` puts figure and plot where the page wants them. */
  constructor(
    { label, colour, ...options }: MeterOptions,
    arrange: (figure: HTMLElement, plot: HTMLElement) => HTMLElement,
  ) {
    const holder = h('div')
    this.element = arrange(this.#figure, holder)
    this.#plot = new LivePlot(holder, { title: '', series: [{ label, colour }], ...options })
  }

  /** The value at a time, in s, and how it reads. */
  show(time: number, value: number, words: string): void {
    setText(this.#figure, words)
    this.#plot.add(time, [value])
  }

  close(): void {
    this.#plot.close()
  }
}
