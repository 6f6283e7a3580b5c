// Whether the robot is speaking, from its events and its state, whichever comes first.

import type { Puppet, PuppetEvent } from '../../api'
import { Observable } from './observable'

export class Speech extends Observable {
  /** Numbers of speeches in progress; -1 for one known only from the state. */
  readonly #active = new Set<number>()
  /** Number of speeches started. */
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
   * Resolves when the text sent after `begun` speeches had started is finished. A text that never starts, such as one
   * with only tags, times out after `timeoutMs`.
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
