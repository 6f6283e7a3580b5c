// Dialog that lists all keys and changes them.

import { errorMessage, fill, h, notice } from '../../ui'
import { Hotkeys, panelKeys } from './hotkeys'
import { dialog, quiet } from './widgets'

export interface HotkeyDialog {
  element: HTMLElement
  open(): void
  close(): void
}

export function hotkeyDialog(keys: Hotkeys, mayChange: () => boolean): HotkeyDialog {
  return new KeyList(keys, mayChange)
}

class KeyList implements HotkeyDialog {
  readonly element: HTMLElement
  readonly #keys: Hotkeys
  readonly #mayChange: () => boolean
  readonly #list = h('ul', { class: 'pp-keys', 'data-test': 'keys' })
  readonly #shell = dialog(
    'Keys',
    quiet(
      'Keys are inactive while you type in a field. ' +
        'To change one, click it, then press the new key, or Backspace for none.',
    ),
    this.#list,
  )
  /** Id of the action whose key is being changed. */
  #changing: string | null = null

  constructor(keys: Hotkeys, mayChange: () => boolean) {
    this.#keys = keys
    this.#mayChange = mayChange
    this.element = this.#shell.element
    this.element.classList.add('pp-box-keys')
  }

  open(): void {
    this.#draw()
    this.#shell.open()
    this.element.querySelector('button')?.focus()
  }

  close(): void {
    this.#shell.close()
  }

  async #pressed(id: string, event: KeyboardEvent): Promise<void> {
    if (this.#changing !== id || event.key === 'Tab' || event.key === 'Shift') return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') {
      this.#changing = null
      this.#draw(id)
      return
    }
    const key = event.key === 'Backspace' || event.key === 'Delete' ? '' : event.key.toLowerCase()
    const objection = key === '' ? null : Hotkeys.objection(key)
    if (objection) {
      notice(objection, 'error')
      return
    }
    this.#changing = null
    try {
      await this.#keys.assign(id, key)
    } catch (error) {
      notice(errorMessage(error), 'error')
    }
    this.#draw(id)
  }

  #draw(focus?: string): void {
    const reserved = panelKeys.map(({ key, label }) =>
      h('li', null, h('span', null, label), h('kbd', null, key === 'Escape' ? 'Esc' : key)),
    )
    const rows = this.#keys.all().map(({ id, label }) => {
      const button = this.#button(id, label)
      if (focus === id) queueMicrotask(() => button.focus())
      return h('li', null, h('span', null, label), button)
    })
    fill(this.#list, ...reserved, ...rows)
  }

  #button(id: string, label: string): HTMLButtonElement {
    const key = this.#keys.keyOf(id) || 'none'
    const button = h(
      'button',
      {
        type: 'button',
        disabled: !this.#mayChange(),
        'aria-label': `Key for ${label}: ${key}. Change it`,
        onclick: () => {
          this.#changing = id
          button.textContent = 'Press a key'
        },
        onkeydown: (event: KeyboardEvent) => void this.#pressed(id, event),
        onblur: () => {
          if (this.#changing === id) this.#changing = null
          button.textContent = key
        },
      },
      key,
    )
    return button
  }
}
