// Editor of a macro: its name and its steps.

import type { PuppetInfo } from '../../api'
import { button, field, fill, h, notice, select } from '../../ui'
import { type Act, clamp, longestWait, type Macro, sentenceCase, titleOfSubsystem } from './acts'
import { confirmButton, quiet } from './widgets'

const kinds: { value: Act['do']; label: string }[] = [
  { value: 'say', label: 'Say' },
  { value: 'gesture', label: 'Gesture' },
  { value: 'expression', label: 'Expression' },
  { value: 'look', label: 'Look' },
  { value: 'weigh', label: 'Weight' },
  { value: 'wait', label: 'Wait' },
]

export interface Editing {
  info: PuppetInfo
  macro: Macro
  isNew: boolean
  /** Whether another macro has this name. */
  taken(name: string): boolean
  save(macro: Macro): Promise<void>
  remove(): Promise<void>
  cancel(): void
}

export function macroEditor(editing: Editing): HTMLElement {
  const { info } = editing
  const acts: Act[] = editing.macro.acts.map((act) => ({ ...act }))
  const name = h('input', { type: 'text', maxLength: 60, value: editing.macro.name, 'data-test': 'macro-name' })
  const list = h('ol', { class: 'pp-steps' })

  function fresh(kind: Act['do']): Act {
    switch (kind) {
      case 'say':
        return { do: 'say', text: '' }
      case 'gesture':
        return { do: 'gesture', name: info.gestures[0]?.tag ?? '' }
      case 'expression':
        return { do: 'expression', name: info.expressions[0]?.name ?? '' }
      case 'look':
        return { do: 'look', name: info.look_ats[0]?.name ?? '' }
      case 'weigh':
        return { do: 'weigh', subsystem: info.subsystems[0] ?? '', weight: 1 }
      case 'wait':
        return { do: 'wait', seconds: 1 }
    }
  }

  const labelled = <E extends HTMLElement>(element: E, label: string): E => {
    element.setAttribute('aria-label', label)
    return element
  }
  const named = ({ name }: { name: string }) => ({ value: name, label: sentenceCase(name) })
  const chooser = (act: { name: string }, label: string, options: { value: string; label: string }[]) =>
    labelled(
      select(options, act.name, (value) => {
        act.name = value
      }),
      label,
    )
  const number = (value: number, most: number, step: number, label: string, changed: (value: number) => void) => {
    const input = labelled(
      h('input', {
        type: 'number',
        min: '0',
        max: String(most),
        step: String(step),
        value: String(value),
        onchange: () => {
          const given = Number.isFinite(input.valueAsNumber) ? clamp(input.valueAsNumber, 0, most) : value
          input.value = String(given)
          changed(given)
        },
      }),
      label,
    )
    return input
  }

  function details(act: Act): HTMLElement[] {
    switch (act.do) {
      case 'say': {
        const text: HTMLInputElement = h('input', {
          type: 'text',
          maxLength: 1000,
          value: act.text,
          placeholder: 'Text, with [tags]',
          'data-test': 'macro-text',
          oninput: () => {
            act.text = text.value
          },
        })
        return [labelled(text, 'Text')]
      }
      case 'gesture':
        return [
          chooser(
            act,
            'Gesture',
            info.gestures.map(({ tag, name }) => ({ value: tag, label: sentenceCase(name) })),
          ),
        ]
      case 'expression':
        return [chooser(act, 'Expression', info.expressions.map(named))]
      case 'look':
        return [chooser(act, 'Look', info.look_ats.map(named))]
      case 'weigh':
        return [
          labelled(
            select(
              info.subsystems.map((value) => ({ value, label: titleOfSubsystem(value) })),
              act.subsystem,
              (value) => {
                act.subsystem = value
              },
            ),
            'Weight of',
          ),
          number(act.weight, 1, 0.05, 'Weight, 0 to 1', (value) => {
            act.weight = value
          }),
        ]
      case 'wait':
        return [
          number(act.seconds, longestWait, 0.1, 'Seconds', (value) => {
            act.seconds = value
          }),
          h('span', null, 's'),
        ]
    }
  }

  function draw(): void {
    if (acts.length === 0) {
      fill(list, h('li', { class: 'pp-quiet' }, 'No steps yet. Add the first one below.'))
      return
    }
    fill(
      list,
      ...acts.map((act, place) => {
        const move = (by: number) => {
          acts.splice(place, 1)
          acts.splice(place + by, 0, act)
          draw()
        }
        const kind = select(kinds, act.do, (value) => {
          const chosen = kinds.find((kind) => kind.value === value)
          if (chosen) acts[place] = fresh(chosen.value)
          draw()
        })
        return h(
          'li',
          null,
          h('div', { class: 'pp-step' }, labelled(kind, `Step ${place + 1}`), ...details(act)),
          h(
            'div',
            { class: 'pp-step-buttons' },
            labelled(
              button('↑', () => move(-1), { disabled: place === 0 }),
              `Move step ${place + 1} up`,
            ),
            labelled(
              button('↓', () => move(1), { disabled: place === acts.length - 1 }),
              `Move step ${place + 1} down`,
            ),
            labelled(
              button('×', () => {
                acts.splice(place, 1)
                draw()
              }),
              `Remove step ${place + 1}`,
            ),
          ),
        )
      }),
    )
  }
  draw()

  async function save(): Promise<void> {
    const called = name.value.trim()
    const objection =
      called === ''
        ? 'Enter a name.'
        : editing.taken(called)
          ? 'Another macro has this name.'
          : acts.length === 0
            ? 'Add a step first.'
            : null
    if (objection) {
      notice(objection, 'error')
      if (acts.length > 0) name.focus()
      return
    }
    await editing.save({ name: called, acts })
  }

  return h(
    'div',
    { class: 'pp-editor', 'data-test': 'macro-editor' },
    field('Macro name', name),
    list,
    h(
      'div',
      { class: 'pp-adds', role: 'group', 'aria-label': 'Add a step' },
      ...kinds.map(({ value, label }) =>
        button(`+ ${label}`, () => {
          acts.push(fresh(value))
          draw()
          const last = list.lastElementChild?.querySelector<HTMLElement>('.pp-step > :nth-child(2)')
          last?.focus()
        }),
      ),
    ),
    quiet('After Say, the macro continues when the robot has finished speaking. Use tags for gestures in a text.'),
    h(
      'div',
      { class: 'row' },
      button('Save', save, { kind: 'primary', test: 'macro-save' }),
      button('Cancel', editing.cancel),
      editing.isNew ? null : confirmButton('Delete', 'Really delete?', editing.remove),
    ),
  )
}
