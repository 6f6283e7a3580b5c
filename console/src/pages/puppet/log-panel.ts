// The session log, with the operator's notes and download buttons.

import { button, card, field, h } from '../../ui'
import type { Entry, Kind, SessionLog } from './log'
import type { Widget } from './operator-panel'
import { clock } from './widgets'

/** Maximum number of rows; the files contain all entries. */
const most = 300

const kinds: Record<Kind, string> = {
  said: 'Said',
  done: 'Did',
  heard: 'Heard',
  robot: 'Robot',
  note: 'Note',
  refused: 'Refused',
}

export function logPanel(log: SessionLog): Widget {
  const rows = h('ol', { class: 'pp-list pp-log', 'data-test': 'session-log' })
  const nothing = h('li', { class: 'pp-quiet' }, 'Nothing yet. Speech, actions and utterances are logged here.')
  const note = h('input', { type: 'text', maxLength: 500, 'data-test': 'note' })

  function add(entry: Entry): void {
    nothing.remove()
    rows.prepend(
      h(
        'li',
        { class: `pp-kind-${entry.kind}` },
        h('time', { dateTime: entry.at.toISOString() }, clock(entry.at)),
        h('span', { class: 'pp-kind' }, kinds[entry.kind]),
        h('span', null, entry.text),
      ),
    )
    while (rows.children.length > most) rows.lastElementChild?.remove()
  }
  rows.append(nothing)
  for (const entry of log.entries.slice(-most)) add(entry)

  return {
    element: card(
      'Log',
      h(
        'form',
        {
          class: 'pp-note',
          onsubmit: (event: Event) => {
            event.preventDefault()
            const text = note.value.trim()
            if (text !== '') log.add('note', text)
            note.value = ''
          },
        },
        field('Note', note),
        h('button', { type: 'submit' }, 'Add'),
      ),
      rows,
      h(
        'div',
        { class: 'row' },
        button('Download as CSV', () => download(log.csv(), 'text/csv', 'csv'), { test: 'log-csv' }),
        button('Download as JSON', () => download(log.json(), 'application/json', 'json'), { test: 'log-json' }),
      ),
      h(
        'p',
        { class: 'pp-quiet' },
        'The log covers the time this tab is open. For a study, record with ',
        h('code', null, 'rossum serve --record'),
        '.',
      ),
    ),
    close: log.onAdd(add),
  }
}

function download(text: string, type: string, ending: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  h('a', { href: address, download: `puppet-${stamp}.${ending}` }).click()
  // the download has started by then
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
