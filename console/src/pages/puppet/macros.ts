// Macros: saved on the server, and run here one at a time.

import { errorMessage, notice } from '../../ui'
import { type Macro, readMacros } from './acts'
import { Observable } from './observable'
import type { OperatorPanel } from './operator-panel'

export class Macros extends Observable {
  list: Macro[] = []
  /** The running macro, and the index of its current step. */
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

  /** Replaces the macro called `was`, or appends a new one; removes it if `macro` is null. */
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

  /** Runs a macro to its end, stopping any other. */
  async run(macro: Macro): Promise<void> {
    this.stop()
    const stopping = new AbortController()
    this.#stopping = stopping
    this.#panel.log.add('done', `Macro started: ${macro.name}`)
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
    this.#panel.log.add('done', complete ? `Macro finished: ${macro.name}` : `Macro failed: ${macro.name}`)
    this.notify()
  }

  stop(): void {
    if (!this.#stopping) return
    this.#stopping.abort()
    this.#stopping = null
    this.#panel.log.add('done', `Macro stopped: ${this.running?.name ?? ''}`)
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
