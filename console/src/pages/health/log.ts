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
  let kept: { line: LogLine; row: HTMLElement }[] = []
  let least: number = LEVELS.length - 1
  let paused = false
  let missed = 0

  const box = h('div', {
    class: 'health-log mono',
    tabIndex: 0,
    role: 'log',
    'aria-label': 'Log',
    'aria-live': 'off',
    'data-test': 'log',
  })
  const nothing = empty('No log lines', 'New lines appear here. If you filter, try another text or a lower level.')
  const count = h('span', { class: 'quiet health-count' })
  const words = h('input', {
    type: 'search',
    placeholder: 'Filter',
    'aria-label': 'Filter the log',
    oninput: sift,
  })
  const level = select(
    LEVELS.map(({ label }, at) => ({ value: String(at), label })),
    String(least),
    (value) => {
      least = Number(value)
      sift()
    },
  )
  level.setAttribute('aria-label', 'Level')
  const pause = button('Pause', () => {
    paused = !paused
    missed = 0
    setText(pause, paused ? 'Resume' : 'Pause')
    sift()
  })

  function passes({ level, text }: LogLine): boolean {
    return (
      LEVELS.findIndex(({ name }) => name === level) <= least &&
      text.toLowerCase().includes(words.value.trim().toLowerCase())
    )
  }

  function sift(): void {
    for (const { line, row } of kept) row.hidden = !passes(line)
    tellCount()
    if (!paused) box.scrollTop = box.scrollHeight
  }

  function tellCount(): void {
    const shown = kept.filter(({ row }) => !row.hidden).length
    nothing.hidden = shown > 0
    const lines = shown === kept.length ? `${kept.length} lines` : `${shown} of ${kept.length} lines`
    setText(count, paused ? `Paused, ${missed} new` : lines)
  }

  const end = connection.on('log', ({ lines }) => {
    const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 30
    // recent lines are sent again after a reconnect, and when the tab becomes visible
    const news = lines.filter((line) => !kept.some((old) => old.line.time === line.time && old.line.text === line.text))
    for (const line of news) {
      const row = rowOf(line)
      row.hidden = !passes(line)
      kept.push({ line, row })
      box.append(row)
    }
    if (paused) missed += news.length
    for (const { row } of kept.slice(0, Math.max(0, kept.length - KEPT))) row.remove()
    kept = kept.slice(-KEPT)
    tellCount()
    if (!paused && atEnd) box.scrollTop = box.scrollHeight
  })
  tellCount()

  return {
    element: h(
      'div',
      { class: 'stack' },
      h('div', { class: 'row' }, h('div', { class: 'grow' }, words), level, pause, count),
      h('div', { class: 'health-log-place' }, box, nothing),
    ),
    close: end,
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
