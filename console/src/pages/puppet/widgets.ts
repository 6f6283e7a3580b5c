// Elements shared by several widgets of the operator panel.

import { button, h } from '../../ui'

/** A button for irreversible actions: the first click asks, the second one acts. */
export function confirmButton(label: string, question: string, act: () => void | Promise<void>): HTMLButtonElement {
  let asked = false
  const calm = () => {
    asked = false
    made.textContent = label
  }
  const made = button(label, async () => {
    if (!asked) {
      asked = true
      made.textContent = question
      return
    }
    calm()
    await act()
  })
  made.addEventListener('blur', calm)
  return made
}

/** Controls for operators only; the page disables them for viewers. */
export function controls(...children: Node[]): HTMLFieldSetElement {
  return h('fieldset', { class: 'pp-bare pp-controls stack' }, ...children)
}

/** A remark in small print. */
export function quiet(words: string): HTMLParagraphElement {
  return h('p', { class: 'pp-quiet' }, words)
}

export interface Dialog {
  element: HTMLDialogElement
  open(): void
  close(): void
}

/**
 * A non-modal dialog, which keeps the Stop button within reach. Escape closes it while it has the focus, and the focus
 * returns to where it was.
 */
export function dialog(title: string, ...children: (Node | string)[]): Dialog {
  let before: Element | null = null
  const close = () => {
    if (!element.open) return
    element.close()
    if (before instanceof HTMLElement) before.focus()
  }
  const element = h(
    'dialog',
    { class: 'pp-box', 'aria-label': title },
    h('div', { class: 'pp-box-head' }, h('h2', null, title), button('Close', close)),
    ...children,
  )
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    close()
  })
  return {
    element,
    open() {
      if (element.open) return
      before = document.activeElement
      element.show()
    },
    close,
  }
}

/** `14:03:12`. */
export function clock(at: Date): string {
  return at.toLocaleTimeString('en-GB')
}
