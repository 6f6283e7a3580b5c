// The Puppet page: the operator panel of the puppet.

import type { Puppet, PuppetEvent, Topic } from '../api'
import type { Opener, Page } from '../page'
import { button, empty, h, notice, setText } from '../ui'
import './puppet.css'
import './puppet/panels.css'
import './puppet/tools.css'
import './puppet/phone.css'
import { actions } from './puppet/actions'
import { sentenceCase } from './puppet/acts'
import { EventLog } from './puppet/event-log'
import { eyes } from './puppet/eyes'
import { History } from './puppet/history'
import { type HotkeyDialog, hotkeyDialog } from './puppet/hotkey-dialog'
import { Hotkeys } from './puppet/hotkeys'
import { type Layout, layout, type Section } from './puppet/layout'
import { sessionLog } from './puppet/log'
import { logPanel } from './puppet/log-panel'
import { macroPanel } from './puppet/macro-panel'
import { Macros } from './puppet/macros'
import { OperatorPanel } from './puppet/operator-panel'
import { blockedReason, controlLabel, people } from './puppet/operators'
import { type SayBox, saidBefore, sayBox } from './puppet/say'
import { type ScriptPanel, scriptPanel } from './puppet/script-panel'
import { servos } from './puppet/servos'
import { sound } from './puppet/sound'
import { type Utterances, utterances } from './puppet/utterances'
import { weights } from './puppet/weights'

export const open: Opener = (connection) => {
  const info = connection.hello?.puppet
  return info ? new PuppetPage(new OperatorPanel(connection, info, sessionLog)) : withoutPuppet()
}

class PuppetPage implements Page {
  readonly topics: Topic[] = ['puppet', 'video', 'sound', 'world', 'health']
  readonly element: HTMLElement
  readonly #panel: OperatorPanel
  readonly #keys: Hotkeys
  readonly #macros: Macros
  readonly #events: EventLog
  readonly #box: SayBox
  readonly #utterances: Utterances
  readonly #script: ScriptPanel
  readonly #sections: Section[]
  readonly #layout: Layout
  readonly #keyList: HotkeyDialog
  readonly #control = h('span', { class: 'pp-control', 'data-test': 'reason', role: 'status' })
  readonly #stop = h(
    'button',
    { type: 'button', class: 'pp-stop', title: 'Escape', 'data-test': 'stop', onclick: () => this.#stopAll() },
    'Stop',
    h('kbd', null, 'Esc'),
  )
  readonly #ends: (() => void)[]

  constructor(panel: OperatorPanel) {
    const { connection } = panel
    this.#panel = panel
    this.#keys = new Hotkeys(connection, () => this.#may())
    this.#macros = new Macros(panel)
    this.#events = new EventLog(panel)
    const history = new History()
    this.#box = sayBox(panel, history)
    this.#utterances = utterances(panel, this.#box)
    this.#script = scriptPanel(panel, this.#macros)
    this.#sections = this.#createSections(history)
    this.#keyList = hotkeyDialog(this.#keys, () => connection.role === 'operator')
    this.#layout = layout(this.#sections, this.#bar(), this.#stop)
    this.element = this.#layout.element
    this.element.append(this.#keyList.element)
    this.#reserveKeys()
    this.#permit()
    this.#ends = [
      connection.on('puppet', (puppet) => this.#update(puppet)),
      connection.on('puppet-events', ({ events }) => this.#handle(events)),
      connection.on('hello', () => this.#permit()),
    ]
  }

  close(): void {
    for (const end of this.#ends) end()
    for (const { part } of this.#sections) part.close?.()
    this.#macros.close()
    this.#keys.close()
    this.#layout.close()
    this.#panel.close()
  }

  #createSections(history: History): Section[] {
    const panel = this.#panel
    return [
      { id: 'eyes', title: 'Camera', part: eyes(panel) },
      { id: 'say', title: 'Say', part: this.#box },
      { id: 'act', title: 'Act', part: actions(panel, this.#keys) },
      { id: 'heard', title: 'Heard', part: this.#utterances },
      { id: 'script', title: 'Script', part: this.#script },
      { id: 'macros', title: 'Macros', part: macroPanel(panel, this.#macros, this.#keys) },
      { id: 'servos', title: 'Servos', part: servos(panel) },
      { id: 'mix', title: 'Mix', part: weights(panel) },
      { id: 'voice', title: 'Voice', part: sound(panel) },
      { id: 'said', title: 'Said', part: saidBefore(panel, history, this.#box) },
      { id: 'log', title: 'Log', part: logPanel(sessionLog) },
      { id: 'people', title: 'Who', part: people(panel) },
    ]
  }

  #bar(): HTMLElement {
    return h(
      'div',
      { class: 'pp-bar' },
      h('h2', null, sentenceCase(this.#panel.info.name)),
      this.#control,
      this.#panel.faults.element,
      button('Keys', () => this.#keyList.open(), { title: 'Show and change all keys: ?', test: 'keys-open' }),
    )
  }

  #reserveKeys(): void {
    this.#keys.reserve('Escape', () => this.#stopAll())
    this.#keys.reserve('n', () => {
      if (this.#may()) this.#script.next()
    })
    this.#keys.reserve('b', () => this.#script.back())
    this.#keys.reserve('/', () => this.#box.focus())
    this.#keys.reserve('?', () => this.#keyList.open())
  }

  /** Whether this operator may send commands; shows the reason if not. */
  #may(): boolean {
    const why = blockedReason(this.#panel)
    if (why) notice(why, 'error')
    return why === null
  }

  #stopAll(): void {
    this.#macros.stop()
    if (this.#panel.connection.role === 'operator') void this.#panel.send('reset', 'Stop')
  }

  /** Enables the controls, or shows why they are disabled. */
  #permit(): void {
    const why = blockedReason(this.#panel)
    for (const { part } of this.#sections) {
      for (const fieldset of part.element.querySelectorAll<HTMLFieldSetElement>('fieldset.pp-controls')) {
        fieldset.disabled = why !== null
        fieldset.title = why ?? ''
      }
    }
    this.#stop.disabled = this.#panel.connection.role !== 'operator'
    this.#control.classList.toggle('warn', why !== null)
    const { puppet } = this.#panel
    const state = puppet ? controlLabel(this.#panel, puppet) : 'Waiting for the robot’s state.'
    setText(this.#control, why ?? state)
  }

  #update(puppet: Puppet): void {
    this.#events.update(puppet)
    this.#panel.puppet = puppet
    this.#panel.speech.update(puppet)
    for (const { part } of this.#sections) part.show?.(puppet)
    this.#permit()
  }

  #handle(events: PuppetEvent[]): void {
    for (const event of this.#events.fresh(events)) {
      this.#panel.speech.handle(event)
      this.#box.handle(event)
      this.#utterances.handle(event)
      this.#events.handle(event)
    }
  }
}

function withoutPuppet(): Page {
  return {
    element: empty(
      'This scenario has no puppet',
      'Start the playground with “rossum serve”, or the puppet alone with “rossum serve --scenario oz”.',
      h('a', { class: 'button', href: '#world' }, 'Go to the World page'),
    ),
    topics: [],
    close() {},
  }
}
