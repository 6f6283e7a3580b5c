// Events as they occur, latest first.

import type { WorldEvent } from '../../api'
import type { Connection } from '../../connection'
import { button, empty, fill, format, h, setText } from '../../ui'

const KEPT = 200

export function events(connection: Connection): { element: HTMLElement; close(): void } {
  let kept: WorldEvent[] = []
  let waiting = 0
  const filter = h('input', {
    type: 'search',
    placeholder: 'Filter',
    'aria-label': 'Filter events',
    oninput: draw,
  })
  const list = h('ol', { class: 'world-events', 'aria-live': 'polite', 'data-test': 'events' })
  const count = h('span', { class: 'quiet' })
  const nothing = empty('No events yet', 'Contacts, goals, resets, and robots that come and go appear here.')

  function draw(): void {
    waiting = 0
    const words = filter.value.trim().toLowerCase()
    const shown = words === '' ? kept : kept.filter(({ name }) => name.toLowerCase().includes(words))
    setText(count, shown.length === kept.length ? `${kept.length || ''}` : `${shown.length} of ${kept.length}`)
    nothing.hidden = kept.length > 0
    // rows are kept, so that screen readers announce only new ones
    const there = new Map([...list.children].map((row) => [row, rows.get(row)]))
    const byEvent = new Map([...there].map(([row, event]) => [event, row]))
    fill(list, ...shown.map((event) => byEvent.get(event) ?? rowOf(event)))
  }

  const rows = new WeakMap<Element, WorldEvent>()
  function rowOf(event: WorldEvent): HTMLElement {
    const row = h(
      'li',
      { title: `Tick ${event.tick}` },
      h('span', { class: 'quiet mono' }, `${format(event.time, 2)} s`),
      h('span', { class: 'mono' }, event.name),
    )
    rows.set(row, event)
    return row
  }

  const end = connection.on('events', (message) => {
    kept = [...message.events.toReversed(), ...kept].slice(0, KEPT)
    if (waiting === 0) waiting = requestAnimationFrame(draw)
  })
  draw()

  return {
    element: h(
      'div',
      { class: 'stack' },
      h(
        'div',
        { class: 'row' },
        h('div', { class: 'grow' }, filter),
        count,
        button('Clear', () => {
          kept = []
          draw()
        }),
      ),
      nothing,
      list,
    ),
    close() {
      cancelAnimationFrame(waiting)
      end()
    },
  }
}
