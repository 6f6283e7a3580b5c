// Number fields.

import { h } from '../../ui'

export interface NumberField {
  element: HTMLLabelElement
  input: HTMLInputElement
  /** The value; null if it is invalid, which the browser reports to the user. */
  read(): number | null
}

export function numberField(
  label: string,
  options: { value: number; min: number; max: number; step: number; unit?: string; test?: string },
): NumberField {
  const input = h('input', {
    type: 'number',
    inputMode: 'decimal',
    min: String(options.min),
    max: String(options.max),
    step: String(options.step),
    value: String(options.value),
    required: true,
    'data-test': options.test,
  })
  const name = options.unit ? `${label} (${options.unit})` : label
  return {
    element: h('label', { class: 'field number' }, h('span', null, name), input),
    input,
    read: () => (input.reportValidity() && Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : null),
  }
}
