// The form for a new run.

import type { EvolutionInfo, NewRun } from '../../api'
import type { Connection } from '../../connection'
import { card, errorMessage, field, h, notice, select, setText } from '../../ui'
import { addressFault, splitAddresses } from './addresses'

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

class NewRunForm {
  readonly element: HTMLElement
  readonly #connection: Connection
  readonly #addresses = h('textarea', {
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: 'none: run in its own process',
    'data-test': 'run-addresses',
    oninput: () => this.#check(),
  })
  readonly #where = h('p', { class: 'hint' }, '')
  readonly #body: HTMLSelectElement
  readonly #world: HTMLSelectElement
  readonly #fitness: HTMLSelectElement
  readonly #algorithm: HTMLSelectElement
  readonly #generations = number('50', LIMITS.generations, 'run-generations', true)
  readonly #population = number('', LIMITS.population, 'run-population')
  readonly #hidden = number('', LIMITS.hidden, 'run-hidden')
  readonly #seed = number('1', LIMITS.seed, 'run-seed', true)
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
    this.#body = chosenFrom(info.bodies, 'run-body')
    this.#world = chosenFrom(info.worlds, 'run-world')
    const fitnesses = [{ value: '', label: 'default of the body' }, ...info.fitnesses.map(option)]
    this.#fitness = select(fitnesses, '', () => undefined)
    this.#fitness.dataset.test = 'run-fitness'
    const algorithms = info.algorithms.map((name) => ({ value: name, label: ALGORITHMS[name] ?? name }))
    this.#algorithm = select(algorithms, info.algorithms[0] ?? '', () => this.#describe())
    this.#algorithm.dataset.test = 'run-algorithm'
    const may = connection.role === 'operator'
    const viewer = 'You are a viewer. Open the operator’s link to start runs.'
    this.element = card(
      'New run',
      ownAddresses(info),
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
      field('Addresses of Robot Simulators', this.#addresses),
      this.#where,
      field('Body', this.#body),
      field('World', this.#world),
      field('Fitness', this.#fitness),
      field('Algorithm', this.#algorithm),
      numbers,
      h('div', { class: 'row' }, this.#start),
    )
    return h('form', { class: 'new-run', 'data-test': 'new-run', onsubmit }, fields)
  }

  /** Updates hints and placeholders that depend on other fields. */
  #describe(): void {
    const elsewhere = splitAddresses(this.#addresses.value).length > 0
    for (const choice of [this.#body, this.#world, this.#fitness]) choice.disabled = elsewhere
    setText(
      this.#where,
      elsewhere
        ? 'Robot Simulators evaluate the individuals, with their own body and world.'
        : 'The run evaluates individuals in its own process, with this body and world.',
    )
    this.#population.placeholder = this.#algorithm.value === 'cma-es' ? 'auto' : '100'
    this.#hidden.placeholder = this.#algorithm.value === 'neat' ? 'few' : '4'
  }

  #check(): void {
    const faults = splitAddresses(this.#addresses.value).map(addressFault)
    this.#addresses.setCustomValidity(faults.find((fault) => fault !== null) ?? '')
    this.#describe()
  }

  #read(): NewRun {
    return {
      simulators: splitAddresses(this.#addresses.value),
      world: this.#world.value,
      body: this.#body.value,
      fitness: this.#fitness.value || null,
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

/** Addresses of this server's own simulators. */
function ownAddresses(info: EvolutionInfo): HTMLElement {
  const line = (title: string, address: string | null, test: string) => [
    h('dt', null, title),
    h('dd', { class: 'mono', 'data-test': test }, address ?? 'not running'),
  ]
  return h(
    'dl',
    { class: 'own' },
    ...line('Robot Simulator', info.robot_simulator, 'robot-simulator'),
    ...line('World Simulator', info.world_simulator, 'world-simulator'),
    h('dt', null, 'Folder of runs'),
    info.folder === '' ? h('dd', { class: 'quiet' }, 'hidden') : h('dd', { class: 'mono' }, info.folder),
  )
}

function option({ name, title }: { name: string; title: string }): { value: string; label: string } {
  // titles often start with the name in different case
  return { value: name, label: title.toLowerCase().startsWith(name.toLowerCase()) ? title : `${name}: ${title}` }
}

function chosenFrom(choices: EvolutionInfo['worlds'], test: string): HTMLSelectElement {
  const element = select(choices.map(option), choices[0]?.name ?? '', () => {
    element.title = element.selectedOptions[0]?.textContent ?? ''
  })
  element.title = element.selectedOptions[0]?.textContent ?? ''
  element.dataset.test = test
  return element
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
