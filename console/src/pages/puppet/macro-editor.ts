// Editor of a macro: its name and its steps.

import type { PuppetInfo } from '../../api'
import { button, field, fill, h, notice, select } from '../../ui'
import type { Act, Macro } from './acts'
import { labelled, newStep, stepFields } from './macro-step'
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
  return new MacroEditor(editing).element
}

class MacroEditor {
  readonly element: HTMLElement
  readonly #editing: Editing
  readonly #acts: Act[]
  readonly #name: HTMLInputElement
  readonly #list = h('ol', { class: 'pp-steps' })

  constructor(editing: Editing) {
    this.#editing = editing
    this.#acts = editing.macro.acts.map((act) => ({ ...act }))
    this.#name = h('input', { type: 'text', maxLength: 60, value: editing.macro.name, 'data-test': 'macro-name' })
    this.element = h(
      'div',
      { class: 'pp-editor', 'data-test': 'macro-editor' },
      field('Macro name', this.#name),
      this.#list,
      h(
        'div',
        { class: 'pp-adds', role: 'group', 'aria-label': 'Add a step' },
        ...kinds.map(({ value, label }) => button(`+ ${label}`, () => this.#add(value))),
      ),
      quiet('After Say, the macro continues when the robot has finished speaking. Use tags for gestures in a text.'),
      h(
        'div',
        { class: 'row' },
        button('Save', () => this.#save(), { kind: 'primary', test: 'macro-save' }),
        button('Cancel', editing.cancel),
        editing.isNew ? null : confirmButton('Delete', 'Really delete?', editing.remove),
      ),
    )
    this.#draw()
  }

  #add(kind: Act['do']): void {
    this.#acts.push(newStep(kind, this.#editing.info))
    this.#draw()
    const last = this.#list.lastElementChild?.querySelector<HTMLElement>('.pp-step > :nth-child(2)')
    last?.focus()
  }

  #draw(): void {
    if (this.#acts.length === 0) {
      fill(this.#list, h('li', { class: 'pp-quiet' }, 'No steps yet. Add the first one below.'))
      return
    }
    fill(this.#list, ...this.#acts.map((act, place) => this.#row(act, place)))
  }

  #row(act: Act, place: number): HTMLElement {
    const kind = select(kinds, act.do, (value) => {
      const chosen = kinds.find((kind) => kind.value === value)
      if (chosen) this.#acts[place] = newStep(chosen.value, this.#editing.info)
      this.#draw()
    })
    const up = button('↑', () => this.#move(place, -1), { disabled: place === 0 })
    const down = button('↓', () => this.#move(place, 1), { disabled: place === this.#acts.length - 1 })
    const remove = button('×', () => {
      this.#acts.splice(place, 1)
      this.#draw()
    })
    const number = place + 1
    return h(
      'li',
      null,
      h('div', { class: 'pp-step' }, labelled(kind, `Step ${number}`), ...stepFields(act, this.#editing.info)),
      h(
        'div',
        { class: 'pp-step-buttons' },
        labelled(up, `Move step ${number} up`),
        labelled(down, `Move step ${number} down`),
        labelled(remove, `Remove step ${number}`),
      ),
    )
  }

  #move(place: number, by: number): void {
    this.#acts.splice(place + by, 0, ...this.#acts.splice(place, 1))
    this.#draw()
  }

  /** Why the macro cannot be saved under this name; null if it can. */
  #objection(name: string): string | null {
    if (name === '') return 'Enter a name.'
    if (this.#editing.taken(name)) return 'Another macro has this name.'
    return this.#acts.length === 0 ? 'Add a step first.' : null
  }

  async #save(): Promise<void> {
    const name = this.#name.value.trim()
    const objection = this.#objection(name)
    if (objection) {
      notice(objection, 'error')
      if (this.#acts.length > 0) this.#name.focus()
      return
    }
    await this.#editing.save({ name, acts: this.#acts })
  }
}
