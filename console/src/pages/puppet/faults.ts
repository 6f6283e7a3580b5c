// What of the robot's senses and voice does not work, and why: a silent robot or a black picture must not be a riddle.

import type { Connection } from '../../connection'
import { h, setText } from '../../ui'

/** Parts of the server's health that an operator depends on. */
const parts = ['voice', 'loudspeaker', 'ears', 'recogniser', 'camera', 'faces']

export class Faults {
  /** Leads to the page that says more; hidden while all is well. */
  readonly element = h('a', { class: 'pp-faults bad', href: '#health', hidden: true, 'data-test': 'faults' })
  readonly #words = new Map<string, string>()
  readonly #unsubscribe: () => void

  constructor(connection: Connection) {
    this.#unsubscribe = connection.on('health', (health) => {
      this.#words.clear()
      for (const { name, works, words } of health.parts) {
        if (!works && parts.includes(name)) this.#words.set(name, words)
      }
      this.element.hidden = this.#words.size === 0
      this.element.title = [...this.#words].map(([name, words]) => `${name}: ${words}`).join('\n')
      setText(this.element, `Not well: ${[...this.#words.keys()].join(', ')}`)
    })
  }

  /** Why this part does not work; null if it does, as far as is known. */
  of(part: string): string | null {
    return this.#words.get(part) ?? null
  }

  close(): void {
    this.#unsubscribe()
  }
}
