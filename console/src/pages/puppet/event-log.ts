// Logs the robot's events, and changes caused by other operators.

import type { Puppet, PuppetEvent } from '../../api'
import type { OperatorPanel } from './operator-panel'

export class EventLog {
  readonly #panel: OperatorPanel

  constructor(panel: OperatorPanel) {
    this.#panel = panel
  }

  /** Filters out events received before: some are repeated after a reconnect. */
  fresh(events: PuppetEvent[]): PuppetEvent[] {
    const latest = Math.max(-1, ...events.map((event) => event.number))
    // a restarted server counts from the beginning
    const { log } = this.#panel
    if (latest < log.lastEvent) log.lastEvent = -1
    const fresh = events.filter((event) => event.number > log.lastEvent)
    log.lastEvent = Math.max(log.lastEvent, latest)
    return fresh
  }

  handle(event: PuppetEvent): void {
    const { log, info } = this.#panel
    const nameOf = (id: number) => info.gestures.find((gesture) => gesture.id === id)?.tag ?? String(id)
    switch (event.what) {
      case 'speak-begun':
        log.add('robot', 'Started speaking', event.time)
        break
      case 'speak-done':
        log.add('robot', 'Finished speaking', event.time)
        break
      case 'speak-gesture':
        log.add('robot', `Gesture in speech: [${nameOf(event.gesture)}]`, event.time)
        break
      case 'gesture-done':
        log.add('robot', `Gesture finished: ${nameOf(event.gesture)}`, event.time)
        break
      // logged by the panel that shows what was heard, with its options
      case 'utterance':
        break
    }
  }

  /** Logs changes of expression and gaze, whoever caused them. */
  update(puppet: Puppet): void {
    const { log, info, puppet: before } = this.#panel
    if (!before) return
    const nameOf = (list: { id: number; name: string }[], number: number) =>
      list.find(({ id }) => id === number)?.name ?? String(number)
    if (puppet.expression !== before.expression) {
      log.add('robot', `Expression: ${nameOf(info.expressions, puppet.expression)}`)
    }
    if (puppet.look_at !== before.look_at) log.add('robot', `Gaze: ${nameOf(info.look_ats, puppet.look_at)}`)
  }
}
