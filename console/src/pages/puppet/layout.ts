// Layout of the operator panel: columns on a wide screen, tabs where there is less room. On a phone in portrait format,
// the camera picture is on top, and the text box and the Stop button stay at the bottom.

import { fill, h } from '../../ui'
import type { Widget } from './operator-panel'

export interface Section {
  id: string
  title: string
  part: Widget
}

interface Plan {
  left: string[]
  middle: string[]
  bottom: string[]
  tabs: string[]
}

const plans: { media: string; name: string; plan: Plan }[] = [
  {
    media: '(min-width: 1280px)',
    name: 'wide',
    plan: {
      left: ['eyes', 'heard', 'people'],
      middle: ['say', 'act', 'mix', 'voice'],
      bottom: [],
      tabs: ['script', 'macros', 'servos', 'said', 'log'],
    },
  },
  {
    media: '(min-width: 701px)',
    name: 'medium',
    plan: {
      left: ['eyes', 'say', 'heard'],
      middle: [],
      bottom: [],
      tabs: ['act', 'script', 'macros', 'servos', 'mix', 'voice', 'said', 'log', 'people'],
    },
  },
  {
    media: 'all',
    name: 'narrow',
    plan: {
      left: ['eyes'],
      middle: [],
      bottom: ['say'],
      tabs: ['act', 'heard', 'script', 'macros', 'servos', 'mix', 'voice', 'said', 'log', 'people'],
    },
  },
]

export interface Layout {
  element: HTMLElement
  /** Selects a tab. */
  choose(id: string): void
  close(): void
}

/** `stop` is placed in the bar; on a phone, beside the text box. */
export function layout(sections: Section[], bar: HTMLElement, stop: HTMLElement): Layout {
  return new Panels(sections, bar, stop)
}

class Panels implements Layout {
  readonly element: HTMLElement
  readonly #bar: HTMLElement
  readonly #stop: HTMLElement
  readonly #sections: Map<string, Section>
  readonly #queries = plans.map(({ media }) => matchMedia(media))
  readonly #arrange = () => this.#apply()
  readonly #left = h('div', { class: 'pp-column pp-left' })
  readonly #middle = h('div', { class: 'pp-column pp-middle' })
  readonly #bottom = h('div', { class: 'pp-bottom' })
  readonly #panel = h('div', { class: 'pp-panel', role: 'tabpanel', id: 'pp-panel' })
  readonly #list = h('div', {
    class: 'pp-tabs',
    role: 'tablist',
    'aria-label': 'Panels',
    onkeydown: (event: KeyboardEvent) => this.#moveTab(event),
  })
  #tabs: HTMLButtonElement[] = []
  #chosen = ''

  constructor(sections: Section[], bar: HTMLElement, stop: HTMLElement) {
    this.#bar = bar
    this.#stop = stop
    this.#sections = new Map(sections.map((section) => [section.id, section]))
    const right = h('div', { class: 'pp-column pp-right' }, this.#list, this.#panel)
    const columns = h('div', { class: 'pp-columns' }, this.#left, this.#middle, right)
    this.element = h('div', { class: 'pp-panels' }, bar, columns, this.#bottom)
    for (const query of this.#queries) query.addEventListener('change', this.#arrange)
    this.#apply()
  }

  choose(id: string): void {
    const section = this.#sections.get(id)
    if (!section || !this.#tabs.some((tab) => tab.dataset.tab === id)) return
    this.#chosen = id
    for (const tab of this.#tabs) {
      const is = tab.dataset.tab === id
      tab.setAttribute('aria-selected', String(is))
      tab.tabIndex = is ? 0 : -1
      if (is) {
        this.#panel.setAttribute('aria-labelledby', tab.id)
        this.#reveal(tab)
      }
    }
    fill(this.#panel, section.part.element)
    section.part.shown?.()
  }

  close(): void {
    for (const query of this.#queries) query.removeEventListener('change', this.#arrange)
  }

  /** Scrolls a tab into view. Not with `scrollIntoView`, which makes the next Tab key start there. */
  #reveal(tab: HTMLElement): void {
    const [outer, inner] = [this.#list.getBoundingClientRect(), tab.getBoundingClientRect()]
    if (inner.left < outer.left) this.#list.scrollLeft -= outer.left - inner.left
    else if (inner.right > outer.right) this.#list.scrollLeft += inner.right - outer.right
  }

  #moveTab(event: KeyboardEvent): void {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    const at = this.#tabs.findIndex((tab) => tab.dataset.tab === this.#chosen)
    const next = this.#tabs[(at + by + this.#tabs.length) % this.#tabs.length]
    if (!next) return
    this.choose(next.dataset.tab ?? '')
    next.focus()
  }

  #apply(): void {
    const found = plans[this.#queries.findIndex((query) => query.matches)]
    if (!found || this.element.dataset.plan === found.name) return
    this.element.dataset.plan = found.name
    const { plan } = found
    const of = (ids: string[]) => ids.flatMap((id) => this.#sections.get(id)?.part.element ?? [])
    this.#panel.replaceChildren()
    fill(this.#left, ...of(plan.left))
    fill(this.#middle, ...of(plan.middle))
    fill(this.#bottom, ...of(plan.bottom))
    this.#middle.hidden = plan.middle.length === 0
    this.#bottom.hidden = plan.bottom.length === 0
    const stopIn = plan.bottom.length > 0 ? this.#bottom : this.#bar
    stopIn.append(this.#stop)
    this.#tabs = plan.tabs.flatMap((id) => this.#sections.get(id) ?? []).map((section) => this.#tab(section))
    fill(this.#list, ...this.#tabs)
    this.choose(plan.tabs.includes(this.#chosen) ? this.#chosen : (plan.tabs[0] ?? ''))
  }

  #tab({ id, title }: Section): HTMLButtonElement {
    const attributes = {
      type: 'button',
      role: 'tab',
      id: `pp-tab-${id}`,
      'aria-controls': 'pp-panel',
      'data-tab': id,
      'data-test': `panel-${id}`,
      onclick: () => this.choose(id),
    }
    return h('button', attributes, title)
  }
}
