// Macros: saved on the server, run here one at a time, stopped at any moment.

import { errorMessage, notice } from '../../ui'
import { type Macro, readMacros } from './acts'
import { Observable } from './observable'
import type { OperatorPanel } from './operator-panel'

export class Macros extends Observable {
  list: Macro[] = []
  /** The one that runs, and which of its acts it is at. */
  running: { name: string; place: number } | null = null
  #stopping: AbortController | null = null
  readonly #unsubscribe: () => void
  readonly #panel: OperatorPanel

  constructor(panel: OperatorPanel) {
    super()
    this.#panel = panel
    this.#unsubscribe = panel.connection.on('saved', (saved) => {
      if (saved.key !== 'macros') return
      this.list = readMacros(saved.value)
      this.notify()
    })
  }

  find(name: string): Macro | undefined {
    return this.list.find((macro) => macro.name.toLowerCase() === name.trim().toLowerCase())
  }

  /** Puts a macro in the place of the one called `was`, or behind the others; without a macro, takes that one away. */
  async save(was: string | null, macro: Macro | null): Promise<boolean> {
    const list = this.list.filter((other) => other.name !== was && other.name !== macro?.name)
    const place = this.list.findIndex((other) => other.name === was)
    if (macro) list.splice(place < 0 ? list.length : place, 0, macro)
    try {
      await this.#panel.connection.request({ do: 'save', key: 'macros', value: list })
    } catch (error) {
      notice(errorMessage(error), 'error')
      return false
    }
    this.list = list
    this.notify()
    return true
  }

  /** Runs it to its end; another one that runs is stopped. */
  async run(macro: Macro): Promise<void> {
    this.stop()
    const stopping = new AbortController()
    this.#stopping = stopping
    this.#panel.log.add('done', `Macro begins: ${macro.name}`)
    let complete = true
    for (const [place, act] of macro.acts.entries()) {
      this.running = { name: macro.name, place }
      this.notify()
      if (act.do === 'wait') {
        await pause(act.seconds, stopping.signal)
      } else {
        const begun = this.#panel.speech.begun
        complete = await this.#panel.perform(act)
        if (complete && act.do === 'say') await this.#panel.speech.over(begun, stopping.signal)
      }
      if (stopping.signal.aborted) return
      if (!complete) break
    }
    this.#stopping = null
    this.running = null
    this.#panel.log.add('done', complete ? `Macro is done: ${macro.name}` : `Macro broke off: ${macro.name}`)
    this.notify()
  }

  stop(): void {
    if (!this.#stopping) return
    this.#stopping.abort()
    this.#stopping = null
    this.#panel.log.add('done', `Macro was stopped: ${this.running?.name ?? ''}`)
    this.running = null
    this.notify()
  }

  close(): void {
    this.stop()
    this.#unsubscribe()
  }
}

function pause(seconds: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000)
    stopped.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
