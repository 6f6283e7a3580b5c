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
  const list = h('ul', { class: 'pp-keys', 'data-test': 'keys' })
  const shell = dialog(
    'Keys',
    quiet(
      'Keys are inactive while you type in a field. ' +
        'To change one, click it, then press the new key, or Backspace for none.',
    ),
    list,
  )
  shell.element.classList.add('pp-box-keys')
  /** Id of the action whose key is being changed. */
  let catching: string | null = null

  async function caught(id: string, event: KeyboardEvent): Promise<void> {
    if (catching !== id || event.key === 'Tab' || event.key === 'Shift') return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') {
      catching = null
      draw(id)
      return
    }
    const key = event.key === 'Backspace' || event.key === 'Delete' ? '' : event.key.toLowerCase()
    const objection = key === '' ? null : Hotkeys.objection(key)
    if (objection) {
      notice(objection, 'error')
      return
    }
    catching = null
    try {
      await keys.assign(id, key)
    } catch (error) {
      notice(errorMessage(error), 'error')
    }
    draw(id)
  }

  function draw(focus?: string): void {
    const may = mayChange()
    fill(
      list,
      ...panelKeys.map(({ key, label }) =>
        h('li', null, h('span', null, label), h('kbd', null, key === 'Escape' ? 'Esc' : key)),
      ),
      ...keys.all().map(({ id, label }) => {
        const key = keys.keyOf(id)
        const button = h(
          'button',
          {
            type: 'button',
            disabled: !may,
            'aria-label': `Key for ${label}: ${key === '' ? 'none' : key}. Change it`,
            onclick: () => {
              catching = id
              button.textContent = 'Press a key'
            },
            onkeydown: (event: KeyboardEvent) => void caught(id, event),
            onblur: () => {
              if (catching === id) catching = null
              button.textContent = key === '' ? 'none' : key
            },
          },
          key === '' ? 'none' : key,
        )
        if (focus === id) queueMicrotask(() => button.focus())
        return h('li', null, h('span', null, label), button)
      }),
    )
  }
  return {
    element: shell.element,
    open() {
      draw()
      shell.open()
      shell.element.querySelector('button')?.focus()
    },
    close: shell.close,
  }
}
