// The Puppet page: the operator panel of the puppet.

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
import { hotkeyDialog } from './puppet/hotkey-dialog'
import { Hotkeys } from './puppet/hotkeys'
import { layout, type Section } from './puppet/layout'
import { sessionLog } from './puppet/log'
import { logPanel } from './puppet/log-panel'
import { macroPanel } from './puppet/macro-panel'
import { Macros } from './puppet/macros'
import { OperatorPanel } from './puppet/operator-panel'
import { blockedReason, controlLabel, people } from './puppet/operators'
import { saidBefore, sayBox } from './puppet/say'
import { scriptPanel } from './puppet/script-panel'
import { servos } from './puppet/servos'
import { sound } from './puppet/sound'
import { utterances } from './puppet/utterances'
import { weights } from './puppet/weights'

export const open: Opener = (connection) => {
  const info = connection.hello?.puppet
  if (!info) return withoutPuppet()

  const panel = new OperatorPanel(connection, info, sessionLog)
  /** Whether this operator may send commands; shows the reason if not. */
  const may = () => {
    const why = blockedReason(panel)
    if (why) notice(why, 'error')
    return why === null
  }
  const history = new History()
  const keys = new Hotkeys(connection, may)
  const macros = new Macros(panel)
  const events = new EventLog(panel)

  const box = sayBox(panel, history)
  const ears = utterances(panel, box)
  const script = scriptPanel(panel, macros)
  const sections: Section[] = [
    { id: 'eyes', title: 'Eyes', part: eyes(panel) },
    { id: 'say', title: 'Say', part: box },
    { id: 'act', title: 'Act', part: actions(panel, keys) },
    { id: 'heard', title: 'Heard', part: ears },
    { id: 'script', title: 'Script', part: script },
    { id: 'macros', title: 'Macros', part: macroPanel(panel, macros, keys) },
    { id: 'servos', title: 'Servos', part: servos(panel) },
    { id: 'mix', title: 'Mix', part: weights(panel) },
    { id: 'voice', title: 'Voice', part: sound(panel) },
    { id: 'said', title: 'Said', part: saidBefore(panel, history, box) },
    { id: 'log', title: 'Log', part: logPanel(sessionLog) },
    { id: 'people', title: 'Who', part: people(panel) },
  ]

  const overview = hotkeyDialog(keys, () => connection.role === 'operator')
  const stopAll = () => {
    macros.stop()
    if (connection.role === 'operator') void panel.send('reset', 'Stop')
  }
  const stop = h(
    'button',
    { type: 'button', class: 'pp-stop', title: 'Escape', 'data-test': 'stop', onclick: stopAll },
    'Stop',
    h('kbd', null, 'Esc'),
  )
  const control = h('span', { class: 'pp-control', 'data-test': 'reason', role: 'status' })
  const bar = h(
    'div',
    { class: 'pp-bar' },
    h('h2', null, sentenceCase(info.name)),
    control,
    panel.faults.element,
    button('Keys', overview.open, { title: 'Show and change all keys: ?', test: 'keys-open' }),
  )
  const desktop = layout(sections, bar, stop)
  desktop.element.append(overview.element)

  keys.reserve('Escape', stopAll)
  keys.reserve('n', () => {
    if (may()) script.next()
  })
  keys.reserve('b', script.back)
  keys.reserve('/', box.focus)
  keys.reserve('?', overview.open)

  function permit(): void {
    const why = blockedReason(panel)
    for (const { part } of sections) {
      for (const fieldset of part.element.querySelectorAll<HTMLFieldSetElement>('fieldset.pp-controls')) {
        fieldset.disabled = why !== null
        fieldset.title = why ?? ''
      }
    }
    stop.disabled = connection.role !== 'operator'
    control.classList.toggle('warn', why !== null)
    setText(control, why ?? (panel.puppet ? controlLabel(panel, panel.puppet) : 'Waiting for the robot’s state.'))
  }
  permit()

  const ends = [
    connection.on('puppet', (puppet) => {
      events.update(puppet)
      panel.puppet = puppet
      panel.speech.update(puppet)
      for (const { part } of sections) part.show?.(puppet)
      permit()
    }),
    connection.on('puppet-events', (message) => {
      for (const event of events.fresh(message.events)) {
        panel.speech.handle(event)
        box.handle(event)
        ears.handle(event)
        events.handle(event)
      }
    }),
    connection.on('hello', permit),
  ]

  return {
    element: desktop.element,
    topics: ['puppet', 'video', 'sound', 'world', 'health'],
    close() {
      for (const end of ends) end()
      for (const { part } of sections) part.close?.()
      macros.close()
      keys.close()
      desktop.close()
      panel.close()
    },
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
