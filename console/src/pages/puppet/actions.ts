// Buttons for gestures, expressions and gaze modes, each with its key.

import type { Puppet } from '../../api'
import { card, h, setText } from '../../ui'
import { type Act, describeAct, sentenceCase } from './acts'
import type { Hotkeys } from './hotkeys'
import type { OperatorPanel, Widget } from './operator-panel'
import { controls } from './widgets'

export function actions(panel: OperatorPanel, keys: Hotkeys): Widget {
  const { info } = panel
  const { acting, label } = keyedButtons(panel, keys)
  const gestures = info.gestures.map((gesture, place) =>
    acting(
      `gesture:${gesture.tag}`,
      sentenceCase(gesture.name),
      `[${gesture.tag}] ${gesture.seconds} s`,
      { do: 'gesture', name: gesture.tag },
      place < 9 ? String(place + 1) : undefined,
    ),
  )
  const expressions = new Map(
    info.expressions.map(({ id, name }) => [
      id,
      acting(`expression:${name}`, sentenceCase(name), '', { do: 'expression', name }),
    ]),
  )
  const looks = new Map(
    info.look_ats.map(({ id, name }) => [id, acting(`look:${name}`, sentenceCase(name), '', { do: 'look', name })]),
  )

  const playing = h('span', { class: 'pp-quiet' }, 'None playing')
  label()

  return {
    element: card(
      'Act',
      controls(
        group('Gestures', gestures, playing, 'pp-acts-wide'),
        group('Expression', expressions.values()),
        group('Look', looks.values()),
      ),
    ),
    show(puppet: Puppet) {
      press(expressions, puppet.expression)
      press(looks, puppet.look_at)
      const { gestures } = puppet
      setText(playing, gestures === 0 ? 'None playing' : `${gestures} playing`)
    },
    close: keys.onChange(label),
  }
}

/** `acting` makes a button that performs an act; `label` shows the current keys on all of them. */
function keyedButtons(panel: OperatorPanel, keys: Hotkeys) {
  const badges = new Map<string, HTMLElement>()

  function acting(id: string, label: string, small: string, act: Act, standard?: string): HTMLButtonElement {
    const run = () => void panel.perform(act)
    keys.add({ id, label: describeAct(act, panel.info), run }, standard)
    const badge = h('kbd')
    badges.set(id, badge)
    return h(
      'button',
      { type: 'button', class: 'pp-act', 'data-test': id.replace(':', '-'), onclick: run },
      h('span', { class: 'pp-act-name' }, label, small === '' ? null : h('span', { class: 'pp-act-small' }, small)),
      badge,
    )
  }

  function label(): void {
    for (const [id, badge] of badges) {
      const key = keys.keyOf(id)
      setText(badge, key)
      badge.hidden = key === ''
      badge.parentElement?.setAttribute('aria-keyshortcuts', key)
    }
  }

  return { acting, label }
}

function group(title: string, buttons: Iterable<HTMLButtonElement>, beside?: HTMLElement, kind = ''): HTMLElement {
  return h(
    'div',
    { class: 'pp-group' },
    h('div', { class: 'pp-line' }, h('h3', null, title), beside),
    h('div', { class: `pp-acts ${kind}`, role: 'group', 'aria-label': title }, ...buttons),
  )
}

function press(buttons: Map<number, HTMLButtonElement>, chosen: number): void {
  for (const [id, button] of buttons) button.setAttribute('aria-pressed', String(id === chosen))
}
