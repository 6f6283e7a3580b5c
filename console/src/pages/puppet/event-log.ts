// What the robot tells of itself, for the log: events, and changes that somebody else ordered.

import type { Puppet, PuppetEvent } from '../../api'
import type { OperatorPanel } from './operator-panel'

export class EventLog {
  readonly #panel: OperatorPanel

  constructor(panel: OperatorPanel) {
    this.#panel = panel
  }

  /** Those that were not heard before: some may come again after another page or a reconnect. */
  fresh(events: PuppetEvent[]): PuppetEvent[] {
    const latest = Math.max(-1, ...events.map((event) => event.number))
    // a server that was started anew counts from the beginning
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
        log.add('robot', 'Begins to speak', event.time)
        break
      case 'speak-done':
        log.add('robot', 'Has spoken', event.time)
        break
      case 'speak-gesture':
        log.add('robot', `Gesture in the text: [${nameOf(event.gesture)}]`, event.time)
        break
      case 'gesture-done':
        log.add('robot', `Gesture is done: ${nameOf(event.gesture)}`, event.time)
        break
      // logged by the panel that shows what was heard, with its options
      case 'utterance':
        break
    }
  }

  /** Whoever ordered it: the robot looks and faces otherwise now. */
  update(puppet: Puppet): void {
    const { log, info, puppet: before } = this.#panel
    if (!before) return
    const nameOf = (list: { id: number; name: string }[], number: number) =>
      list.find(({ id }) => id === number)?.name ?? String(number)
    if (puppet.expression !== before.expression) {
      log.add('robot', `Expression is now: ${nameOf(info.expressions, puppet.expression)}`)
    }
    if (puppet.look_at !== before.look_at) log.add('robot', `Looks now: ${nameOf(info.look_ats, puppet.look_at)}`)
  }
}
