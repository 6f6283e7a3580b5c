// Play, pause, step, reset and speed, and the state of the clock.

import type { WorldState } from '../../api'
import type { Connection } from '../../connection'
import { button, field, format, h, notice, select, setText } from '../../ui'

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10]

export function timeControls(connection: Connection, standstill: HTMLElement): { element: HTMLElement; close(): void } {
  const mayNot = connection.role === 'operator' ? undefined : 'You are a viewer: you can watch, but not control.'
  let state: WorldState | null = null

  const play = button('Play', () => connection.request({ do: state?.paused === false ? 'pause' : 'play' }), {
    kind: 'primary',
    test: 'play',
  })
  const step = button('Step', () => connection.request({ do: 'step' }), {
    title: 'Run one tick while paused',
    test: 'step',
  })
  const seed = h('input', {
    type: 'text',
    inputMode: 'numeric',
    size: 8,
    placeholder: 'any',
    title: 'The same seed gives the same world. Leave empty to let the server choose.',
    'data-test': 'seed',
  })
  const reset = button(
    'Reset',
    async () => {
      const words = seed.value.trim()
      if (words !== '' && !(/^\d+$/.test(words) && Number.isSafeInteger(Number(words)))) {
        notice('The seed must be a non-negative integer.', 'error')
        seed.focus()
        return
      }
      await connection.request(words === '' ? { do: 'reset' } : { do: 'reset', seed: Number(words) })
    },
    { title: 'Reset the world', test: 'reset' },
  )
  seed.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') reset.click()
  })
  const speed = select(
    SPEEDS.map((factor) => ({ value: String(factor), label: `${factor}×` })),
    '1',
    (value) => connection.send({ do: 'speed', factor: Number(value) }),
  )
  speed.dataset.test = 'speed'

  const number = (test: string, label: string) => {
    const value = h('dd', { 'data-test': test }, '–')
    return { value, element: h('div', null, h('dt', null, label), value) }
  }
  const time = number('time', 'Time')
  const tick = number('tick', 'Tick')
  const tries = number('tries', 'Resets')
  const pace = number('pace', 'Pace')
  const rate = number('rate', 'Ticks per second')

  for (const control of [play, step, reset, seed, speed]) {
    if (mayNot) {
      control.disabled = true
      control.title = mayNot
    }
  }

  const draw = (news: WorldState) => {
    state = news
    setText(play, news.paused ? 'Play' : 'Pause')
    setText(time.value, `${format(news.time, 2)} s`)
    setText(tick.value, String(news.tick))
    setText(tries.value, String(news.tries))
    setText(pace.value, news.paused ? 'paused' : news.pace === 'realtime' ? `${news.pace} ${news.speed}×` : news.pace)
    setText(rate.value, format(news.ticks_per_second, 0))
    standstill.hidden = news.standstill === null
    setText(standstill, news.standstill === null ? '' : `Halted until reset: ${news.standstill}`)
    if (mayNot) return
    step.disabled = !news.paused
    const clocked = news.pace === 'realtime'
    speed.disabled = !clocked
    speed.title = clocked ? 'Multiple of real time' : `The pace is ${news.pace}: it does not follow the wall clock.`
    showSpeed(speed, news.speed)
  }
  const end = connection.on('state', draw)

  return {
    element: h(
      'div',
      { class: 'world-time card' },
      h('div', { class: 'row' }, play, step, reset, inline('Seed', seed), inline('Speed', speed)),
      h(
        'dl',
        { class: 'world-state', 'data-test': 'state-line' },
        ...[time, tick, tries, pace, rate].map(({ element }) => element),
      ),
      mayNot ? h('p', { class: 'quiet' }, mayNot) : null,
    ),
    close: end,
  }
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
