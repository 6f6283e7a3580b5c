// The operator's desk for the robot that is puppeteered: see and hear what it does, and let it speak, move and look.

import type { Opener, Page } from '../page'
import { button, empty, h, notice, say as setText } from '../ui'
import './puppet.css'
import './puppet/panels.css'
import './puppet/tools.css'
import './puppet/phone.css'
import { actions } from './puppet/actions'
import { titled } from './puppet/acts'
import { Desk } from './puppet/desk'
import { EventLog } from './puppet/event-log'
import { eyes } from './puppet/eyes'
import { heard } from './puppet/heard'
import { History } from './puppet/history'
import { Hotkeys } from './puppet/hotkeys'
import { keysBox } from './puppet/keys-box'
import { layout, type Section } from './puppet/layout'
import { sessionLog } from './puppet/log'
import { logPanel } from './puppet/log-panel'
import { macroPanel } from './puppet/macro-panel'
import { Macros } from './puppet/macros'
import { controlWords, hindrance, people } from './puppet/people'
import { saidBefore, sayBox } from './puppet/say'
import { scriptPanel } from './puppet/script-panel'
import { servos } from './puppet/servos'
import { sound } from './puppet/sound'
import { weights } from './puppet/weights'

export const open: Opener = (link) => {
  const info = link.hello?.puppet
  if (!info) return withoutPuppet()

  const desk = new Desk(link, info, sessionLog)
  /** Whether this operator may give orders; says why not. */
  const may = () => {
    const why = hindrance(desk)
    if (why) notice(why, 'error')
    return why === null
  }
  const history = new History()
  const keys = new Hotkeys(link, may)
  const macros = new Macros(desk)
  const events = new EventLog(desk)

  const box = sayBox(desk, history)
  const ears = heard(desk, box)
  const script = scriptPanel(desk, macros)
  const sections: Section[] = [
    { id: 'eyes', title: 'Eyes', part: eyes(desk) },
    { id: 'say', title: 'Say', part: box },
    { id: 'act', title: 'Act', part: actions(desk, keys) },
    { id: 'heard', title: 'Heard', part: ears },
    { id: 'script', title: 'Script', part: script },
    { id: 'macros', title: 'Macros', part: macroPanel(desk, macros, keys) },
    { id: 'servos', title: 'Servos', part: servos(desk) },
    { id: 'mix', title: 'Mix', part: weights(desk) },
    { id: 'voice', title: 'Voice', part: sound(desk) },
    { id: 'said', title: 'Said', part: saidBefore(desk, history, box) },
    { id: 'log', title: 'Log', part: logPanel(sessionLog) },
    { id: 'people', title: 'Who', part: people(desk) },
  ]

  const overview = keysBox(keys, () => link.role === 'operator')
  const stopAll = () => {
    macros.stop()
    if (link.role === 'operator') void desk.give('reset', 'Stop')
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
    h('h2', null, titled(info.name)),
    control,
    desk.faults.element,
    button('Keys', overview.open, { title: 'All keys, and how to change them: ?', test: 'keys-open' }),
  )
  const desktop = layout(sections, bar, stop)
  desktop.element.append(overview.element)

  keys.desk('Escape', stopAll)
  keys.desk('n', () => {
    if (may()) script.next()
  })
  keys.desk('b', script.back)
  keys.desk('/', box.focus)
  keys.desk('?', overview.open)

  function permit(): void {
    const why = hindrance(desk)
    for (const { part } of sections) {
      for (const fieldset of part.element.querySelectorAll<HTMLFieldSetElement>('fieldset.pp-controls')) {
        fieldset.disabled = why !== null
        fieldset.title = why ?? ''
      }
    }
    stop.disabled = link.role !== 'operator'
    control.classList.toggle('warn', why !== null)
    setText(control, why ?? (desk.puppet ? controlWords(desk, desk.puppet) : 'Waiting for the robot’s state.'))
  }
  permit()

  const ends = [
    link.on('puppet', (puppet) => {
      events.seen(puppet)
      desk.puppet = puppet
      desk.speech.seen(puppet)
      for (const { part } of sections) part.show?.(puppet)
      permit()
    }),
    link.on('puppet-events', (message) => {
      for (const event of events.fresh(message.events)) {
        desk.speech.heard(event)
        box.heard(event)
        ears.heard(event)
        events.heard(event)
      }
    }),
    link.on('hello', permit),
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
      desk.close()
    },
  }
}

function withoutPuppet(): Page {
  return {
    element: empty(
      'This scenario has no puppet',
      'Nobody is here to be puppeteered. ' +
        'Start the playground with “rossum serve”, or Alice alone with “rossum serve --scenario oz”.',
      h('a', { class: 'button', href: '#world' }, 'To the world'),
    ),
    topics: [],
    close() {},
  }
}
