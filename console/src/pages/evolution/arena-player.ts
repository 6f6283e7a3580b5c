// Replays an individual in its arena.

import type { Replay } from '../../api'
import { button, format, h, select, setText } from '../../ui'
import { ArenaPicture } from './arena-picture'

const SPEEDS = [1, 2, 5, 10]

export interface ArenaPlayer {
  element: HTMLElement
  show(replay: Replay | null): void
  close(): void
}

export function arenaPlayer(): ArenaPlayer {
  const canvas = h('canvas', { class: 'arena', role: 'img', 'aria-label': 'Arena from above', 'data-test': 'arena' })
  const picture = new ArenaPicture(canvas)
  const play = button('Play', () => run(!playing), { kind: 'primary', test: 'replay-play' })
  const time = h('input', {
    type: 'range',
    min: '0',
    max: '0',
    step: '1',
    value: '0',
    'aria-label': 'Time',
    'data-test': 'replay-line',
    oninput: () => {
      run(false)
      step = time.valueAsNumber
      draw()
    },
  })
  const clock = h('output', { class: 'replay-time', 'data-test': 'replay-time' }, '')
  const trials = select([{ value: '0', label: 'Trial 1' }], '0', (value) => choose(Number(value)))
  trials.setAttribute('aria-label', 'Trial')
  trials.dataset.test = 'replay-trial'
  const speed = select(
    SPEEDS.map((factor) => ({ value: String(factor), label: `${factor}×` })),
    '2',
    () => undefined,
  )
  speed.setAttribute('aria-label', 'Speed')
  const words = h('p', { class: 'quiet', 'data-test': 'replay-words' }, '')

  let replay: Replay | null = null
  let trial: Replay['trials'][number] | null = null
  let step = 0
  let playing = false
  let tick = 0
  let last = 0

  function choose(number: number): void {
    trial = replay?.trials[number] ?? null
    step = 0
    time.max = String(Math.max(0, (trial?.steps.length ?? 1) - 1))
    const blocked = trial?.steps.filter(([, , , is]) => is).length ?? 0
    setText(words, replay && trial ? aboutTrial(replay, trial.steps.length, blocked, trial.died) : '')
    draw()
  }

  function draw(): void {
    const at = Math.floor(step)
    const seconds = replay?.step_seconds ?? 0
    time.valueAsNumber = at
    const all = Math.max(0, (trial?.steps.length ?? 1) - 1)
    time.setAttribute('aria-valuetext', `${format(at * seconds, 1)} s`)
    setText(clock, `${format(at * seconds, 1)} / ${format(all * seconds, 1)} s`)
    picture.show(trial, at)
  }

  function run(on: boolean): void {
    playing = on
    setText(play, on ? 'Pause' : 'Play')
    cancelAnimationFrame(tick)
    if (!on) return
    if (trial && step >= trial.steps.length - 1) step = 0
    last = performance.now()
    tick = requestAnimationFrame(advance)
  }

  function advance(now: number): void {
    if (!trial || !replay) {
      run(false)
      return
    }
    // do not catch up after the tab was hidden
    step += (Math.min(0.25, (now - last) / 1000) * Number(speed.value)) / Math.max(1e-6, replay.step_seconds)
    last = now
    const end = Math.max(0, trial.steps.length - 1)
    if (step >= end) {
      step = end
      run(false)
    } else tick = requestAnimationFrame(advance)
    draw()
  }

  return {
    element: h(
      'div',
      { class: 'arena-player' },
      canvas,
      h('div', { class: 'replay-line' }, time, clock),
      h('div', { class: 'replay-buttons' }, play, trials, speed),
      words,
      h(
        'div',
        { class: 'arena-legend' },
        h('span', null, h('i', { class: 'ring' }), 'start'),
        h('span', null, h('i', { class: 'path' }), 'path'),
        h('span', null, h('i', { class: 'beam' }), 'beams'),
        h('span', null, h('i', { class: 'dot' }), 'blocked'),
        h('span', null, h('b', null, '✕'), 'died'),
      ),
    ),
    show(now) {
      replay = now
      picture.setReplay(now)
      canvas.setAttribute('aria-label', now ? `${now.arena.title}, from above` : 'Arena from above')
      trials.replaceChildren(
        ...(now?.trials ?? []).map((one, at) =>
          h('option', { value: String(at) }, `Trial ${at + 1}${one.died ? ', died' : ''}`),
        ),
      )
      choose(0)
      // with reduced motion, the user presses Play
      run(now !== null && !matchMedia('(prefers-reduced-motion: reduce)').matches)
    },
    close() {
      cancelAnimationFrame(tick)
      picture.close()
    },
  }
}

function aboutTrial(replay: Replay, steps: number, blocked: number, died: boolean): string {
  const stops = blocked === 0 ? 'never blocked' : blocked === 1 ? 'blocked in one' : `blocked in ${blocked}`
  const who = `Best of generation ${replay.generation}, fitness ${format(replay.fitness, 4)}`
  return `${replay.arena.title}. ${who}; ${steps} steps, ${stops}${died ? ', died' : ''}.`
}
