// Plots: a sliding window for live values, and curves for complete series. Both resize with their container and follow
// the light or dark theme.

import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

import { format, h } from './ui'

/** Readable on light and dark backgrounds, and distinguishable with colour blindness. */
export const COLOURS = ['#2f7de1', '#e07b00', '#1f9d63', '#c2458f', '#8a63d2', '#9a8400', '#d64545', '#0f9aa8']

const dark = matchMedia('(prefers-color-scheme: dark)')

export interface LivePlotOptions {
  title: string
  series: { label: string; colour?: string }[]
  /** Length of the window. */
  seconds: number
  height: number
  /** Minimum span of the y axis. */
  least?: number
}

/** Recent values. Restarts when time jumps back. */
export class LivePlot {
  #chart: Chart
  #seconds: number
  #columns: number[][]
  #waiting = 0

  constructor(holder: HTMLElement, options: LivePlotOptions) {
    this.#seconds = options.seconds
    this.#columns = [[], ...options.series.map(() => [])]
    this.#chart = new Chart(holder, { ...options, x: 's' }, () => [-options.seconds, 0])
  }

  add(time: number, values: number[]): void {
    const times = this.#columns[0] ?? []
    const last = times.at(-1)
    if (last !== undefined && time < last) this.clear()
    else if (last === time) return
    const row = [time, ...values]
    for (const [at, column] of this.#columns.entries()) column.push(row[at] ?? NaN)
    // keep one point outside the window, so that the line starts at the edge
    const old = times.findIndex((t) => t >= time - this.#seconds) - 1
    if (old > 0) for (const column of this.#columns) column.splice(0, old)
    if (this.#waiting === 0) this.#waiting = requestAnimationFrame(() => this.#draw())
  }

  clear(): void {
    for (const column of this.#columns) column.length = 0
    this.#draw()
  }

  close(): void {
    cancelAnimationFrame(this.#waiting)
    this.#chart.close()
  }

  #draw(): void {
    this.#waiting = 0
    // plotted as seconds ago, so that the grid does not move
    const [times = [], ...columns] = this.#columns
    const now = times.at(-1) ?? 0
    this.#chart.set([times.map((time) => time - now), ...columns])
  }
}

export interface CurvesOptions {
  title: string
  /** Label of the x axis. */
  x: string
  series: { label: string; colour?: string }[]
  height: number
  least?: number
}

/** Complete curves over a counter, such as generations. */
export class Curves {
  #chart: Chart

  constructor(holder: HTMLElement, options: CurvesOptions) {
    this.#chart = new Chart(holder, options)
  }

  set(x: number[], columns: (number | null)[][]): void {
    this.#chart.set([x, ...columns])
  }

  close(): void {
    this.#chart.close()
  }
}

type Range = () => [number, number]

/** A uPlot that is recreated when the theme changes, since its axes have explicit colours. */
class Chart {
  #element: HTMLElement
  #options: CurvesOptions
  #range: Range | undefined
  #plot: uPlot
  #data: uPlot.AlignedData
  #resized: ResizeObserver
  #onThemeChange = () => this.#remake()

  constructor(holder: HTMLElement, options: CurvesOptions, range?: Range) {
    this.#options = options
    this.#range = range
    this.#data = [[], ...options.series.map(() => [])]
    this.#element = h('div', { class: 'plot', role: 'img', 'aria-label': options.title })
    this.#element.style.height = `${options.height}px`
    holder.append(this.#element)
    this.#plot = this.#make()
    this.#resized = new ResizeObserver(() => this.#fit())
    this.#resized.observe(this.#element)
    dark.addEventListener('change', this.#onThemeChange)
  }

  set(data: (number | null)[][]): void {
    this.#data = data as uPlot.AlignedData
    this.#plot.setData(this.#data)
  }

  close(): void {
    dark.removeEventListener('change', this.#onThemeChange)
    this.#resized.disconnect()
    this.#plot.destroy()
    this.#element.remove()
  }

  #remake(): void {
    this.#plot.destroy()
    this.#plot = this.#make()
    this.#fit()
  }

  #fit(): void {
    const width = this.#element.clientWidth
    if (width > 0) this.#plot.setSize({ width, height: this.#height() })
  }

  /** Height of the canvas: without title and legend. */
  #height(): number {
    const { title, series, height } = this.#options
    return Math.max(40, height - (title ? 20 : 0) - (series.length > 1 ? 22 : 0))
  }

  #make(): uPlot {
    const { title, x, series } = this.#options
    const style = getComputedStyle(document.documentElement)
    const ink = style.getPropertyValue('--quiet').trim() || '#667'
    const line = style.getPropertyValue('--line').trim() || '#ccc'
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 }, gap: 3 }
    const font = '11px system-ui, sans-serif'
    return new uPlot(
      {
        title,
        width: Math.max(60, this.#element.clientWidth),
        height: this.#height(),
        pxAlign: 0,
        legend: { show: series.length > 1, live: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: {
          x: this.#range ? { time: false, range: this.#range } : { time: false },
          y: { range: stableRange(this.#options.least ?? 0) },
        },
        axes: [
          { ...axis, font, size: 22, values: labels, ...(this.#range ? {} : { incrs: WHOLE }) },
          { ...axis, font, size: 46, space: 22, values: labels },
        ],
        series: [
          { label: x },
          ...series.map(({ label, colour }, at) => ({
            label,
            stroke: colour ?? COLOURS[at % COLOURS.length] ?? ink,
            width: 1.5,
            spanGaps: true,
            points: { show: false },
          })),
        ],
      },
      this.#data,
      this.#element,
    )
  }
}

/** Grid steps of a counter. */
const WHOLE = [1, 10, 100, 1000, 10_000, 100_000].flatMap((unit) => [unit, 2 * unit, 5 * unit])

/** A y range that does not magnify noise in a nearly constant value. */
function stableRange(least: number): (plot: uPlot, min: number | null, max: number | null) => [number, number] {
  return (_, min, max) => {
    if (min === null || max === null || (min === 0 && max === 0)) return [0, 1]
    const span = Math.max(least, 0.04 * Math.max(Math.abs(min), Math.abs(max)))
    const more = Math.max(0, span - (max - min)) / 2
    const [low, high] = uPlot.rangeNum(min - more, max + more, 0.1, true)
    return [low ?? min, high ?? max]
  }
}

/** Formats grid values with as many digits as needed to distinguish them. */
function labels(_: uPlot, splits: number[], __: number, ___: number, step: number): string[] {
  // a step of 2.5 needs one digit
  const isWhole = (digits: number) => Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6
  let digits = Math.min(6, Math.max(0, Math.floor(-Math.log10(step))))
  while (digits < 6 && !isWhole(digits)) digits++
  return splits.map((value) => (Math.abs(value) >= 1e6 ? value.toExponential(1) : format(value, digits)))
}
