// The log, filtered by level and text. It follows the end unless it is paused or scrolled up.

import type { LogLine } from '../../api'
import type { Connection } from '../../connection'
import { button, empty, h, select, setText } from '../../ui'

const KEPT = 1000
const LEVELS = [
  { name: 'ERROR', label: 'Errors' },
  { name: 'WARN', label: 'Warnings and above' },
  { name: 'INFO', label: 'Info and above' },
  { name: 'DEBUG', label: 'Debug and above' },
  { name: 'TRACE', label: 'All levels' },
]

export function log(connection: Connection): { element: HTMLElement; close(): void } {
  return new Log(connection)
}

class Log {
  readonly element: HTMLElement
  readonly close: () => void
  readonly #box = h('div', {
    class: 'health-log mono',
    tabIndex: 0,
    role: 'log',
    'aria-label': 'Log',
    'aria-live': 'off',
    'data-test': 'log',
  })
  readonly #nothing = empty('No log lines', 'New lines appear here. If you filter, try another text or a lower level.')
  readonly #count = h('span', { class: 'quiet health-count' })
  readonly #words = h('input', {
    type: 'search',
    placeholder: 'Filter',
    'aria-label': 'Filter the log',
    oninput: () => this.#filter(),
  })
  readonly #pause = button('Pause', () => this.#togglePause())
  #kept: { line: LogLine; row: HTMLElement }[] = []
  /** Index of the least severe level to show. */
  #level = LEVELS.length - 1
  #paused = false
  #missed = 0

  constructor(connection: Connection) {
    const options = LEVELS.map(({ label }, at) => ({ value: String(at), label }))
    const level = select(options, String(this.#level), (value) => {
      this.#level = Number(value)
      this.#filter()
    })
    level.setAttribute('aria-label', 'Level')
    this.element = h(
      'div',
      { class: 'stack' },
      h('div', { class: 'row' }, h('div', { class: 'grow' }, this.#words), level, this.#pause, this.#count),
      h('div', { class: 'health-log-place' }, this.#box, this.#nothing),
    )
    this.close = connection.on('log', ({ lines }) => this.#add(lines))
    this.#showCount()
  }

  #togglePause(): void {
    this.#paused = !this.#paused
    this.#missed = 0
    setText(this.#pause, this.#paused ? 'Resume' : 'Pause')
    this.#filter()
  }

  #passes({ level, text }: LogLine): boolean {
    const isSevere = LEVELS.findIndex(({ name }) => name === level) <= this.#level
    return isSevere && text.toLowerCase().includes(this.#words.value.trim().toLowerCase())
  }

  #filter(): void {
    for (const { line, row } of this.#kept) row.hidden = !this.#passes(line)
    this.#showCount()
    if (!this.#paused) this.#box.scrollTop = this.#box.scrollHeight
  }

  #showCount(): void {
    const all = this.#kept.length
    const shown = this.#kept.filter(({ row }) => !row.hidden).length
    this.#nothing.hidden = shown > 0
    const lines = shown === all ? `${all} lines` : `${shown} of ${all} lines`
    setText(this.#count, this.#paused ? `Paused, ${this.#missed} new` : lines)
  }

  #add(lines: LogLine[]): void {
    const atEnd = this.#box.scrollTop + this.#box.clientHeight >= this.#box.scrollHeight - 30
    // recent lines are sent again after a reconnect, and when the tab becomes visible
    const isKnown = ({ time, text }: LogLine) => this.#kept.some(({ line }) => line.time === time && line.text === text)
    const fresh = lines.filter((line) => !isKnown(line))
    for (const line of fresh) {
      const row = rowOf(line)
      row.hidden = !this.#passes(line)
      this.#kept.push({ line, row })
      this.#box.append(row)
    }
    if (this.#paused) this.#missed += fresh.length
    for (const { row } of this.#kept.slice(0, Math.max(0, this.#kept.length - KEPT))) row.remove()
    this.#kept = this.#kept.slice(-KEPT)
    this.#showCount()
    if (!this.#paused && atEnd) this.#box.scrollTop = this.#box.scrollHeight
  }
}

function rowOf({ time, level, text }: LogLine): HTMLElement {
  return h(
    'div',
    { class: 'health-line', 'data-level': level },
    h('span', { class: 'quiet' }, clock(time)),
    h('span', { class: 'health-level' }, level),
    h('span', null, text),
  )
}

/** Time of day; seconds since the start if the server has no wall clock. */
function clock(time: number): string {
  if (time < 1e8) return time.toFixed(3)
  const when = new Date(time * 1000)
  const two = (part: number) => String(part).padStart(2, '0')
  const thousandths = String(when.getMilliseconds()).padStart(3, '0')
  return `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}.${thousandths}`
}
