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
    fill(list, ...shown.map(rowOf))
  }

  // rows are kept, so that screen readers announce only new ones
  const rows = new WeakMap<WorldEvent, HTMLElement>()
  function rowOf(event: WorldEvent): HTMLElement {
    const row = rows.get(event) ?? newRow(event)
    rows.set(event, row)
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

function newRow(event: WorldEvent): HTMLElement {
  return h(
    'li',
    { title: `Tick ${event.tick}` },
    h('span', { class: 'quiet mono' }, `${format(event.time, 2)} s`),
    h('span', { class: 'mono' }, event.name),
  )
}
