// The frame around all pages: title, tabs, connection state, and the banner shown while the server is unreachable.

import type { Hello } from './api'
import type { ConnectionState } from './connection'
import { button, empty, errorMessage, fill, h, setText } from './ui'

export const TABS = ['world', 'soccer', 'evolution', 'puppet', 'health'] as const
export type Tab = (typeof TABS)[number]

const TITLES: Record<Tab, string> = {
  world: 'World',
  soccer: 'Soccer',
  evolution: 'Evolution',
  puppet: 'Puppet',
  health: 'Health',
}

export class Shell {
  #tabs = new Map<Tab, HTMLAnchorElement>()
  #scenario = h('span', { class: 'shell-scenario quiet', 'data-test': 'scenario' })
  #state = h('span', { class: 'shell-state', 'data-test': 'link-state' }, 'Connecting')
  #role = h('span', { class: 'badge', 'data-test': 'role' })
  #gone = h('div', { class: 'shell-gone', role: 'alert', 'data-test': 'gone', hidden: true })
  #main = h('main', { id: 'page', tabIndex: -1 })

  constructor() {
    for (const tab of TABS) {
      this.#tabs.set(tab, h('a', { href: `#${tab}`, 'data-test': `tab-${tab}` }, TITLES[tab]))
    }
    document.body.replaceChildren(
      h(
        'header',
        { class: 'shell' },
        h('div', { class: 'shell-title' }, h('h1', null, 'Rossum'), this.#scenario),
        h('nav', { class: 'shell-tabs', 'aria-label': 'Pages' }, ...this.#tabs.values()),
        h('div', { class: 'shell-link', role: 'status' }, this.#state, this.#role),
      ),
      this.#gone,
      this.#main,
    )
    this.#role.hidden = true
    this.wait('Connecting', 'Waiting for the server.')
  }

  greet(hello: Hello): void {
    setText(this.#scenario, hello.title)
    this.#scenario.title = `${hello.title} (Rossum ${hello.version})`
  }

  choose(chosen: Tab): void {
    for (const [tab, anchor] of this.#tabs) {
      if (tab === chosen) anchor.setAttribute('aria-current', 'page')
      else anchor.removeAttribute('aria-current')
    }
    document.title = `${TITLES[chosen]} – Rossum`
  }

  show(element: HTMLElement): void {
    fill(this.#main, element)
    scrollTo(0, 0)
  }

  wait(title: string, words: string): void {
    fill(this.#main, empty(title, words))
  }

  fail(error: unknown, again: () => void): void {
    fill(this.#main, empty('Failed to open this page', errorMessage(error), button('Try again', again)))
  }

  setState(state: ConnectionState, role: 'operator' | 'viewer'): void {
    const open = state === 'open'
    setText(this.#state, open ? 'Connected' : state === 'lost' ? 'Not connected' : 'Connecting')
    this.#state.dataset.state = state
    this.#role.hidden = !open
    setText(this.#role, role === 'operator' ? 'Operator' : 'Viewer')
    this.#role.title = role === 'operator' ? 'You can control the world.' : 'You can watch, but not control.'
    this.#gone.hidden = state !== 'lost'
    setText(this.#gone, state === 'lost' ? 'Connection to the server lost. Reconnecting …' : '')
  }
}
