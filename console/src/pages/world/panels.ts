// Panels beside the view: one at a time behind tabs; on a phone, collapsible sections.

import { h } from '../../ui'

export interface Panel {
  name: string
  title: string
  content: HTMLElement
  /** Called whenever it becomes visible. */
  opened?: () => void
}

export interface Panels {
  element: HTMLElement
  open(name: string): void
  close(): void
}

const phone = matchMedia('(max-width: 700px)')

export function panels(all: Panel[]): Panels {
  const heads = new Map<Panel, HTMLButtonElement>()
  const bodies = new Map<Panel, HTMLElement>()
  const shown = new Set<Panel>(all.slice(0, 1))

  const draw = () => {
    for (const panel of all) {
      heads.get(panel)?.setAttribute('aria-expanded', String(shown.has(panel)))
      const body = bodies.get(panel)
      if (body) body.hidden = !shown.has(panel)
    }
  }
  const show = (panel: Panel) => {
    if (!phone.matches) shown.clear()
    shown.add(panel)
    draw()
    panel.opened?.()
  }
  const press = (panel: Panel) => {
    if (phone.matches && shown.has(panel)) {
      shown.delete(panel)
      draw()
    } else show(panel)
  }

  const element = h('div', { class: 'panels' })
  for (const panel of all) {
    const body = h('div', { class: 'panel-body', id: `panel-${panel.name}` }, panel.content)
    const head = h(
      'button',
      {
        class: 'panel-head',
        type: 'button',
        'aria-controls': body.id,
        'data-test': `panel-${panel.name}`,
        onclick: () => press(panel),
      },
      panel.title,
    )
    heads.set(panel, head)
    bodies.set(panel, body)
    element.append(h('section', { class: 'panel', 'aria-label': panel.title }, head, body))
  }

  // a wide layout always shows exactly one
  const turned = () => {
    const first = [...shown][0] ?? all[0]
    if (!phone.matches && first) show(first)
  }
  phone.addEventListener('change', turned)
  draw()
  return {
    element,
    open(name) {
      const panel = all.find((one) => one.name === name)
      if (panel && !shown.has(panel)) show(panel)
    },
    close: () => phone.removeEventListener('change', turned),
  }
}
