// Shows which of the robot's sensors and voice components have failed, and why.

import type { Connection } from '../../connection'
import { h, setText } from '../../ui'

/** Components of the server that an operator depends on. */
const parts = ['voice', 'loudspeaker', 'ears', 'recogniser', 'camera', 'faces']

export class Faults {
  /** Link to the Health page; hidden while everything works. */
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
      setText(this.element, `Failed: ${[...this.#words.keys()].join(', ')}`)
    })
  }

  /** Why a component has failed; null if it has not. */
  of(part: string): string | null {
    return this.#words.get(part) ?? null
  }

  close(): void {
    this.#unsubscribe()
  }
}
