// The list of runs: one is selected, several can be compared.

import type { RunSummary } from '../../api'
import { card, h, setText } from '../../ui'
import { bestFitness, progressOf } from './figures'

/** More curves would not be distinguishable. */
export const MOST_COMPARED = 6

export const STATES: Record<RunSummary['state'], { words: string; class: string }> = {
  running: { words: 'running', class: 'good' },
  stopped: { words: 'stopped', class: 'warn' },
  finished: { words: 'finished', class: 'quiet' },
  failed: { words: 'failed', class: 'bad' },
}

export interface RunList {
  element: HTMLElement
  show(runs: RunSummary[]): void
  choose(name: string | null): void
}

export function runList(chose: (name: string) => void, compared: (names: string[]) => void): RunList {
  const list = h('ul', { class: 'runs', 'data-test': 'runs' })
  const none = h('p', { class: 'quiet' }, 'None yet. Runs are listed here once started.')
  const hint = h('p', { class: 'hint' }, `Tick two to ${MOST_COMPARED} runs to compare their best fitness.`)
  const rows = new Map<string, Row>()
  let order = ''
  let chosen: string | null = null

  const ticked = () => {
    const names = [...rows].filter(([, row]) => row.tick.checked).map(([name]) => name)
    for (const row of rows.values()) row.tick.disabled = !row.tick.checked && names.length >= MOST_COMPARED
    compared(names)
  }
  const mark = () => {
    for (const [name, row] of rows) row.open.setAttribute('aria-pressed', String(name === chosen))
  }

  hint.hidden = true
  return {
    element: card('Runs', none, hint, list),
    show(runs) {
      for (const run of runs) {
        let row = rows.get(run.name)
        if (!row) {
          row = makeRow(run.name, () => chose(run.name), ticked)
          rows.set(run.name, row)
        }
        row.show(run)
      }
      const names = runs.map(({ name }) => name)
      for (const name of rows.keys()) if (!names.includes(name)) rows.delete(name)
      // reordered only when needed, to keep the focus
      if (order !== JSON.stringify(names)) {
        order = JSON.stringify(names)
        list.replaceChildren(...names.flatMap((name) => rows.get(name)?.element ?? []))
        ticked()
      }
      none.hidden = runs.length > 0
      hint.hidden = runs.length < 2
      mark()
    },
    choose(name) {
      chosen = name
      mark()
    },
  }
}

interface Row {
  element: HTMLElement
  open: HTMLButtonElement
  tick: HTMLInputElement
  show(run: RunSummary): void
}

function makeRow(name: string, chose: () => void, ticked: () => void): Row {
  const tick = h('input', {
    type: 'checkbox',
    'aria-label': `Compare ${name}`,
    title: 'Compare',
    'data-test': 'run-compare',
    onchange: ticked,
  })
  const state = h('span', { class: 'badge', 'data-test': 'run-state' }, '')
  const about = h('span', { class: 'run-about' }, '')
  const progress = h('progress', { max: 1, value: 0, 'aria-label': 'Completed generations' })
  const generation = h('span', { 'data-test': 'run-generation' }, '')
  const best = h('span', { class: 'run-best', 'data-test': 'run-best' }, '')
  const open = h(
    'button',
    {
      class: 'run',
      type: 'button',
      'data-test': 'run-row',
      'data-name': name,
      'aria-pressed': 'false',
      onclick: chose,
    },
    h('span', { class: 'run-name' }, name),
    state,
    about,
    progress,
    h('span', { class: 'run-numbers' }, generation, best),
  )
  return {
    element: h('li', null, tick, open),
    open,
    tick,
    show(run) {
      setText(state, STATES[run.state].words)
      state.className = `badge ${STATES[run.state].class}`
      setText(about, `${run.algorithm} · ${run.place}`)
      about.title = `${run.algorithm}, ${run.place}, seed ${run.seed}`
      // without a last generation there is no end to approach
      progress.hidden = run.generations === 0
      progress.max = Math.max(1, run.generations)
      progress.value = run.generation
      setText(generation, `generation ${progressOf(run)}`)
      setText(best, `best ${bestFitness(run)}`)
    },
  }
}
