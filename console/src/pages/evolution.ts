// The evolution page: the Population Manager's user interface.

import type { EvolutionInfo, RunDetail, RunSummary, Topic } from '../api'
import type { Connection } from '../connection'
import type { Opener, Page } from '../page'
import { empty, h } from '../ui'
import { type ChosenRun, chosenRun } from './evolution/chosen-run'
import { comparison } from './evolution/comparison'
import { Details } from './evolution/details'
import { newRunForm } from './evolution/form'
import { type RunList, runList } from './evolution/runs'
import { simulatorsCard } from './evolution/simulators'
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
  return new RunsPage(connection, info)
}

class RunsPage implements Page {
  readonly topics: Topic[] = ['evolution']
  readonly element: HTMLElement
  readonly #details: Details
  readonly #run: ChosenRun
  readonly #comparison = comparison()
  readonly #list: RunList
  readonly #nothing: HTMLElement
  readonly #ends: (() => void)[]
  #runs: RunSummary[] = []
  #chosen: string | null = null
  #compared: string[] = []

  constructor(connection: Connection, info: EvolutionInfo) {
    this.#details = new Details(connection)
    this.#run = chosenRun(connection)
    this.#run.element.hidden = true
    this.#list = runList(
      (name) => this.#choose(name),
      (names) => this.#compare(names),
    )
    this.#nothing = noRuns(connection.role === 'operator')
    const simulators = simulatorsCard(connection, info.folder)
    this.element = h(
      'div',
      { class: 'evolution' },
      h('div', { class: 'choosing' }, newRunForm(connection, info), this.#list.element, simulators.element),
      h('div', { class: 'looking' }, this.#comparison.element, this.#nothing, this.#run.element),
    )
    this.#ends = [
      connection.on('evolution', (message) => {
        simulators.show(message.simulators)
        this.#update(message.runs)
      }),
      connection.on('run', (detail) => this.#show(detail)),
      connection.on('replay', (replay) => this.#run.replay(replay)),
    ]
  }

  close(): void {
    for (const end of this.#ends) end()
    this.#details.close()
    this.#comparison.close()
    this.#run.close()
  }

  #compare(names: string[]): void {
    this.#compared = names
    this.#details.compare(names)
    this.#showComparison()
  }

  #showComparison(): void {
    const runs = this.#compared.flatMap((name) => this.#runs.find((run) => run.name === name) ?? [])
    this.#comparison.show(runs, this.#details.known)
  }

  #choose(name: string): void {
    this.#chosen = name
    this.#list.choose(name)
    const summary = this.#runs.find((one) => one.name === name)
    if (summary) this.#run.summary(summary)
    const known = this.#details.known.get(name)
    if (known) this.#run.detail(known)
    this.#run.element.hidden = !summary
    this.#nothing.hidden = summary !== undefined
    this.#details.choose(name)
  }

  #update(runs: RunSummary[]): void {
    const known = new Set(this.#runs.map(({ name }) => name))
    const first = this.#runs.length === 0
    this.#runs = runs
    this.#list.show(runs)
    this.#details.runs(runs)
    // select a run that has just started
    const begun = runs.find(({ name, state }) => state === 'running' && !known.has(name))
    const chosen = runs.find(({ name }) => name === this.#chosen)
    const other = (!first && begun) || (chosen ? undefined : runs[0])
    if (other) this.#choose(other.name)
    else if (chosen) this.#run.summary(chosen)
    this.#run.element.hidden = runs.length === 0
    this.#nothing.hidden = runs.length > 0
  }

  #show(detail: RunDetail): void {
    this.#details.known.set(detail.name, detail)
    if (detail.name === this.#chosen) this.#run.detail(detail)
    if (this.#compared.includes(detail.name)) this.#showComparison()
  }
}

function noRuns(mayStart: boolean): HTMLElement {
  const next = mayStart
    ? 'Press Start: a robot then learns to find its way about among obstacles. Or choose something else first.'
    : 'An operator can start one.'
  return h(
    'section',
    { class: 'card nothing', 'data-test': 'no-runs' },
    empty('No runs yet', `${next} Fitness, network and arena then appear here.`),
  )
}
