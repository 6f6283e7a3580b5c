// The list of recordings and logs, and what happened in the one that is watched.

import type { PlaybackEntry } from '../../api'
import type { Link } from '../../link'
import { button, card, empty, h, notice, reason, say } from '../../ui'
import type { Mark } from './timeline'
import { bytesWords, clock } from './words'

export interface FilmList {
  element: HTMLElement
  /** Marks the one that is watched. */
  watched(name: string | null): void
  close(): void
}

export function filmList(link: Link, watch: (name: string) => void): FilmList {
  const list = h('ul', { class: 'films', 'data-test': 'films' })
  const folder = h('span', { class: 'quiet folder' }, '')
  const ask = async () => {
    try {
      await link.ask({ do: 'films' })
    } catch (error) {
      notice(reason(error), 'error')
    }
  }
  let open: string | null = null
  const mark = () => {
    for (const one of list.querySelectorAll('button'))
      one.setAttribute('aria-pressed', String(one.dataset.name === open))
  }
  const end = link.on('films', (films) => {
    say(folder, `Folder: ${films.folder}`)
    const items = films.films.map((film) => item(film, watch))
    list.replaceChildren(...(items.length > 0 ? items : [h('li', null, noFilms(films.folder))]))
    mark()
  })
  void ask()
  return {
    element: card(
      'Recordings and logs',
      h('div', { class: 'films-head' }, folder, button('Look again', ask, { test: 'films-again' })),
      list,
    ),
    watched(name) {
      open = name
      mark()
    },
    close: end,
  }
}

function item(film: PlaybackEntry, watch: (name: string) => void): HTMLElement {
  return h(
    'li',
    null,
    h(
      'button',
      {
        class: 'film',
        type: 'button',
        'data-test': 'film',
        'data-name': film.name,
        'aria-pressed': 'false',
        title: `Watch ${film.name}`,
        onclick: () => watch(film.name),
      },
      h('span', { class: 'film-name' }, film.name),
      h('span', { class: 'quiet' }, `${film.kind === 'log' ? 'game log' : 'recording'}, ${bytesWords(film.bytes)}`),
    ),
  )
}

function noFilms(folder: string): HTMLElement {
  return empty(
    'No recordings yet',
    'Record a world with “rossum serve --record game.mcap”, or a game’s log with “rossum soccer --logfile”. ' +
      `Files in ${folder} are listed here.`,
  )
}

export interface MarkList {
  element: HTMLElement
  show(marks: readonly Mark[], rate: number): void
}

/** Marks of the time line as a list: each leads to its place, by keyboard too. */
export function markList(seek: (frame: number) => void): MarkList {
  const none = h('p', { class: 'quiet' }, 'No marks so far. Goals and play modes are listed here when they are read.')
  const list = h('ol', { class: 'marks', 'data-test': 'film-marks' })
  let shown = ''
  return {
    element: card('In this film', h('div', { class: 'marks-holder' }, none, list)),
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
