// The form for a new run.

import type { EvolutionInfo, NewRun } from '../../api'
import type { Connection } from '../../connection'
import { card, errorMessage, field, h, notice, select, setText } from '../../ui'
import { addressFault, splitAddresses } from './addresses'
import { fitnessFor, fitnessObjection, objection, reasonsOf, worldFor } from './combinations'

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

const OWN = 'own'
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
      { value: OWN, label: 'the run’s own process' },
      { value: SIMULATORS, label: 'Robot Simulators' },
    ],
    OWN,
    () => this.#check(),
  )
  readonly #addresses = h('textarea', {
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: DEFAULT_SIMULATOR,
    'data-test': 'run-addresses',
    oninput: () => this.#check(),
  })
  readonly #body: HTMLSelectElement
  readonly #world: HTMLSelectElement
  readonly #fitness: HTMLSelectElement
  readonly #algorithm: HTMLSelectElement
  readonly #fitnessReasons = h('p', { class: 'hint', 'data-test': 'fitness-reasons' }, '')
  readonly #worldReasons = h('p', { class: 'hint', 'data-test': 'world-reasons' }, '')
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
  readonly #start = h('button', { class: 'primary', type: 'submit', 'data-test': 'run-start' }, 'Start')

  constructor(connection: Connection, info: EvolutionInfo) {
    this.#connection = connection
    this.#info = info
    const start = info.default_run
    this.#where.dataset.test = 'run-where'
    this.#body = chosenFrom(info.bodies, start.body, 'run-body', () => this.#bodyChosen())
    this.#fitness = chosenFrom(info.fitnesses, start.fitness ?? fitnessFor(info, start.body), 'run-fitness', () =>
      this.#fitnessChosen(),
    )
    this.#world = chosenFrom(info.worlds, start.world, 'run-world', () => this.#describe())
    const algorithms = info.algorithms.map((name) => ({ value: name, label: ALGORITHMS[name] ?? name }))
    this.#algorithm = select(algorithms, start.algorithm, () => this.#describe())
    this.#algorithm.dataset.test = 'run-algorithm'
    this.#generations = number(String(start.generations), LIMITS.generations, 'run-generations', true)
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
      field('Body', this.#body),
      field('Fitness', this.#fitness),
      this.#fitnessReasons,
      field('World', this.#world),
      this.#worldReasons,
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
      field('Target fitness', this.#target),
    )
    const fields = h(
      'fieldset',
      { class: 'bare-fieldset', disabled: !may },
      field('Evaluated by', this.#where),
      this.#elsewhere,
      this.#here,
      field('Algorithm', this.#algorithm),
      this.#algorithmHint,
      numbers,
      h('div', { class: 'row' }, this.#start),
    )
    return h('form', { class: 'new-run', 'data-test': 'new-run', onsubmit }, fields)
  }

  #bodyChosen(): void {
    this.#fitness.value = fitnessFor(this.#info, this.#body.value)
    this.#fitnessChosen()
  }

  #fitnessChosen(): void {
    this.#world.value = worldFor(this.#info, this.#body.value, this.#fitness.value, this.#world.value)
    this.#describe()
  }

  /** Updates what depends on other fields: what is offered, hints and placeholders. */
  #describe(): void {
    const elsewhere = this.#where.value === SIMULATORS
    this.#elsewhere.hidden = !elsewhere
    this.#here.hidden = elsewhere
    const [info, body, fitness] = [this.#info, this.#body.value, this.#fitness.value]
    offer(this.#fitness, this.#fitnessReasons, (name) => fitnessObjection(info, body, name))
    offer(this.#world, this.#worldReasons, (name) => objection(info, body, fitness, name))
    const blind = elsewhere && this.#algorithm.value === 'map-elites'
    setText(
      this.#algorithmHint,
      blind ? 'Robot Simulators report nothing but a fitness: the solutions differ in size and mean weight.' : '',
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
    if (this.#where.value === OWN) return []
    const addresses = splitAddresses(this.#addresses.value)
    return addresses.length > 0 ? addresses : [DEFAULT_SIMULATOR]
  }

  #read(): NewRun {
    return {
      simulators: this.#simulators(),
      world: this.#world.value,
      body: this.#body.value,
      fitness: this.#fitness.value,
      algorithm: this.#algorithm.value,
      generations: this.#generations.valueAsNumber,
      population: orNull(this.#population.valueAsNumber),
      hidden: orNull(this.#hidden.valueAsNumber),
      seed: this.#seed.valueAsNumber,
      target: orNull(this.#target.valueAsNumber),
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

function option({ name, title }: { name: string; title: string }): { value: string; label: string } {
  // titles often start with the name in different case
  return { value: name, label: title.toLowerCase().startsWith(name.toLowerCase()) ? title : `${name}: ${title}` }
}

function chosenFrom(
  choices: { name: string; title: string }[],
  chosen: string,
  test: string,
  onchange: () => void,
): HTMLSelectElement {
  const element = select(choices.map(option), chosen, () => {
    element.title = element.selectedOptions[0]?.textContent ?? ''
    onchange()
  })
  element.title = element.selectedOptions[0]?.textContent ?? ''
  element.dataset.test = test
  return element
}

/** Disables the options that make no sense, and says why. */
function offer(menu: HTMLSelectElement, hint: HTMLElement, objectionTo: (name: string) => string | null): void {
  const objections = [...menu.options].map((option) => ({ name: option.value, reason: objectionTo(option.value) }))
  for (const [at, option] of [...menu.options].entries()) option.disabled = objections[at]?.reason !== null
  setText(hint, reasonsOf(objections))
  hint.hidden = hint.textContent === ''
  menu.title = menu.selectedOptions[0]?.textContent ?? ''
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
