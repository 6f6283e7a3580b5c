// Whether the robot speaks, from its events and from its state, whichever knows first.

import type { Puppet, PuppetEvent } from '../../api'
import { Observable } from './observable'

export class Speech extends Observable {
  /** Numbers of the speeches that began and are not over; -1 for one that only the state tells of. */
  readonly #active = new Set<number>()
  /** How many speeches began. */
  begun = 0

  get speaking(): boolean {
    return this.#active.size > 0
  }

  handle(event: PuppetEvent): void {
    if (event.what === 'speak-begun') {
      this.begun += 1
      this.#active.delete(-1)
      this.#active.add(event.speech)
    } else if (event.what === 'speak-done') {
      this.#active.delete(event.speech)
      this.#active.delete(-1)
    } else {
      return
    }
    this.notify()
  }

  update(puppet: Puppet): void {
    if (puppet.speaking === this.speaking) return
    if (puppet.speaking) this.#active.add(-1)
    else this.#active.clear()
    this.notify()
  }

  /**
   * Resolves when a text that was ordered while `begun` speeches had begun is over. A text that never begins (nothing
   * but tags) is not waited for longer than `patience`, ms.
   */
  over(begun: number, stopped: AbortSignal, timeoutMs = 3000): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer)
        leave()
        stopped.removeEventListener('abort', settle)
        resolve()
      }
      let late = false
      const look = () => {
        if ((late || this.begun > begun) && !this.speaking) settle()
      }
      const timer = setTimeout(() => {
        late = true
        look()
      }, timeoutMs)
      const leave = this.onChange(look)
      stopped.addEventListener('abort', settle)
      look()
    })
  }
}
