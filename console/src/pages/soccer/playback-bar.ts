// Playback controls below the view.

import type { TimelineMark } from '../../api'
import { button, h, select, setText, timelineSlider } from '../../ui'
import { clock } from './labels'
import type { Playback, PlaybackStatus } from './playback'
import { isGoal, labelled } from './timeline'

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
  return new Bar(playback)
}

class Bar implements PlaybackBar {
  readonly element: HTMLElement
  readonly #playback: Playback
  readonly #play = button('Play', () => this.#toggle(), { kind: 'primary', test: 'playback-play' })
  readonly #time = h('output', { class: 'playback-time', 'data-test': 'playback-time' }, '')
  readonly #line = timelineSlider('playback-line', () => this.#seek())
  readonly #ticks = h('div', { class: 'ticks', 'aria-hidden': 'true' })
  readonly #news = h('p', { class: 'playback-news', role: 'status', 'data-test': 'playback-news' }, '')
  readonly #resized = new ResizeObserver(() => this.#drawTicks())
  #drawn = ''
  #shown: PlaybackStatus | null = null

  constructor(playback: Playback) {
    this.#playback = playback
    const back = button('◀', () => this.#step(-1), { title: 'One frame back', test: 'playback-back' })
    const ahead = button('▶', () => this.#step(1), { title: 'One frame forward', test: 'playback-ahead' })
    back.setAttribute('aria-label', 'One frame back')
    ahead.setAttribute('aria-label', 'One frame forward')
    const speeds = SPEEDS.map((factor) => ({ value: String(factor), label: `${factor}×` }))
    const speed = select(speeds, '1', (value) => playback.speed(Number(value)))
    speed.setAttribute('aria-label', 'Speed')
    speed.dataset.test = 'playback-speed'
    const onkeydown = (event: KeyboardEvent) => this.#pressed(event)
    this.element = h(
      'section',
      { class: 'playback-bar', tabIndex: -1, 'aria-label': 'Timeline', 'data-test': 'playback-bar', onkeydown },
      h('div', { class: 'playback-buttons' }, this.#play, back, ahead, speed, this.#time),
      h('div', { class: 'playback-line' }, this.#line, this.#ticks),
      this.#news,
    )
    this.#resized.observe(this.#ticks)
  }

  show(status: PlaybackStatus): void {
    this.#shown = status
    const { frame, ready, rate, playing, complete, waiting, trouble } = status
    const last = Math.max(0, ready - 1)
    setText(this.#play, playing ? 'Pause' : 'Play')
    this.#line.max = String(last)
    this.#line.valueAsNumber = frame
    this.#line.disabled = ready === 0
    this.#play.disabled = ready === 0
    const seconds = clock(frame / rate, true)
    this.#line.setAttribute('aria-valuetext', `${seconds}, frame ${frame + 1}`)
    setText(this.#time, `${seconds} / ${clock(last / rate, true)}`)
    setText(this.#news, newsOf(ready, complete, waiting && ready > 0, trouble, rate))
    this.#news.classList.toggle('bad', trouble !== null)
    this.#drawTicks()
  }

  focus(): void {
    this.element.focus({ preventScroll: true })
  }

  close(): void {
    this.#resized.disconnect()
  }

  #toggle(): void {
    this.#playback.play(!this.#playback.status?.playing)
  }

  #seek(): void {
    // pausing resets the slider
    const frame = this.#line.valueAsNumber
    this.#playback.play(false)
    this.#playback.seek(frame)
  }

  #step(frames: number): void {
    this.#playback.play(false)
    this.#playback.seek((this.#playback.status?.frame ?? 0) + frames)
  }

  #pressed(event: KeyboardEvent): void {
    const { target } = event
    if (target instanceof HTMLSelectElement) return
    // the slider itself steps by frames
    if (event.key === 'ArrowLeft' && target !== this.#line) this.#step(-1)
    else if (event.key === 'ArrowRight' && target !== this.#line) this.#step(1)
    else if (event.key === ' ' && !(target instanceof HTMLButtonElement)) this.#toggle()
    else return
    event.preventDefault()
  }

  #drawTicks(): void {
    if (!this.#shown) return
    const { marks, ready } = this.#shown
    const width = this.#ticks.clientWidth - 2 * INSET
    const now = `${width} ${ready} ${marks.length}`
    if (now === this.#drawn || width <= 0) return
    this.#drawn = now
    drawTicks(this.#ticks, marks, ready, width)
  }
}

function newsOf(ready: number, complete: boolean, waiting: boolean, trouble: string | null, rate: number): string {
  if (trouble !== null) return `Not fully loaded: ${trouble}`
  if (!complete) return `Loading: ${clock(ready / rate)} so far …`
  if (ready === 0) return 'This file contains no frames.'
  return waiting ? 'Fetching frames …' : 'Arrow keys step by one frame; Space plays.'
}

function drawTicks(ticks: HTMLElement, marks: readonly TimelineMark[], frames: number, width: number): void {
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
