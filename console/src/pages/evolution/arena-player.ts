// Replays an individual in its arena.

import type { Replay } from '../../api'
import { button, format, h, select, setText, timelineSlider } from '../../ui'
import { ArenaPicture } from './arena-picture'

const SPEEDS = [1, 2, 5, 10]

export interface ArenaPlayer {
  element: HTMLElement
  show(replay: Replay | null): void
  close(): void
}

export function arenaPlayer(): ArenaPlayer {
  return new Player()
}

class Player implements ArenaPlayer {
  readonly element: HTMLElement
  readonly #canvas = h('canvas', {
    class: 'arena',
    role: 'img',
    'aria-label': 'Arena from above',
    'data-test': 'arena',
  })
  readonly #picture = new ArenaPicture(this.#canvas)
  readonly #play = button('Play', () => this.#run(!this.#playing), { kind: 'primary', test: 'replay-play' })
  readonly #time = timelineSlider('replay-line', () => {
    this.#run(false)
    this.#step = this.#time.valueAsNumber
    this.#draw()
  })
  readonly #clock = h('output', { class: 'replay-time', 'data-test': 'replay-time' }, '')
  readonly #trials = select([{ value: '0', label: 'Trial 1' }], '0', (value) => this.#choose(Number(value)))
  readonly #speed = select(
    SPEEDS.map((factor) => ({ value: String(factor), label: `${factor}×` })),
    '2',
    () => undefined,
  )
  readonly #words = h('p', { class: 'quiet', 'data-test': 'replay-words' }, '')
  #replay: Replay | null = null
  #trial = 0
  /** Current step, with a fraction while playing. */
  #step = 0
  #playing = false
  #tick = 0
  #last = 0

  constructor() {
    this.#trials.setAttribute('aria-label', 'Trial')
    this.#trials.dataset.test = 'replay-trial'
    this.#speed.setAttribute('aria-label', 'Speed')
    this.element = h(
      'div',
      { class: 'arena-player' },
      this.#canvas,
      h('div', { class: 'replay-line' }, this.#time, this.#clock),
      h('div', { class: 'replay-buttons' }, this.#play, this.#trials, this.#speed),
      this.#words,
      legend(),
    )
  }

  show(replay: Replay | null): void {
    this.#replay = replay
    this.#picture.setReplay(replay)
    this.#canvas.setAttribute('aria-label', replay ? `${replay.arena.title}, from above` : 'Arena from above')
    const options = (replay?.robots[0]?.trials ?? []).map(({ died }, at) =>
      h('option', { value: String(at) }, `Trial ${at + 1}${died ? ', died' : ''}`),
    )
    this.#trials.replaceChildren(...options)
    this.#choose(0)
    // with reduced motion, the user presses Play
    this.#run(replay !== null && !matchMedia('(prefers-reduced-motion: reduce)').matches)
  }

  close(): void {
    cancelAnimationFrame(this.#tick)
    this.#picture.close()
  }

  /** Index of the last step of any robot. */
  get #end(): number {
    const lengths = (this.#replay?.robots ?? []).map(({ trials }) => trials[this.#trial]?.steps.length ?? 1)
    return Math.max(1, ...lengths) - 1
  }

  #choose(number: number): void {
    this.#trial = number
    this.#step = 0
    this.#time.max = String(this.#end)
    setText(this.#words, this.#replay ? aboutTrial(this.#replay, number) : '')
    this.#draw()
  }

  #draw(): void {
    const at = Math.floor(this.#step)
    const seconds = this.#replay?.step_seconds ?? 0
    this.#time.valueAsNumber = at
    this.#time.setAttribute('aria-valuetext', `${format(at * seconds, 1)} s`)
    setText(this.#clock, `${format(at * seconds, 1)} / ${format(this.#end * seconds, 1)} s`)
    this.#picture.show(this.#trial, at)
  }

  #run(on: boolean): void {
    this.#playing = on
    setText(this.#play, on ? 'Pause' : 'Play')
    cancelAnimationFrame(this.#tick)
    if (!on) return
    if (this.#step >= this.#end) this.#step = 0
    this.#last = performance.now()
    this.#tick = requestAnimationFrame((now) => this.#advance(now))
  }

  #advance(now: number): void {
    if (!this.#replay) {
      this.#run(false)
      return
    }
    // do not catch up after the tab was hidden
    const seconds = Math.min(0.25, (now - this.#last) / 1000) * Number(this.#speed.value)
    this.#step += seconds / Math.max(1e-6, this.#replay.step_seconds)
    this.#last = now
    if (this.#step >= this.#end) {
      this.#step = this.#end
      this.#run(false)
    } else this.#tick = requestAnimationFrame((next) => this.#advance(next))
    this.#draw()
  }
}

function legend(): HTMLElement {
  const item = (kind: string, words: string) => h('span', null, h('i', { class: kind }), words)
  return h(
    'div',
    { class: 'arena-legend' },
    item('ring', 'start'),
    item('path', 'path'),
    item('beam', 'beams'),
    item('dot', 'blocked'),
    h('span', null, h('b', null, '✕'), 'died'),
  )
}

function aboutTrial(replay: Replay, number: number): string {
  const robots = replay.robots.filter(({ population }, at) => at === 0 || population !== '')
  const words = robots.map(({ population, fitness, trials }) => {
    const { steps = [], died = false } = trials[number] ?? {}
    const blocked = steps.filter(([, , , is]) => is).length
    const stops = blocked === 0 ? 'never blocked' : blocked === 1 ? 'blocked in one' : `blocked in ${blocked}`
    const who = population === '' ? '' : `${population}: `
    return `${who}fitness ${format(fitness, 4)}, ${steps.length} steps, ${stops}${died ? ', died' : ''}`
  })
  const met = replay.robots.length - robots.length
  const others = met === 0 ? '' : ` It meets ${met} of its generation.`
  return `${replay.arena.title}. Best of generation ${replay.generation}, ${words.join('; ')}.${others}`
}
