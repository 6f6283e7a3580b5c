// The form for a new run.

import type { EvolutionInfo, NewRun } from '../../api'
import type { Connection } from '../../connection'
import { card, errorMessage, field, h, notice, select, setText } from '../../ui'
import { addressFault, splitAddresses } from './addresses'

/** Of the program's own limits, so that slips are found before they are sent. */
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
  'map-elites': 'map-elites: many different good ones',
  neat: 'neat: nets that grow',
  nsga2: 'nsga2: several aims at once',
}

export function newRunForm(connection: Connection, info: EvolutionInfo): HTMLElement {
  const may = connection.role === 'operator'
  const addresses = h('textarea', {
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: 'none: in the run’s own process',
    'data-test': 'run-addresses',
  })
  const where = h('p', { class: 'hint' }, '')
  const body = chosenFrom(info.bodies, 'run-body')
  const world = chosenFrom(info.worlds, 'run-world')
  const fitness = select([{ value: '', label: 'the body’s own' }, ...info.fitnesses.map(option)], '', () => undefined)
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

  /** What is chosen decides what the other fields mean. */
  function describe(): void {
    const elsewhere = splitAddresses(addresses.value).length > 0
    for (const choice of [body, world, fitness]) choice.disabled = elsewhere
    setText(
      where,
      elsewhere
        ? 'Robot Simulators test the individuals, in the body and world that they were started with.'
        : 'The run tests its individuals in its own process, in this body and world.',
    )
    population.placeholder = algorithm.value === 'cma-es' ? 'by the net' : '100'
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
          notice('The run has begun.')
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
      field('Robot Simulators to test on (addresses)', addresses),
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
        field('End at fitness', target),
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
        'You are watching as a viewer. The operator’s link lets you start runs.',
      ),
    form,
  )
}

/** Where others find this server's simulators. */
function ownAddresses(info: EvolutionInfo): HTMLElement {
  const line = (title: string, address: string | null, test: string) => [
    h('dt', null, title),
    h('dd', { class: 'mono', 'data-test': test }, address ?? 'does not listen'),
  ]
  return h(
    'dl',
    { class: 'own' },
    ...line('Robot Simulator', info.robot_simulator, 'robot-simulator'),
    ...line('World Simulator', info.world_simulator, 'world-simulator'),
    h('dt', null, 'Runs are in'),
    h('dd', { class: 'mono' }, info.folder),
  )
}

function option({ name, title }: { name: string; title: string }): { value: string; label: string } {
  // titles often begin with the name in better spelling
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

/** Empty fields say that the program chooses. */
function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
