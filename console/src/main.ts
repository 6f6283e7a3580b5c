// The shell: asks for the link if there is no token, then shows header, tabs and the page of the chosen tab.

import type { Hello } from './api'
import { Connection } from './connection'
import { askForLink } from './gate'
import type { Opener, Page } from './page'
import { Shell, TABS, type Tab } from './shell'
import './style.css'
import { takeToken } from './token'

const OPENERS: Record<Tab, () => Promise<{ open: Opener }>> = {
  world: () => import('./pages/world'),
  soccer: () => import('./pages/soccer'),
  evolution: () => import('./pages/evolution'),
  puppet: () => import('./pages/puppet'),
  health: () => import('./pages/health'),
}

const token = takeToken()
if (token) start(token)
else askForLink('Open the link that the server printed')

function start(token: string): void {
  const connection = new Connection(token)
  // the page is fetched while the link opens; if that fails, it is told when it is shown
  OPENERS[tabOf(location.hash)]().catch(() => undefined)
  const shell = new Shell()
  let page: Page | null = null
  let shown = ''
  let latest = 0

  async function showTab(tab: Tab): Promise<void> {
    const ticket = ++latest
    page?.close()
    page = null
    // so that the next page's topics begin anew, with all that is told at first
    connection.watch([])
    shell.choose(tab)
    try {
      const { open } = await OPENERS[tab]()
      if (ticket !== latest) return
      page = open(connection)
      shell.show(page.element)
      connection.watch(page.topics)
    } catch (error) {
      if (ticket !== latest) return
      if (connection.state === 'open') shell.fail(error, () => void showTab(tab))
      // opened by its hello
      else shell.wait('Waiting for the server', 'This page opens as soon as the server is back.')
    }
  }

  const showTabOfHash = () => void showTab(tabOf(location.hash))

  connection.onState((state) => {
    if (state === 'refused') {
      latest++
      page?.close()
      page = null
      askForLink('The server does not know this link')
    } else shell.setState(state, connection.role)
  })
  connection.on('hello', (hello) => {
    shell.greet(hello)
    if (page && shown === fingerprint(hello)) return
    shown = fingerprint(hello)
    showTabOfHash()
  })
  addEventListener('hashchange', () => {
    if (connection.hello) showTabOfHash()
  })
  shell.choose(tabOf(location.hash))
}

/** What a page may have built on: all but what is different at each connection. */
function fingerprint(hello: Hello): string {
  return JSON.stringify({ ...hello, you: 0, recording: null })
}

function tabOf(hash: string): Tab {
  const name = hash.slice(1)
  return TABS.find((tab) => tab === name) ?? 'world'
}
