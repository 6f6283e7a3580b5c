// Play, pause, step, reset and speed, and the state of the clock.

import type { WorldState } from '../../api'
import type { Connection } from '../../connection'
import { button, field, format, h, notice, select, setText } from '../../ui'

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10]

export function timeControls(connection: Connection, standstill: HTMLElement): { element: HTMLElement; close(): void } {
  return new TimeControls(connection, standstill)
}

class TimeControls {
  readonly element: HTMLElement
  readonly close: () => void
  readonly #connection: Connection
  readonly #standstill: HTMLElement
  /** Why the controls are disabled; null for operators. */
  readonly #blocked: string | null
  readonly #play = button('Play', () => this.#toggle(), { kind: 'primary', test: 'play' })
  readonly #step = button('Step', () => this.#connection.request({ do: 'step' }), {
    title: 'Run one tick while paused',
    test: 'step',
  })
  readonly #seed = h('input', {
    type: 'text',
    inputMode: 'numeric',
    size: 8,
    placeholder: 'any',
    title: 'The same seed gives the same world. Leave empty to let the server choose.',
    'data-test': 'seed',
  })
  readonly #reset = button('Reset', () => this.#resetWorld(), { title: 'Reset the world', test: 'reset' })
  readonly #speed = select(
    SPEEDS.map((factor) => ({ value: String(factor), label: `${factor}×` })),
    '1',
    (value) => this.#connection.send({ do: 'speed', factor: Number(value) }),
  )
  readonly #readings = {
    time: reading('time', 'Time'),
    tick: reading('tick', 'Tick'),
    tries: reading('tries', 'Episode'),
    pace: reading('pace', 'Pace'),
    rate: reading('rate', 'Ticks per second'),
  }
  #state: WorldState | null = null

  constructor(connection: Connection, standstill: HTMLElement) {
    this.#connection = connection
    this.#standstill = standstill
    this.#blocked = connection.role === 'operator' ? null : 'You are a viewer: you can watch, but not control.'
    this.#speed.dataset.test = 'speed'
    this.#seed.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.#reset.click()
    })
    const controls = [this.#play, this.#step, this.#reset, this.#seed, this.#speed]
    if (this.#blocked) for (const control of controls) Object.assign(control, { disabled: true, title: this.#blocked })
    const buttons = [this.#play, this.#step, this.#reset, inline('Seed', this.#seed), inline('Speed', this.#speed)]
    const readings = Object.values(this.#readings).map(({ element }) => element)
    this.element = h(
      'div',
      { class: 'world-time card' },
      h('div', { class: 'row' }, ...buttons),
      h('dl', { class: 'world-state', 'data-test': 'state-line' }, ...readings),
      this.#blocked ? h('p', { class: 'quiet' }, this.#blocked) : null,
    )
    this.close = connection.on('state', (state) => this.#show(state))
  }

  #toggle(): Promise<void> {
    return this.#connection.request({ do: this.#state?.paused === false ? 'pause' : 'play' })
  }

  async #resetWorld(): Promise<void> {
    const words = this.#seed.value.trim()
    if (words !== '' && !(/^\d+$/.test(words) && Number.isSafeInteger(Number(words)))) {
      notice('The seed must be a non-negative integer.', 'error')
      this.#seed.focus()
      return
    }
    await this.#connection.request(words === '' ? { do: 'reset' } : { do: 'reset', seed: Number(words) })
  }

  #show(state: WorldState): void {
    this.#state = state
    const { paused, pace, speed, standstill } = state
    const isClocked = pace === 'realtime'
    const { time, tick, tries, pace: paceReading, rate } = this.#readings
    setText(this.#play, paused ? 'Play' : 'Pause')
    setText(time.value, `${format(state.time, 2)} s`)
    setText(tick.value, String(state.tick))
    setText(tries.value, String(state.tries))
    setText(paceReading.value, paused ? 'paused' : isClocked ? `${pace} ${speed}×` : pace)
    setText(rate.value, format(state.ticks_per_second, 0))
    this.#standstill.hidden = standstill === null
    setText(this.#standstill, standstill === null ? '' : `Halted until reset: ${standstill}`)
    if (this.#blocked) return
    this.#step.disabled = !paused
    this.#speed.disabled = !isClocked
    this.#speed.title = isClocked ? 'Multiple of real time' : `The pace is ${pace}: it does not follow the wall clock.`
    showSpeed(this.#speed, speed)
  }
}

function reading(test: string, label: string): { value: HTMLElement; element: HTMLElement } {
  const value = h('dd', { 'data-test': test }, '–')
  return { value, element: h('div', null, h('dt', null, label), value) }
}

function inline(label: string, input: HTMLElement): HTMLElement {
  const element = field(label, input)
  element.classList.add('inline')
  return element
}

/** Shows the world's speed, even one that is not in the list, unless the user is choosing. */
function showSpeed(speed: HTMLSelectElement, factor: number): void {
  const value = String(factor)
  if (document.activeElement === speed && speed.value !== value && speed.dataset.asked !== value) {
    // the list may be open
    speed.dataset.asked = value
    return
  }
  if (![...speed.options].some((option) => option.value === value)) {
    speed.append(h('option', { value }, `${format(factor, 2)}×`))
  }
  speed.value = value
}
