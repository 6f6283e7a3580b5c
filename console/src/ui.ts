// Elements that every page uses.

type Child = Node | string | number | null | undefined | false
type Handler<E extends Event> = (event: E) => void

/** Attributes, properties and handlers of an element; `class` and names with a dash become attributes. */
export type Properties = Record<string, unknown>

/**
 * Creates an element. Functions named `on...` become listeners, `class`, `for`, `role` and names with a dash become
 * attributes, everything else is set as a property. Strings become text nodes.
 */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  properties: Properties | null = null,
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null) continue
    if (name.startsWith('on') && typeof value === 'function') {
      element.addEventListener(name.slice(2).toLowerCase(), value as Handler<Event>)
    } else if (name === 'class' || name === 'for' || name === 'role' || name.includes('-')) {
      element.setAttribute(name, String(value))
    } else {
      Reflect.set(element, name, value)
    }
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    element.append(typeof child === 'number' ? String(child) : child)
  }
  return element
}

/** Replaces an element's children. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(
    ...children
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (typeof child === 'number' ? String(child) : child)),
  )
}

/** Sets an element's text only if it differs: an unchanged text causes no layout and is not announced again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

const NOTICE_MS = { info: 4000, error: 8000 }

/** Shows a message in the corner for a few seconds. Repeating a visible message extends it. */
export function notice(text: string, kind: 'info' | 'error' = 'info'): void {
  const holder = noticeHolder(kind)
  for (const shown of holder.children) {
    if (shown instanceof HTMLElement && shown.dataset.text === text) {
      shown.dataset.until = String(performance.now() + NOTICE_MS[kind])
      return
    }
  }
  const toast = h('div', { class: `notice ${kind}`, 'data-test': 'notice' }, h('span', null, text))
  toast.dataset.text = text
  toast.dataset.until = String(performance.now() + NOTICE_MS[kind])
  const close = () => toast.remove()
  toast.append(h('button', { class: 'bare', type: 'button', 'aria-label': 'Close', onclick: close }, '×'))
  holder.append(toast)
  while (holder.children.length > 4) holder.firstElementChild?.remove()
  const look = () => {
    const left = Number(toast.dataset.until) - performance.now()
    if (left > 0) setTimeout(look, left)
    else toast.remove()
  }
  look()
}

function noticeHolder(kind: 'info' | 'error'): HTMLElement {
  const id = `notices-${kind}`
  const there = document.getElementById(id)
  if (there) return there
  let corner = document.getElementById('notices')
  if (!corner) {
    corner = h('div', { id: 'notices' })
    document.body.append(corner)
  }
  const holder = h('div', { id, 'aria-live': kind === 'error' ? 'assertive' : 'polite' })
  corner.append(holder)
  return holder
}

export interface ButtonOptions {
  title?: string
  kind?: 'plain' | 'primary' | 'danger'
  disabled?: boolean
  /** For browser tests: `data-test`. */
  test?: string
}

/** A button. An error thrown by its action is shown as a notice. */
export function button(label: string, act: () => void | Promise<void>, options: ButtonOptions = {}): HTMLButtonElement {
  return h(
    'button',
    {
      class: options.kind ?? 'plain',
      type: 'button',
      title: options.title,
      disabled: options.disabled ?? false,
      'data-test': options.test,
      onclick: async () => {
        try {
          await act()
        } catch (error) {
          notice(errorMessage(error), 'error')
        }
      },
    },
    label,
  )
}

/** Human-readable text of an error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export interface SliderOptions {
  label: string
  min: number
  max: number
  step: number
  value: number
  unit?: string
  oninput: (value: number) => void
}

export interface Slider {
  element: HTMLElement
  /** Shows a value, unless the user is moving the slider or has just done so. */
  set(value: number): void
  disabled(is: boolean): void
}

/** How long a slider ignores measured values after user input: key presses come one by one. */
const SLIDER_REST_MS = 700

export function slider(options: SliderOptions): Slider {
  const digits = options.step >= 1 ? 0 : Math.min(4, Math.ceil(-Math.log10(options.step)))
  const words = (value: number) => format(value, digits) + (options.unit ? ` ${options.unit}` : '')
  const output = h('output', null, words(options.value))
  const input = h('input', {
    type: 'range',
    min: String(options.min),
    max: String(options.max),
    step: String(options.step),
    value: String(options.value),
    oninput: () => {
      output.textContent = words(input.valueAsNumber)
      options.oninput(input.valueAsNumber)
    },
  })
  const label = h('span', { class: 'slider-label', title: options.label }, options.label)
  let held = false
  let touched = -Infinity
  input.addEventListener('input', () => (touched = performance.now()))
  input.addEventListener('pointerdown', () => (held = true))
  for (const end of ['pointerup', 'pointercancel', 'blur']) input.addEventListener(end, () => (held = false))
  return {
    element: h('label', { class: 'slider' }, label, input, output),
    set(value) {
      if (held || performance.now() - touched < SLIDER_REST_MS) return
      input.value = String(value)
      setText(output, words(value))
    },
    disabled(is) {
      input.disabled = is
    },
  }
}

/** A slider over frames or steps, from 0; its `max` is set as they become available. */
export function timelineSlider(test: string, oninput: () => void): HTMLInputElement {
  return h('input', {
    type: 'range',
    min: '0',
    max: '0',
    step: '1',
    value: '0',
    'aria-label': 'Time',
    'data-test': test,
    oninput,
  })
}

/** An empty state: why there is nothing to show, and what to do next. */
export function empty(title: string, words: string, ...actions: Child[]): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    h('strong', null, title),
    h('p', null, words),
    actions.length > 0 && h('div', { class: 'row' }, ...actions),
  )
}

/** A section with a heading. */
export function card(title: string, ...children: Child[]): HTMLElement {
  return h('section', { class: 'card', 'aria-label': title }, h('h2', null, title), ...children)
}

/** An input with its label above it. */
export function field(label: string, input: HTMLElement): HTMLLabelElement {
  return h('label', { class: 'field' }, h('span', null, label), input)
}

export interface SelectOption {
  value: string
  label: string
}

export function select(options: SelectOption[], chosen: string, onchange: (value: string) => void): HTMLSelectElement {
  const element = h(
    'select',
    { onchange: () => onchange(element.value) },
    ...options.map((option) => h('option', { value: option.value }, option.label)),
  )
  element.value = chosen
  return element
}

/** Formats a number with this many decimals, a real minus sign, and no `-0`. */
export function format(number: number, digits: number): string {
  if (!Number.isFinite(number)) return '–'
  const text = number.toFixed(digits)
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−')
}

/** Error of a request while there is no connection. */
export const NOT_CONNECTED = 'Not connected to the server.'
