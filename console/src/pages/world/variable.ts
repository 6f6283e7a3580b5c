// One variable: name, value, and a box to write another one.

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

  /** `whole`: with its whole name, as there is no folder around it. */
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
        title: `Copy the name ${card.name}`,
        'aria-label': `Copy the name ${card.name}`,
        onclick: () => void copy(card.name, name),
      }),
      this.#trouble,
    )
  }

  /** Whether it has been told what it is. */
  get known(): boolean {
    return this.#value !== null
  }

  set(value: string): void {
    this.#value = value
    setText(this.#shown, value)
    this.#shown.title = value.length > 20 ? value : ''
  }

  /** A button where it may be written, else plain text. */
  #display(): HTMLElement {
    const words = this.#value ?? '…'
    if (!this.card.writable) return h('span', { class: 'mono', title: 'Read only' }, words)
    if (this.#connection.role !== 'operator') return h('span', { class: 'mono', title: 'You are a viewer' }, words)
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
      // left as it was, there is nothing to keep open
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
    // not allowed here: marked, it can be copied by hand
    shown.textContent = text
    getSelection()?.selectAllChildren(shown)
    notice('The browser does not let this page copy. The name is marked: press Ctrl+C.')
  }
}
