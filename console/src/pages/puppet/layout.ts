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
  const left = h('div', { class: 'pp-column pp-left' })
  const middle = h('div', { class: 'pp-column pp-middle' })
  const list = h('div', { class: 'pp-tabs', role: 'tablist', 'aria-label': 'Panels', onkeydown: moveTab })
  const panel = h('div', { class: 'pp-panel', role: 'tabpanel', id: 'pp-panel' })
  const right = h('div', { class: 'pp-column pp-right' }, list, panel)
  const bottom = h('div', { class: 'pp-bottom' })
  const element = h('div', { class: 'pp-panels' }, bar, h('div', { class: 'pp-columns' }, left, middle, right), bottom)
  const byId = new Map(sections.map((section) => [section.id, section]))
  const queries = plans.map(({ media }) => matchMedia(media))
  let tabs: HTMLButtonElement[] = []
  let chosen = ''

  function choose(id: string): void {
    const section = byId.get(id)
    if (!section || !tabs.some((tab) => tab.dataset.tab === id)) return
    chosen = id
    for (const tab of tabs) {
      const is = tab.dataset.tab === id
      tab.setAttribute('aria-selected', String(is))
      tab.tabIndex = is ? 0 : -1
      if (is) {
        panel.setAttribute('aria-labelledby', tab.id)
        tab.scrollIntoView({ block: 'nearest', inline: 'nearest' })
      }
    }
    fill(panel, section.part.element)
    section.part.shown?.()
  }

  function moveTab(event: KeyboardEvent): void {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    const at = tabs.findIndex((tab) => tab.dataset.tab === chosen)
    const next = tabs[(at + by + tabs.length) % tabs.length]
    if (!next) return
    choose(next.dataset.tab ?? '')
    next.focus()
  }

  function arrange(): void {
    const at = queries.findIndex((query) => query.matches)
    const found = plans[at]
    if (!found || element.dataset.plan === found.name) return
    element.dataset.plan = found.name
    const { plan } = found
    const of = (ids: string[]) => ids.flatMap((id) => byId.get(id)?.part.element ?? [])
    panel.replaceChildren()
    fill(left, ...of(plan.left))
    fill(middle, ...of(plan.middle))
    fill(bottom, ...of(plan.bottom))
    middle.hidden = plan.middle.length === 0
    bottom.hidden = plan.bottom.length === 0
    ;(plan.bottom.length > 0 ? bottom : bar).append(stop)
    tabs = plan.tabs
      .flatMap((id) => byId.get(id) ?? [])
      .map((section) =>
        h(
          'button',
          {
            type: 'button',
            role: 'tab',
            id: `pp-tab-${section.id}`,
            'aria-controls': 'pp-panel',
            'data-tab': section.id,
            'data-test': `panel-${section.id}`,
            onclick: () => choose(section.id),
          },
          section.title,
        ),
      )
    fill(list, ...tabs)
    choose(plan.tabs.includes(chosen) ? chosen : (plan.tabs[0] ?? ''))
  }
  for (const query of queries) query.addEventListener('change', arrange)
  arrange()

  return {
    element,
    choose,
    close() {
      for (const query of queries) query.removeEventListener('change', arrange)
    },
  }
}
