// Recognised utterances with their hypotheses, most likely first.

import type { PuppetEvent } from '../../api'
import { card, h } from '../../ui'
import type { OperatorPanel, Widget } from './operator-panel'
import type { SayBox } from './say'
import { clock } from './widgets'

const most = 50

export interface Utterances extends Widget {
  handle(event: PuppetEvent): void
}

export function utterances(panel: OperatorPanel, box: SayBox): Utterances {
  const nothing = h(
    'li',
    { class: 'pp-quiet' },
    'Nothing yet. Recognised speech appears here. ',
    h('a', { href: '#health' }, 'Health'),
    ' shows whether the robot is listening.',
  )
  const list = h('ol', { class: 'pp-list pp-heard', 'data-test': 'heard' }, nothing)

  function add(options: { text: string; confidence: number }[], at: Date): void {
    nothing.remove()
    const buttons = options.map((option) => {
      const percent = Math.round(option.confidence * 100)
      const level = h('span')
      level.style.width = `${percent}%`
      const button = h(
        'button',
        {
          type: 'button',
          class: 'pp-option',
          title: 'Note this as what was said, and answer',
          'aria-pressed': 'false',
          'data-test': 'option',
          onclick: () => {
            for (const other of buttons) other.setAttribute('aria-pressed', String(other === button))
            panel.log.add('note', `Understood as: ${option.text}`)
            box.answering(option.text)
          },
        },
        h('span', { class: 'pp-option-text' }, option.text),
        h('span', { class: 'pp-confidence' }, level),
        h('span', { class: 'pp-percent' }, `${percent} %`),
      )
      return button
    })
    list.prepend(h('li', null, h('span', { class: 'pp-quiet' }, clock(at)), ...buttons))
    while (list.children.length > most) list.lastElementChild?.remove()
  }

  for (const { kind, options, at } of panel.log.entries) if (kind === 'heard' && options) add(options, at)
  // set after the old entries, so that screen readers announce only new ones
  list.setAttribute('aria-live', 'polite')

  return {
    element: card('Heard', list),
    handle(event) {
      if (event.what !== 'utterance') return
      add(event.options, new Date())
      panel.log.add('heard', event.options[0]?.text ?? '', event.time, event.options)
    },
  }
}
