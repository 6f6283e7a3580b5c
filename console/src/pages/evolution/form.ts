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
  const may = connection.role === 'operator'
  const addresses = h('textarea', {
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: 'none: run in its own process',
    'data-test': 'run-addresses',
  })
  const where = h('p', { class: 'hint' }, '')
  const body = chosenFrom(info.bodies, 'run-body')
  const world = chosenFrom(info.worlds, 'run-world')
  const fitness = select(
    [{ value: '', label: 'default of the body' }, ...info.fitnesses.map(option)],
    '',
    () => undefined,
  )
  fitness.dataset.test = 'run-fitness'
  const algorithm = select(
    info.algorithms.map((name) => ({ value: name, label: ALGORITHMS[name] ?? name })),
    info.algorithms[0] ?? '',
    () => describe(),
  )
  algorithm.dataset.test = 'run-algorithm'
  const generations = number('50', LIMITS.generations, 'run-generations', true)
  const population = number('', LIMITS.population, 'run-population')
  const hidden = number('', LIMITS.hidden, 'run-hidden')
  const seed = number('1', LIMITS.seed, 'run-seed', true)
  const target = h('input', {
    type: 'number',
    inputMode: 'decimal',
    step: 'any',
    placeholder: 'none',
    'data-test': 'run-target',
  })
  const start = h('button', { class: 'primary', type: 'submit', 'data-test': 'run-start' }, 'Start')

  /** Updates hints and placeholders that depend on other fields. */
  function describe(): void {
    const elsewhere = splitAddresses(addresses.value).length > 0
    for (const choice of [body, world, fitness]) choice.disabled = elsewhere
    setText(
      where,
      elsewhere
        ? 'Robot Simulators evaluate the individuals, with their own body and world.'
        : 'The run evaluates individuals in its own process, with this body and world.',
    )
    population.placeholder = algorithm.value === 'cma-es' ? 'auto' : '100'
    hidden.placeholder = algorithm.value === 'neat' ? 'few' : '4'
  }

  function check(): void {
    const fault = splitAddresses(addresses.value)
      .map(addressFault)
      .find((found) => found !== null)
    addresses.setCustomValidity(fault ?? '')
    describe()
  }
  addresses.addEventListener('input', check)
  describe()

  function read(): NewRun {
    return {
      simulators: splitAddresses(addresses.value),
      world: world.value,
      body: body.value,
      fitness: fitness.value || null,
      algorithm: algorithm.value,
      generations: generations.valueAsNumber,
      population: orNull(population.valueAsNumber),
      hidden: orNull(hidden.valueAsNumber),
      seed: seed.valueAsNumber,
      target: orNull(target.valueAsNumber),
    }
  }

  const form = h(
    'form',
    {
      class: 'new-run',
      'data-test': 'new-run',
      onsubmit: async (event: SubmitEvent) => {
        event.preventDefault()
        start.disabled = true
        try {
          await connection.request({ do: 'start-run', run: read() })
          notice('Run started.')
        } catch (error) {
          notice(errorMessage(error), 'error')
        } finally {
          start.disabled = false
        }
      },
    },
    h(
      'fieldset',
      { class: 'bare-fieldset', disabled: !may },
      field('Addresses of Robot Simulators', addresses),
      where,
      field('Body', body),
      field('World', world),
      field('Fitness', fitness),
      field('Algorithm', algorithm),
      h(
        'div',
        { class: 'numbers' },
        field('Generations', generations),
        field('Population', population),
        field('Hidden', hidden),
        field('Seed', seed),
        field('Target fitness', target),
      ),
      h('div', { class: 'row' }, start),
    ),
  )
  return card(
    'New run',
    ownAddresses(info),
    !may &&
      h(
        'p',
        { class: 'reason', 'data-test': 'viewer-reason' },
        'You are a viewer. Open the operator’s link to start runs.',
      ),
    form,
  )
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
    h('dd', { class: 'mono' }, info.folder),
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
