// The selected run: its curves, its best network, and its best individuals in the arena.

import type { Replay, RunDetail, RunSummary } from '../../api'
import type { Connection } from '../../connection'
import { Curves } from '../../plot'
import { button, card, field, format, h, setText } from '../../ui'
import { BestReplay } from './best-replay'
import { netDrawing } from './net-drawing'
import { STATES } from './runs'

export interface ChosenRun {
  element: HTMLElement
  /** Updates the summary, or switches to another run. */
  summary(run: RunSummary): void
  detail(detail: RunDetail): void
  replay(replay: Replay): void
  close(): void
}

export function chosenRun(connection: Connection): ChosenRun {
  let run: RunSummary | null = null
  const header = runHeader(connection, () => run)
  const plots = fitnessPlots()
  const net = netDrawing()
  const replay = new BestReplay(connection)
  return {
    element: h(
      'div',
      { class: 'chosen', 'data-test': 'chosen-run' },
      header.element,
      plots.element,
      replay.element,
      h(
        'section',
        { class: 'card net-card', 'aria-label': 'Best network' },
        h('h2', null, 'Best network'),
        net.element,
      ),
    ),
    summary(now) {
      const another = run?.name !== now.name
      run = now
      header.show(now)
      if (another) {
        header.learnt('')
        plots.clear()
        net.show(null)
      }
      replay.summary(now)
    },
    detail(detail) {
      header.learnt(detail.learnt)
      plots.show(detail)
      net.show(detail.net)
      replay.detail(detail)
    },
    replay: (message) => replay.replay(message),
    close() {
      plots.close()
      replay.close()
    },
  }
}

/** Name, state and numbers; stop and resume. */
function runHeader(connection: Connection, run: () => RunSummary | null) {
  const may = connection.role === 'operator'
  const name = h('h2', { class: 'chosen-name', 'data-test': 'chosen-name' }, '')
  const state = h('span', { class: 'badge', 'data-test': 'chosen-state', role: 'status' }, '')
  const generation = h('b', { 'data-test': 'chosen-generation' }, '')
  const best = h('b', { class: 'fitness', 'data-test': 'fitness' }, '–')
  const about = h('p', { class: 'quiet chosen-about' }, '')
  const learnt = h('p', { class: 'chosen-learnt', 'data-test': 'chosen-learnt' }, '')
  const until = h('input', {
    type: 'number',
    min: '1',
    step: '1',
    inputMode: 'numeric',
    required: true,
    'data-test': 'resume-generations',
  })
  const stop = button('Stop', () => order('stop-run'), { kind: 'danger', test: 'run-stop' })
  const resume = button('Resume', () => order('resume-run'), { kind: 'primary', test: 'run-resume' })
  const resuming = h('span', { class: 'resuming' }, field('to generation', until), resume)
  let shown = ''

  async function order(what: 'stop-run' | 'resume-run'): Promise<void> {
    const now = run()
    if (!now) return
    if (what === 'stop-run') await connection.request({ do: what, name: now.name })
    else if (until.reportValidity())
      await connection.request({ do: what, name: now.name, generations: until.valueAsNumber })
  }

  return {
    element: h(
      'section',
      { class: 'card chosen-head', 'aria-label': 'Selected run' },
      h('div', { class: 'chosen-title' }, name, state),
      h('div', { class: 'chosen-orders' }, stop, resuming),
      about,
      h(
        'div',
        { class: 'chosen-numbers' },
        h('span', null, 'Generation ', generation),
        h('span', null, 'Best fitness ', best),
      ),
      learnt,
    ),
    /** Says what the robots have learnt. */
    learnt: (words: string) => setText(learnt, sentence(words)),
    show(now: RunSummary) {
      setText(name, now.name)
      setText(state, STATES[now.state].words)
      state.className = `badge ${STATES[now.state].class}`
      setText(generation, `${now.generation} of ${now.generations}`)
      setText(best, now.best === null ? '–' : format(now.best, 4))
      const words = `${now.algorithm}, ${now.place}, seed ${now.seed}.`
      setText(about, now.words ? `${words} ${now.words}` : words)
      about.classList.toggle('bad', now.state === 'failed')
      stop.disabled = !may || now.state !== 'running'
      resume.disabled = until.disabled = !may || now.state === 'running'
      stop.title = may ? '' : 'Only operators can stop a run.'
      resume.title = !may ? 'Only operators can resume a run.' : now.state === 'running' ? 'It is already running.' : ''
      until.min = String(now.generation + 1)
      // a finished run is extended to twice its length
      const key = `${now.name} ${now.state} ${now.generations}`
      if (key !== shown) until.value = String(now.generation >= now.generations ? now.generations * 2 : now.generations)
      shown = key
    },
  }
}

function sentence(words: string): string {
  return words === '' ? '' : `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

function fitnessPlots() {
  const left = h('div', { class: 'plot-holder' })
  const right = h('div', { class: 'plot-holder' })
  const series = [{ label: 'best so far' }, { label: 'best' }, { label: 'mean' }, { label: 'worst' }]
  const fitness = new Curves(left, { title: 'Fitness by generation', x: 'generation', series, height: 250 })
  const diversity = new Curves(right, {
    title: 'Diversity by generation',
    x: 'generation',
    series: [{ label: 'diversity' }],
    height: 250,
  })
  return {
    element: h('div', { class: 'plots' }, card('Fitness', left), card('Diversity', right)),
    show({ best, mean, worst, best_so_far, diversity: spread }: RunDetail) {
      const x = best.map((_, at) => at + 1)
      fitness.set(x, [best_so_far, best, mean, worst])
      diversity.set(x, [spread])
    },
    clear() {
      fitness.set([], [[], [], [], []])
      diversity.set([], [[]])
    },
    close() {
      fitness.close()
      diversity.close()
    },
  }
}
