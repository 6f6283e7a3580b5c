// The evolution page: the Population Manager's user interface.

import type { EvolutionInfo, RunSummary } from '../api'
import type { Connection } from '../connection'
import type { Opener, Page } from '../page'
import { empty, h } from '../ui'
import { chosenRun } from './evolution/chosen-run'
import { comparison } from './evolution/comparison'
import { Details } from './evolution/details'
import { newRunForm } from './evolution/form'
import { runList } from './evolution/runs'
import './evolution.css'

export const open: Opener = (connection) => {
  const info = connection.hello?.evolution
  return info ? runsPage(connection, info) : noEvolution()
}

function noEvolution(): Page {
  const words =
    'This server has no Population Manager. Start one with “rossum serve”, or run “rossum evolve” on the command line.'
  return {
    element: h(
      'div',
      { class: 'evolution-none', 'data-test': 'no-evolution' },
      empty('No evolution on this server', words),
    ),
    topics: [],
    close: () => undefined,
  }
}

function runsPage(connection: Connection, info: EvolutionInfo): Page {
  const details = new Details(connection)
  const run = chosenRun(connection)
  const compare = comparison()
  const list = runList(choose, (names) => {
    compared = names
    details.compare(names)
    compare.show(compared, details.known)
  })
  const next =
    connection.role === 'operator'
      ? 'Choose body, world and algorithm, then press Start.'
      : 'An operator can start one.'
  const nothing = h(
    'section',
    { class: 'card nothing', 'data-test': 'no-runs' },
    empty('No runs yet', `${next} Fitness, network and arena then appear here.`),
  )
  run.element.hidden = true

  let runs: RunSummary[] = []
  let chosen: string | null = null
  let compared: string[] = []

  function choose(name: string): void {
    chosen = name
    list.choose(name)
    const summary = runs.find((one) => one.name === name)
    if (summary) run.summary(summary)
    const known = details.known.get(name)
    if (known) run.detail(known)
    run.element.hidden = !summary
    nothing.hidden = summary !== undefined
    details.choose(name)
  }

  const ends = [
    connection.on('evolution', (message) => {
      const known = new Set(runs.map(({ name }) => name))
      const first = runs.length === 0
      runs = message.runs
      list.show(runs)
      details.runs(runs)
      // select a run that has just started
      const begun = runs.find(({ name, state }) => state === 'running' && !known.has(name))
      const gone = !runs.some(({ name }) => name === chosen)
      const other = (!first && begun) || (gone ? runs[0] : undefined)
      if (other) choose(other.name)
      else {
        const summary = runs.find(({ name }) => name === chosen)
        if (summary) run.summary(summary)
      }
      run.element.hidden = runs.length === 0
      nothing.hidden = runs.length > 0
    }),
    connection.on('run', (detail) => {
      details.known.set(detail.name, detail)
      if (detail.name === chosen) run.detail(detail)
      if (compared.includes(detail.name)) compare.show(compared, details.known)
    }),
    connection.on('replay', (replay) => run.replay(replay)),
  ]

  return {
    element: h(
      'div',
      { class: 'evolution' },
      h('div', { class: 'choosing' }, newRunForm(connection, info), list.element),
      h('div', { class: 'looking' }, compare.element, nothing, run.element),
    ),
    topics: ['evolution'],
    close() {
      for (const end of ends) end()
      details.close()
      compare.close()
      run.close()
    },
  }
}
