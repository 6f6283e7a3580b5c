// One variable: its name, its value, and an editor.

import type { Variable } from '../../api'
import type { Connection } from '../../connection'
import { errorMessage, fill, h, notice, setText } from '../../ui'
import { leaf } from './paths'

export class VariableRow {
  readonly element: HTMLElement
  readonly card: Variable
  #connection: Connection
  #value: string | null = null
  #place = h('span', { class: 'world-value' })
  #trouble = h('p', { class: 'bad world-trouble', role: 'alert', hidden: true, 'data-test': 'variable-refused' })
  #shown: HTMLElement

  /** `whole`: show the full name. */
  constructor(connection: Connection, card: Variable, whole: boolean) {
    this.#connection = connection
    this.card = card
    this.#shown = this.#display()
    fill(this.#place, this.#shown)
    const name = h(
      'span',
      { class: 'world-name mono', title: `${card.name} (${card.kind})` },
      whole ? card.name : leaf(card.name),
    )
    this.element = h(
      'div',
      { class: whole ? 'world-variable whole' : 'world-variable', 'data-test': 'variable', 'data-name': card.name },
      name,
      this.#place,
      h('button', {
        class: 'bare world-copy',
        type: 'button',
        title: `Copy ${card.name}`,
        'aria-label': `Copy ${card.name}`,
        onclick: () => void copy(card.name, name),
      }),
      this.#trouble,
    )
  }

  /** Whether its value is known. */
  get known(): boolean {
    return this.#value !== null
  }

  set(value: string): void {
    this.#value = value
    setText(this.#shown, value)
    this.#shown.title = value.length > 20 ? value : ''
  }

  /** A button if the value can be changed, else plain text. */
  #display(): HTMLElement {
    const words = this.#value ?? '…'
    if (!this.card.writable) return h('span', { class: 'mono', title: 'Read only' }, words)
    if (this.#connection.role !== 'operator')
      return h('span', { class: 'mono', title: 'Viewers cannot change variables' }, words)
    return h(
      'button',
      {
        class: 'bare mono',
        type: 'button',
        title: `Change ${this.card.name}`,
        'data-test': 'variable-value',
        onclick: () => this.#edit(),
      },
      words,
    )
  }

  #edit(): void {
    const input = h('input', {
      class: 'mono',
      type: 'text',
      value: this.#value ?? '',
      spellcheck: false,
      'aria-label': `New value of ${this.card.name}`,
      'data-test': 'variable-input',
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'Enter') void this.#write(input)
        else if (event.key === 'Escape') this.#done()
      },
      // close an editor without changes
      onblur: () => {
        if (input.isConnected && input.value === before && this.#trouble.hidden) this.#done(false)
      },
    })
    const before = input.value
    fill(this.#place, input)
    input.select()
    input.focus()
  }

  async #write(input: HTMLInputElement): Promise<void> {
    input.disabled = true
    try {
      await this.#connection.request({ do: 'write', variable: this.card.name, value: input.value })
      this.#value = input.value
      this.#done()
    } catch (error) {
      input.disabled = false
      input.focus()
      setText(this.#trouble, errorMessage(error))
      this.#trouble.hidden = false
    }
  }

  #done(focus = true): void {
    this.#trouble.hidden = true
    this.#shown = this.#display()
    fill(this.#place, this.#shown)
    if (focus) this.#shown.focus()
  }
}

async function copy(text: string, shown: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    notice(`Copied: ${text}`)
  } catch {
    // no clipboard access: select it for copying by hand
    shown.textContent = text
    getSelection()?.selectAllChildren(shown)
    notice('No access to the clipboard. The name is selected: press Ctrl+C.')
  }
}
