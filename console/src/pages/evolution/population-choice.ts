// The choice of a population: a body and its fitness function.

import type { EvolutionInfo } from '../../api'
import { field, h, setText } from '../../ui'
import { fitnessFor, fitnessObjection, type Population } from './combinations'
import { menuOf, offer } from './menus'

export class PopulationChoice {
  readonly element: HTMLElement
  readonly #info: EvolutionInfo
  readonly #body: HTMLSelectElement
  readonly #fitness: HTMLSelectElement
  readonly #reasons: HTMLElement
  readonly #heading = h('h3', null, '')
  /** 0 or 1 if it is one of two populations, or null. */
  #side: number | null = null

  /** `test` begins the names of the hooks for tests. */
  constructor(info: EvolutionInfo, body: string, test: string, onchange: () => void) {
    this.#info = info
    this.#body = menuOf(info.bodies, body, `${test}-body`, () => {
      this.#fitness.value = fitnessFor(info, this.#body.value, this.#side)
      onchange()
    })
    this.#fitness = menuOf(info.fitnesses, fitnessFor(info, body, null), `${test}-fitness`, onchange)
    this.#reasons = h('p', { class: 'hint', 'data-test': `${test}-fitness-reasons` }, '')
    this.element = h(
      'div',
      { class: 'group' },
      this.#heading,
      field('Body', this.#body),
      field('Fitness', this.#fitness),
      this.#reasons,
    )
  }

  get chosen(): Population {
    return { body: this.#body.value, fitness: this.#fitness.value }
  }

  /** Chooses a body with a fitness function that makes sense. */
  choose(body: string, side: number | null): void {
    this.#side = side
    this.#body.value = body
    this.#fitness.value = fitnessFor(this.#info, body, side)
  }

  /** Updates what is offered. `kind` is the name of its kind if it is one of two. */
  describe(kind: string): void {
    setText(this.#heading, kind)
    this.#heading.hidden = kind === ''
    const { body } = this.chosen
    offer(this.#fitness, this.#reasons, (fitness) => fitnessObjection(this.#info, { body, fitness }, this.#side))
  }
}
