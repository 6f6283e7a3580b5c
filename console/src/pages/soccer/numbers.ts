// Fields for numbers.

import { h } from '../../ui'

export interface NumberField {
  element: HTMLLabelElement
  input: HTMLInputElement
  /** The number, or null (and the browser says what is wrong) if it is none or out of range. */
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
