// The list of recordings and logs, and the marks of the open one.

import type { PlaybackEntry, TimelineMark } from '../../api'
import type { Connection } from '../../connection'
import { button, card, empty, errorMessage, h, notice, setText } from '../../ui'
import { clock, formatBytes } from './labels'

export interface PlaybackList {
  element: HTMLElement
  /** Highlights the open one. */
  watched(name: string | null): void
  close(): void
}

export function playbackList(connection: Connection, watch: (name: string) => void): PlaybackList {
  const list = h('ul', { class: 'playbacks', 'data-test': 'playbacks' })
  const folder = h('span', { class: 'quiet folder' }, '')
  const ask = async () => {
    try {
      await connection.request({ do: 'films' })
    } catch (error) {
      notice(errorMessage(error), 'error')
    }
  }
  let open: string | null = null
  const mark = () => {
    for (const one of list.querySelectorAll('button'))
      one.setAttribute('aria-pressed', String(one.dataset.name === open))
  }
  const end = connection.on('films', (message) => {
    // viewers are not told
    setText(folder, message.folder === '' ? '' : `Folder: ${message.folder}`)
    const items = message.films.map((entry) => item(entry, connection.role === 'operator' ? watch : null))
    list.replaceChildren(...(items.length > 0 ? items : [h('li', null, noPlaybacks(message.folder))]))
    mark()
  })
  void ask()
  return {
    element: card(
      'Recordings and logs',
      h('div', { class: 'playbacks-head' }, folder, button('Refresh', ask, { test: 'playbacks-again' })),
      list,
    ),
    watched(name) {
      open = name
      mark()
    },
    close: end,
  }
}

/** An entry, which opens the file; viewers only see it. */
function item(entry: PlaybackEntry, watch: ((name: string) => void) | null): HTMLElement {
  const parts = [
    h('span', { class: 'playback-name' }, entry.name),
    h('span', { class: 'quiet' }, `${entry.kind === 'log' ? 'game log' : 'recording'}, ${formatBytes(entry.bytes)}`),
  ]
  if (!watch) return h('li', { title: 'Only operators can open it.' }, ...parts)
  return h(
    'li',
    null,
    h(
      'button',
      {
        class: 'playback-entry',
        type: 'button',
        'data-test': 'playback-entry',
        'data-name': entry.name,
        'aria-pressed': 'false',
        title: `Watch ${entry.name}`,
        onclick: () => watch(entry.name),
      },
      ...parts,
    ),
  )
}

function noPlaybacks(folder: string): HTMLElement {
  return empty(
    'No recordings yet',
    'Record a world with “rossum serve --record game.mcap”, or a game log with “rossum soccer --logfile”. ' +
      (folder === '' ? 'Operators see which folder is listed here.' : `Files in ${folder} are listed here.`),
  )
}

export interface MarkerList {
  element: HTMLElement
  show(marks: readonly TimelineMark[], rate: number): void
}

/** The timeline's marks as a list; each one seeks to its frame. */
export function markerList(seek: (frame: number) => void): MarkerList {
  const none = h('p', { class: 'quiet' }, 'No marks yet. Goals and play modes appear here as the file is loaded.')
  const list = h('ol', { class: 'marks', 'data-test': 'playback-marks' })
  let shown = ''
  return {
    element: card('Marks', h('div', { class: 'marks-holder' }, none, list)),
    show(marks, rate) {
      const now = `${marks.length} ${rate} ${marks.at(-1)?.frame ?? ''}`
      if (now === shown) return
      shown = now
      none.hidden = marks.length > 0
      list.replaceChildren(
        ...marks.map(({ frame, text }) =>
          h(
            'li',
            null,
            h(
              'button',
              { class: 'mark', type: 'button', onclick: () => seek(frame) },
              h('time', null, clock(frame / rate)),
              h('span', null, text),
            ),
          ),
        ),
      )
    },
  }
}
