// State shared by the operator panel's widgets: connection, the robot's state, the log, and sending of commands.

import type { Puppet, PuppetCommand, PuppetInfo } from '../../api'
import type { Connection } from '../../connection'
import { errorMessage, notice } from '../../ui'
import { type Act, commandOf, describeAct } from './acts'
import { Faults } from './faults'
import type { SessionLog } from './log'
import { Speech } from './speech'

/** Minimum interval between a slider's commands, and the time until its value is logged, in ms. */
const commandGapMs = 50
const settledMs = 700

/** A part of the operator panel. */
export interface Widget {
  element: HTMLElement
  /** Called with each state of the robot. */
  show?(puppet: Puppet): void
  /** Called when its tab is selected. */
  shown?(): void
  close?(): void
}

export class OperatorPanel {
  /** The latest state of the robot. */
  puppet: Puppet | null = null
  readonly speech = new Speech()
  readonly faults: Faults
  readonly #throttled = new Map<string, { timer: number; command: PuppetCommand | null }>()
  readonly #logTimers = new Map<string, number>()

  constructor(
    readonly connection: Connection,
    readonly info: PuppetInfo,
    readonly log: SessionLog,
  ) {
    this.faults = new Faults(connection)
  }

  /** Performs and logs an action. Resolves to whether the server accepted it; a refusal is shown to the operator. */
  async perform(act: Act): Promise<boolean> {
    const command = commandOf(act, this.info)
    if (command === null) {
      if (act.do !== 'wait') notice(`Not available on this robot: ${describeAct(act, this.info)}`, 'error')
      return false
    }
    return this.send(
      command,
      act.do === 'say' ? act.text : describeAct(act, this.info),
      act.do === 'say' ? 'said' : 'done',
    )
  }

  /** Sends a command, logged with this text. */
  async send(command: PuppetCommand, words: string, kind: 'said' | 'done' = 'done'): Promise<boolean> {
    // logged before the answer, so that the robot's reactions follow it
    this.log.add(kind, words)
    try {
      await this.connection.request({ do: 'puppet', order: command })
      return true
    } catch (error) {
      this.log.add('refused', `${words} (${errorMessage(error)})`)
      notice(errorMessage(error), 'error')
      return false
    }
  }

  /** For sliders: sends the latest command of this name at most 20 times a second, and logs the final value. */
  sendLatest(name: string, command: PuppetCommand, words: string): void {
    const waiting = this.#throttled.get(name)
    if (waiting) {
      waiting.command = command
    } else {
      this.connection.send({ do: 'puppet', order: command })
      this.#throttle(name)
    }
    clearTimeout(this.#logTimers.get(name))
    this.#logTimers.set(
      name,
      window.setTimeout(() => {
        this.#logTimers.delete(name)
        this.log.add('done', words)
      }, settledMs),
    )
  }

  #throttle(name: string): void {
    const timer = window.setTimeout(() => {
      const command = this.#throttled.get(name)?.command
      this.#throttled.delete(name)
      if (!command) return
      this.connection.send({ do: 'puppet', order: command })
      this.#throttle(name)
    }, commandGapMs)
    this.#throttled.set(name, { timer, command: null })
  }

  close(): void {
    this.faults.close()
    for (const { timer } of this.#throttled.values()) clearTimeout(timer)
    for (const timer of this.#logTimers.values()) clearTimeout(timer)
  }
}
