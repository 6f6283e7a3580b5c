// The form for a new run.

import type { EvolutionInfo, NewRun } from '../../api'
import type { Connection } from '../../connection'
import { card, errorMessage, field, h, notice, select, setText } from '../../ui'
import { addressFault, splitAddresses } from './addresses'
import { kindsOf, type Population, worldFor, worldObjection } from './combinations'
import { menuOf, offer } from './menus'
import { PopulationChoice } from './population-choice'

/** The server's limits, checked before sending. */
const LIMITS = {
  generations: [1, 1_000_000],
  population: [4, 10_000],
  hidden: [0, 1000],
  seed: [0, Number.MAX_SAFE_INTEGER],
} as const

const ALGORITHMS: Record<string, string> = {
  ga: 'ga: genetic algorithm',
  'cma-es': 'cma-es: covariance matrix adaptation',
  'openai-es': 'openai-es: evolution strategy',
  'map-elites': 'map-elites: diverse good solutions',
  neat: 'neat: growing networks',
  nsga2: 'nsga2: multiple objectives',
}

export function newRunForm(connection: Connection, info: EvolutionInfo): HTMLElement {
  return new NewRunForm(connection, info).element
}

/** What evolves, and where it is evaluated. */
const ONE = 'one'
const TWO = 'two'
const SIMULATORS = 'simulators'
const DEFAULT_PORT = 7720
/** The Robot Simulator that an empty address stands for. */
const DEFAULT_SIMULATOR = `127.0.0.1:${DEFAULT_PORT}`

class NewRunForm {
  readonly element: HTMLElement
  readonly #connection: Connection
  readonly #info: EvolutionInfo
  readonly #where = select(
    [
      { value: ONE, label: 'One population, in the run’s own process' },
      { value: TWO, label: 'Two populations against each other' },
      { value: SIMULATORS, label: 'One population, by Robot Simulators' },
    ],
    ONE,
    () => this.#modeChosen(),
  )
  readonly #addresses = h('textarea', {
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: DEFAULT_SIMULATOR,
    'data-test': 'run-addresses',
    oninput: () => this.#check(),
  })
  readonly #first: PopulationChoice
  readonly #second: PopulationChoice
  readonly #world: HTMLSelectElement
  readonly #algorithm: HTMLSelectElement
  readonly #worldReasons = h('p', { class: 'hint', 'data-test': 'world-reasons' }, '')
  readonly #encounters = h('p', { class: 'hint', 'data-test': 'encounters' }, '')
  readonly #algorithmHint = h('p', { class: 'hint', 'data-test': 'algorithm-hint' }, '')
  readonly #elsewhere: HTMLElement
  readonly #here: HTMLElement
  readonly #generations: HTMLInputElement
  readonly #population = number('', LIMITS.population, 'run-population')
  readonly #hidden = number('', LIMITS.hidden, 'run-hidden')
  readonly #seed: HTMLInputElement
  readonly #target = h('input', {
    type: 'number',
    inputMode: 'decimal',
    step: 'any',
    placeholder: 'none',
    'data-test': 'run-target',
  })
  readonly #targetField = field('Target fitness', this.#target)
  readonly #start = h('button', { class: 'primary', type: 'submit', 'data-test': 'run-start' }, 'Start')

  constructor(connection: Connection, info: EvolutionInfo) {
    this.#connection = connection
    this.#info = info
    const start = info.default_run
    this.#where.dataset.test = 'run-where'
    this.#first = new PopulationChoice(info, start.body, 'run', () => this.#populationChosen())
    this.#second = new PopulationChoice(info, start.body, 'rival', () => this.#populationChosen())
    this.#world = menuOf(info.worlds, start.world, 'run-world', () => this.#describe())
    const algorithms = info.algorithms.map((name) => ({ value: name, label: ALGORITHMS[name] ?? name }))
    this.#algorithm = select(algorithms, start.algorithm, () => this.#describe())
    this.#algorithm.dataset.test = 'run-algorithm'
    this.#generations = number(String(start.generations), LIMITS.generations, 'run-generations')
    this.#generations.placeholder = 'until stopped'
    this.#seed = number(String(start.seed), LIMITS.seed, 'run-seed', true)
    const hint = `Several are separated by spaces. Without a port, ${DEFAULT_PORT} is used; without an address, the Robot Simulator of this machine.`
    this.#elsewhere = h(
      'div',
      { class: 'group' },
      field('Addresses of Robot Simulators', this.#addresses),
      h('p', { class: 'hint' }, `${hint} They have their own body, world and fitness.`),
    )
    this.#here = h(
      'div',
      { class: 'group' },
      this.#first.element,
      this.#second.element,
      field('World', this.#world),
      this.#worldReasons,
      this.#encounters,
    )
    const may = connection.role === 'operator'
    const viewer = 'You are a viewer. Open the operator’s link to start runs.'
    this.element = card(
      'New run',
      !may && h('p', { class: 'reason', 'data-test': 'viewer-reason' }, viewer),
      this.#form(may),
    )
    this.#describe()
  }

  #form(may: boolean): HTMLElement {
    const onsubmit = (event: SubmitEvent) => {
      event.preventDefault()
      void this.#submit()
    }
    const numbers = h(
      'div',
      { class: 'numbers' },
      field('Generations', this.#generations),
      field('Population', this.#population),
      field('Hidden', this.#hidden),
      field('Seed', this.#seed),
      this.#targetField,
    )
    const fields = h(
      'fieldset',
      { class: 'bare-fieldset', disabled: !may },
      field('Evolve', this.#where),
      this.#elsewhere,
      this.#here,
      field('Algorithm', this.#algorithm),
      this.#algorithmHint,
      numbers,
      h('div', { class: 'row' }, this.#start),
    )
    return h('form', { class: 'new-run', 'data-test': 'new-run', onsubmit }, fields)
  }

  get #two(): boolean {
    return this.#where.value === TWO
  }

  get #populations(): Population[] {
    return this.#two ? [this.#first.chosen, this.#second.chosen] : [this.#first.chosen]
  }

  /** Begins with the combination that is the default of the chosen mode. */
  #modeChosen(): void {
    const { default_run: one, default_coevolution: two } = this.#info
    const start = this.#two ? two : one
    this.#first.choose(start.body, this.#two ? 0 : null)
    this.#second.choose(two.rival?.body ?? two.body, 1)
    this.#world.value = start.world
    this.#algorithm.value = start.algorithm
    this.#generations.value = String(start.generations)
    this.#population.value = String(start.population ?? '')
    this.#check()
  }

  #populationChosen(): void {
    this.#world.value = worldFor(this.#info, this.#populations, this.#world.value)
    this.#describe()
  }

  /** Updates what depends on other fields: what is offered, hints and placeholders. */
  #describe(): void {
    const elsewhere = this.#where.value === SIMULATORS
    this.#elsewhere.hidden = !elsewhere
    this.#here.hidden = elsewhere
    this.#second.element.hidden = !this.#two
    this.#targetField.hidden = this.#two
    const kinds = this.#two ? kindsOf(this.#info, this.#world.value) : []
    this.#first.describe(kinds[0] ?? '')
    this.#second.describe(kinds[1] ?? '')
    offer(this.#world, this.#worldReasons, (name) => worldObjection(this.#info, this.#populations, name))
    const meet = kindsOf(this.#info, this.#world.value).length > 0
    const groups = meet ? 'Robots meet in this world: individuals are evaluated in groups.' : ''
    setText(this.#encounters, this.#two ? 'Each individual meets some of the other population, one by one.' : groups)
    this.#encounters.hidden = this.#encounters.textContent === ''
    const blind = elsewhere && this.#algorithm.value === 'map-elites'
    setText(
      this.#algorithmHint,
      blind ? 'Robot Simulators report only fitness, so behaviour is approximated by size and mean weight.' : '',
    )
    this.#algorithmHint.hidden = !blind
    this.#population.placeholder = this.#algorithm.value === 'cma-es' ? 'auto' : '100'
    this.#hidden.placeholder = this.#algorithm.value === 'neat' ? 'few' : '4'
  }

  #check(): void {
    const faults = this.#simulators().map(addressFault)
    this.#addresses.setCustomValidity(faults.find((fault) => fault !== null) ?? '')
    this.#describe()
  }

  /** Addresses of the Robot Simulators that evaluate the run; none if its own process does. */
  #simulators(): string[] {
    if (this.#where.value !== SIMULATORS) return []
    const addresses = splitAddresses(this.#addresses.value)
    return addresses.length > 0 ? addresses : [DEFAULT_SIMULATOR]
  }

  #read(): NewRun {
    return {
      simulators: this.#simulators(),
      world: this.#world.value,
      ...this.#first.chosen,
      rival: this.#two ? this.#second.chosen : null,
      algorithm: this.#algorithm.value,
      generations: orNull(this.#generations.valueAsNumber) ?? 0,
      population: orNull(this.#population.valueAsNumber),
      hidden: orNull(this.#hidden.valueAsNumber),
      seed: this.#seed.valueAsNumber,
      target: this.#two ? null : orNull(this.#target.valueAsNumber),
    }
  }

  async #submit(): Promise<void> {
    this.#start.disabled = true
    try {
      await this.#connection.request({ do: 'start-run', run: this.#read() })
      notice('Run started.')
    } catch (error) {
      notice(errorMessage(error), 'error')
    } finally {
      this.#start.disabled = false
    }
  }
}

function number(value: string, limits: readonly [number, number], test: string, required = false): HTMLInputElement {
  const [min, max] = limits
  return h('input', {
    type: 'number',
    inputMode: 'numeric',
    step: '1',
    min: String(min),
    max: String(max),
    value,
    required,
    'data-test': test,
  })
}

/** An empty field means the default. */
function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
