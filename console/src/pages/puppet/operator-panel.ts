// What the parts of the operator's desk share: the link, the robot's latest news, the log, and how orders are given.

import type { Puppet, PuppetCommand, PuppetInfo } from '../../api'
import type { Connection } from '../../connection'
import { errorMessage, notice } from '../../ui'
import { type Act, commandOf, describeAct } from './acts'
import { Faults } from './faults'
import type { SessionLog } from './log'
import { Speech } from './speech'

/** Of the operator's sliders: orders a second, and how long one rests before the log has its value. */
const commandGapMs = 50
const settledMs = 700

/** A panel of the desk. */
export interface Widget {
  element: HTMLElement
  /** Whenever the robot's state is heard. */
  show?(puppet: Puppet): void
  /** When its tab is chosen. */
  shown?(): void
  close?(): void
}

export class OperatorPanel {
  /** The latest that is known. */
  puppet: Puppet | null = null
  readonly speech = new Speech()
  readonly faults: Faults
  readonly #turned = new Map<string, { timer: number; order: PuppetCommand | null }>()
  readonly #rests = new Map<string, number>()

  constructor(
    readonly connection: Connection,
    readonly info: PuppetInfo,
    readonly log: SessionLog,
  ) {
    this.faults = new Faults(connection)
  }

  /** Does it, and has it in the log. Resolves with whether the server agreed; if not, the operator was told why. */
  async perform(act: Act): Promise<boolean> {
    const order = commandOf(act, this.info)
    if (order === null) {
      if (act.do !== 'wait') notice(`This robot cannot do this. ${describeAct(act, this.info)}`, 'error')
      return false
    }
    return this.give(
      order,
      act.do === 'say' ? act.text : describeAct(act, this.info),
      act.do === 'say' ? 'said' : 'done',
    )
  }

  /** Gives an order that the log calls so. */
  async give(order: PuppetCommand, words: string, kind: 'said' | 'done' = 'done'): Promise<boolean> {
    // before the answer, so that what the robot does about it comes after it
    this.log.add(kind, words)
    try {
      await this.connection.request({ do: 'puppet', order })
      return true
    } catch (error) {
      this.log.add('refused', `${words} (${errorMessage(error)})`)
      notice(errorMessage(error), 'error')
      return false
    }
  }

  /** For sliders: gives the latest order of this name, at most 20 times a second, and logs where it came to rest. */
  turn(name: string, order: PuppetCommand, words: string): void {
    const waiting = this.#turned.get(name)
    if (waiting) {
      waiting.order = order
    } else {
      this.connection.send({ do: 'puppet', order })
      this.#pace(name)
    }
    clearTimeout(this.#rests.get(name))
    this.#rests.set(
      name,
      window.setTimeout(() => {
        this.#rests.delete(name)
        this.log.add('done', words)
      }, settledMs),
    )
  }

  #pace(name: string): void {
    const timer = window.setTimeout(() => {
      const order = this.#turned.get(name)?.order
      this.#turned.delete(name)
      if (!order) return
      this.connection.send({ do: 'puppet', order })
      this.#pace(name)
    }, commandGapMs)
    this.#turned.set(name, { timer, order: null })
  }

  close(): void {
    this.faults.close()
    for (const { timer } of this.#turned.values()) clearTimeout(timer)
    for (const timer of this.#rests.values()) clearTimeout(timer)
  }
}
