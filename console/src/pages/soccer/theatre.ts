// What surrounds a film while it is watched: its name, the time line, and what happens in it.

import { button, h, say } from '../../ui'
import { filmBar } from './filmbar'
import { markList } from './films'
import type { Projector, Showing } from './projector'
import { markBefore } from './timeline'

export interface Theatre {
  head: HTMLElement
  bar: HTMLElement
  marks: HTMLElement
  show(showing: Showing): void
  /** Gives the time line the keyboard. */
  focus(): void
  close(): void
}

export function theatre(projector: Projector): Theatre {
  const bar = filmBar(projector)
  const marks = markList((frame) => projector.seek(frame))
  const name = h('strong', { class: 'film-title', 'data-test': 'film-title' }, '')
  const mark = h('span', { class: 'film-mark' }, '')
  const leave = button('Back to the live game', () => projector.leave(), { kind: 'primary', test: 'film-leave' })
  return {
    head: h(
      'section',
      { class: 'filmhead', 'aria-label': 'Film' },
      h('div', null, h('span', { class: 'quiet' }, 'Not live'), name, mark),
      leave,
    ),
    bar: bar.element,
    marks: marks.element,
    show(showing) {
      say(name, showing.name)
      say(mark, markBefore(showing.marks, showing.frame)?.text ?? '')
      bar.show(showing)
      marks.show(showing.marks, showing.rate)
    },
    focus: () => bar.focus(),
    close: () => bar.close(),
  }
}
