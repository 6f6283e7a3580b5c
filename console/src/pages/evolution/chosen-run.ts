// The selected run: its curves, its best network, and its best individuals in the arena.

import type { Replay, RunDetail, RunSummary } from '../../api'
import type { Connection } from '../../connection'
import { button, field, h, setText } from '../../ui'
import { BestReplay } from './best-replay'
import { bestFitness, progressOf, workersOf } from './figures'
import { fitnessPlots } from './fitness-plots'
import { netsCard } from './nets'
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
  const nets = netsCard()
  const replay = new BestReplay(connection)
  return {
    element: h(
      'div',
      { class: 'chosen', 'data-test': 'chosen-run' },
      header.element,
      plots.element,
      replay.element,
      nets.element,
    ),
    summary(now) {
      const another = run?.name !== now.name
      run = now
      header.show(now)
      if (another) {
        header.learnt([])
        plots.clear()
        nets.show([])
      }
      replay.summary(now)
    },
    detail(detail) {
      header.learnt(detail.populations.map(({ learnt }) => learnt))
      plots.show(detail)
      nets.show(detail.populations)
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
  const orders = runOrders(connection, run)
  const name = h('h2', { class: 'chosen-name', 'data-test': 'chosen-name' }, '')
  const state = h('span', { class: 'badge', 'data-test': 'chosen-state', role: 'status' }, '')
  const generation = h('b', { 'data-test': 'chosen-generation' }, '')
  const best = h('b', { class: 'fitness', 'data-test': 'fitness' }, '–')
  const workers = h('span', { 'data-test': 'chosen-workers' }, '')
  const about = h('p', { class: 'quiet chosen-about' }, '')
  const learnt = h('p', { class: 'chosen-learnt', 'data-test': 'chosen-learnt' }, '')
  return {
    element: h(
      'section',
      { class: 'card chosen-head', 'aria-label': 'Selected run' },
      h('div', { class: 'chosen-title' }, name, state),
      orders.element,
      about,
      h(
        'div',
        { class: 'chosen-numbers' },
        h('span', null, 'Generation ', generation),
        h('span', null, 'Best fitness ', best),
        workers,
      ),
      learnt,
    ),
    /** Says what the robots have learnt. */
    learnt: (words: string[]) => setText(learnt, words.map(sentence).join(' ')),
    show(now: RunSummary) {
      setText(name, now.name)
      setText(state, STATES[now.state].words)
      state.className = `badge ${STATES[now.state].class}`
      setText(generation, progressOf(now))
      setText(best, bestFitness(now))
      setText(workers, workersOf(now))
      workers.hidden = now.workers === null
      const words = `${now.algorithm}, ${now.place}, seed ${now.seed}.`
      setText(about, now.words ? `${words} ${now.words}` : words)
      about.classList.toggle('bad', now.state === 'failed')
      orders.show(now)
    },
  }
}

/** Buttons that stop and resume the run. */
function runOrders(connection: Connection, run: () => RunSummary | null) {
  const may = connection.role === 'operator'
  const until = h('input', {
    type: 'number',
    min: '1',
    step: '1',
    inputMode: 'numeric',
    placeholder: 'until stopped',
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
      await connection.request({ do: what, name: now.name, generations: until.valueAsNumber || 0 })
  }

  return {
    element: h('div', { class: 'chosen-orders' }, stop, resuming),
    show(now: RunSummary) {
      stop.disabled = !may || now.state !== 'running'
      resume.disabled = until.disabled = !may || now.state === 'running'
      stop.title = may ? '' : 'Only operators can stop a run.'
      resume.title = !may ? 'Only operators can resume a run.' : now.state === 'running' ? 'It is already running.' : ''
      until.min = String(now.generation + 1)
      // a finished run is extended to twice its length
      const key = `${now.name} ${now.state} ${now.generations}`
      if (key !== shown) until.value = now.generations === 0 ? '' : String(further(now))
      shown = key
    },
  }
}

function further({ generation, generations }: RunSummary): number {
  return generation >= generations ? generations * 2 : generations
}

function sentence(words: string): string {
  return words === '' ? '' : `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}
