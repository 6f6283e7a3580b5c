// Playback controls below the view.

import { button, h, select, setText } from '../../ui'
import { clock } from './labels'
import type { Playback, PlaybackStatus } from './playback'
import { isGoal, labelled, type Mark } from './timeline'

const SPEEDS = [0.5, 1, 2, 4, 8]
/** Approximate width of a label's character, and its padding, in px. */
const CHARACTER = 6.6
const PADDING = 10
/** Half the width of a range input's thumb: where its track starts. */
const INSET = 8

export interface PlaybackBar {
  element: HTMLElement
  show(status: PlaybackStatus): void
  /** Moves the keyboard focus to it. */
  focus(): void
  close(): void
}

export function playbackBar(playback: Playback): PlaybackBar {
  const play = button('Play', () => toggle(), { kind: 'primary', test: 'playback-play' })
  const back = button('◀', () => step(-1), { title: 'One frame back', test: 'playback-back' })
  const ahead = button('▶', () => step(1), { title: 'One frame forward', test: 'playback-ahead' })
  back.setAttribute('aria-label', 'One frame back')
  ahead.setAttribute('aria-label', 'One frame forward')
  const speed = select(
    SPEEDS.map((factor) => ({ value: String(factor), label: `${factor}×` })),
    '1',
    (value) => playback.speed(Number(value)),
  )
  speed.setAttribute('aria-label', 'Speed')
  speed.dataset.test = 'playback-speed'
  const time = h('output', { class: 'playback-time', 'data-test': 'playback-time' }, '')
  const line = h('input', {
    type: 'range',
    min: '0',
    max: '0',
    step: '1',
    value: '0',
    'aria-label': 'Time',
    'data-test': 'playback-line',
    oninput: () => {
      // pausing resets the slider
      const frame = line.valueAsNumber
      playback.play(false)
      playback.seek(frame)
    },
  })
  const ticks = h('div', { class: 'ticks', 'aria-hidden': 'true' })
  const news = h('p', { class: 'playback-news', role: 'status', 'data-test': 'playback-news' }, '')

  function toggle(): void {
    playback.play(!playback.status?.playing)
  }

  function step(frames: number): void {
    playback.play(false)
    playback.seek((playback.status?.frame ?? 0) + frames)
  }

  const element = h(
    'section',
    {
      class: 'playback-bar',
      tabIndex: -1,
      'aria-label': 'Timeline',
      'data-test': 'playback-bar',
      onkeydown: (event: KeyboardEvent) => {
        const target = event.target
        if (target instanceof HTMLSelectElement) return
        // the slider itself steps by frames
        if (event.key === 'ArrowLeft' && target !== line) step(-1)
        else if (event.key === 'ArrowRight' && target !== line) step(1)
        else if (event.key === ' ' && !(target instanceof HTMLButtonElement)) toggle()
        else return
        event.preventDefault()
      },
    },
    h('div', { class: 'playback-buttons' }, play, back, ahead, speed, time),
    h('div', { class: 'playback-line' }, line, ticks),
    news,
  )

  let drawn = ''
  let shown: PlaybackStatus | null = null
  const draw = () => {
    if (!shown) return
    const width = ticks.clientWidth - 2 * INSET
    const now = `${width} ${shown.ready} ${shown.marks.length}`
    if (now === drawn || width <= 0) return
    drawn = now
    drawTicks(ticks, shown.marks, shown.ready, width)
  }
  const resized = new ResizeObserver(draw)
  resized.observe(ticks)

  return {
    element,
    show(now) {
      shown = now
      const { frame, ready, rate, playing, complete, waiting, trouble } = now
      setText(play, playing ? 'Pause' : 'Play')
      line.max = String(Math.max(0, ready - 1))
      line.valueAsNumber = frame
      line.disabled = ready === 0
      play.disabled = ready === 0
      const seconds = clock(frame / rate, true)
      line.setAttribute('aria-valuetext', `${seconds}, frame ${frame + 1}`)
      setText(time, `${seconds} / ${clock(Math.max(0, ready - 1) / rate, true)}`)
      setText(news, newsOf(ready, complete, waiting && ready > 0, trouble, rate))
      news.classList.toggle('bad', trouble !== null)
      draw()
    },
    focus: () => element.focus({ preventScroll: true }),
    close: () => resized.disconnect(),
  }
}

function newsOf(ready: number, complete: boolean, waiting: boolean, trouble: string | null, rate: number): string {
  if (trouble !== null) return `Not fully loaded: ${trouble}`
  if (!complete) return `Loading: ${clock(ready / rate)} so far …`
  if (ready === 0) return 'This file contains no frames.'
  return waiting ? 'Fetching frames …' : 'Arrow keys step by one frame; Space plays.'
}

function drawTicks(ticks: HTMLElement, marks: readonly Mark[], frames: number, width: number): void {
  const wide = (text: string) => text.length * CHARACTER + PADDING
  const children = marks.map((mark) => {
    const tick = h('i', { class: isGoal(mark.text) ? 'tick goal' : 'tick', title: mark.text })
    tick.style.left = `${INSET + (mark.frame / Math.max(1, frames - 1)) * width}px`
    return tick
  })
  const labels = labelled(marks, frames, width, wide).map(({ mark, row, left, width: across }) => {
    const label = h('span', { class: isGoal(mark.text) ? 'label goal' : 'label', 'data-row': row }, mark.text)
    label.style.left = `${INSET + left}px`
    label.style.width = `${across}px`
    return label
  })
  ticks.replaceChildren(...children, ...labels)
}
