// The fields of one step of a macro.

import type { PuppetInfo } from '../../api'
import { h, select } from '../../ui'
import { type Act, clamp, longestWait, sentenceCase, titleOfSubsystem } from './acts'

/** A step of this kind with default values. */
export function newStep(kind: Act['do'], info: PuppetInfo): Act {
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

export function labelled<E extends HTMLElement>(element: E, label: string): E {
  element.setAttribute('aria-label', label)
  return element
}

/** Inputs that edit a step in place. */
export function stepFields(act: Act, info: PuppetInfo): HTMLElement[] {
  switch (act.do) {
    case 'say':
      return [textField(act)]
    case 'gesture': {
      const gestures = info.gestures.map(({ tag, name }) => ({ value: tag, label: sentenceCase(name) }))
      return [nameField(act, 'Gesture', gestures)]
    }
    case 'expression':
      return [nameField(act, 'Expression', info.expressions.map(optionOf))]
    case 'look':
      return [nameField(act, 'Look', info.look_ats.map(optionOf))]
    case 'weigh': {
      const subsystems = info.subsystems.map((value) => ({ value, label: titleOfSubsystem(value) }))
      const subsystem = select(subsystems, act.subsystem, (value) => {
        act.subsystem = value
      })
      const weight = numberField(act.weight, 1, 0.05, 'Weight, 0 to 1', (value) => {
        act.weight = value
      })
      return [labelled(subsystem, 'Weight of'), weight]
    }
    case 'wait': {
      const seconds = numberField(act.seconds, longestWait, 0.1, 'Seconds', (value) => {
        act.seconds = value
      })
      return [seconds, h('span', null, 's')]
    }
  }
}

function optionOf({ name }: { name: string }): { value: string; label: string } {
  return { value: name, label: sentenceCase(name) }
}

function textField(act: { text: string }): HTMLElement {
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
  return labelled(text, 'Text')
}

function nameField(act: { name: string }, label: string, options: { value: string; label: string }[]): HTMLElement {
  const field = select(options, act.name, (value) => {
    act.name = value
  })
  return labelled(field, label)
}

function numberField(
  value: number,
  most: number,
  step: number,
  label: string,
  changed: (value: number) => void,
): HTMLElement {
  const input = h('input', {
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
  })
  return labelled(input, label)
}
