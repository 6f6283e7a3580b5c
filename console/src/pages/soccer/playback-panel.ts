// The elements around the view during playback: name, controls and marks.

import { button, h, setText } from '../../ui'
import type { Playback, PlaybackStatus } from './playback'
import { playbackBar } from './playback-bar'
import { markerList } from './playback-list'
import { markBefore } from './timeline'

export interface PlaybackPanel {
  head: HTMLElement
  bar: HTMLElement
  marks: HTMLElement
  show(status: PlaybackStatus): void
  /** Moves the keyboard focus to the controls. */
  focus(): void
  close(): void
}

export function createPlaybackPanel(playback: Playback): PlaybackPanel {
  const bar = playbackBar(playback)
  const marks = markerList((frame) => playback.seek(frame))
  const name = h('strong', { class: 'playback-title', 'data-test': 'playback-title' }, '')
  const mark = h('span', { class: 'playback-mark' }, '')
  const leave = button('Back to the live game', () => playback.leave(), { kind: 'primary', test: 'playback-leave' })
  return {
    head: h(
      'section',
      { class: 'playback-head', 'aria-label': 'Playback' },
      h('div', null, h('span', { class: 'quiet' }, 'Playback'), name, mark),
      leave,
    ),
    bar: bar.element,
    marks: marks.element,
    show(status) {
      setText(name, status.name)
      setText(mark, markBefore(status.marks, status.frame)?.text ?? '')
      bar.show(status)
      marks.show(status.marks, status.rate)
    },
    focus: () => bar.focus(),
    close: () => bar.close(),
  }
}
