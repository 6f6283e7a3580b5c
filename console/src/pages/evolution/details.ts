// Fetches details of runs: of the selected one continuously, of compared ones from time to time.

import type { RunDetail, RunSummary } from '../../api'
import type { Connection } from '../../connection'
import { errorMessage, notice } from '../../ui'

/** Interval between requests for runs that are only compared. */
const ROUND_MS = 3000

export class Details {
  readonly known = new Map<string, RunDetail>()
  #connection: Connection
  #chosen: string | null = null
  #compared: string[] = []
  #runs = new Map<string, RunSummary>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #asking = false
  /** Generation at which the chosen run's details were refused. */
  #refusedAt: number | null = null

  constructor(connection: Connection) {
    this.#connection = connection
  }

  choose(name: string): void {
    this.#chosen = name
    this.#refusedAt = null
    void this.#watch(name)
  }

  compare(names: string[]): void {
    this.#compared = names
    this.#soon(0)
  }

  runs(runs: RunSummary[]): void {
    this.#runs = new Map(runs.map((run) => [run.name, run]))
    this.#tryAgain()
    this.#soon(ROUND_MS)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#compared = []
    this.#connection.send({ do: 'run', name: null })
  }

  /** Retries after a new generation: a run that has just started has no details yet. */
  #tryAgain(): void {
    const generation = this.#generation(this.#chosen)
    if (this.#chosen === null || this.#refusedAt === null || generation <= this.#refusedAt) return
    this.#refusedAt = null
    void this.#watch(this.#chosen)
  }

  #generation(name: string | null): number {
    return this.#runs.get(name ?? '')?.generation ?? 0
  }

  #soon(wait: number): void {
    if (wait > 0 && this.#timer !== undefined) return
    clearTimeout(this.#timer)
    this.#timer = this.#compared.length >= 2 ? setTimeout(() => void this.#round(), wait) : undefined
  }

  /** The server sends details of one run at a time: compared runs are requested one by one, the selected one last. */
  async #round(): Promise<void> {
    this.#timer = undefined
    if (this.#asking) return this.#soon(ROUND_MS)
    const behind = this.#compared.filter((name) => name !== this.#chosen && this.#isBehind(name))
    if (behind.length === 0) return
    this.#asking = true
    for (const name of behind) await this.#watch(name)
    if (this.#chosen !== null) await this.#watch(this.#chosen)
    this.#asking = false
  }

  #isBehind(name: string): boolean {
    const known = this.known.get(name)?.populations[0]
    return this.#runs.has(name) && (known ? (known.generations.at(-1) ?? 0) : -1) < this.#generation(name)
  }

  async #watch(name: string): Promise<void> {
    try {
      await this.#connection.request({ do: 'run', name })
    } catch (error) {
      const generation = this.#generation(name)
      if (name === this.#chosen) this.#refusedAt = generation
      if (generation > 0) notice(errorMessage(error), 'error')
    }
  }
}
