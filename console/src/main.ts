// Entry point: asks for the link if there is no token, then shows the header, the tabs and the selected page.

import type { Hello } from './api'
import { Connection } from './connection'
import { askForLink } from './gate'
import type { Opener, Page } from './page'
import { Shell, TABS, type Tab } from './shell'
import './style.css'
import './shell.css'
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
else askForLink('Open the link printed by the server')

function start(token: string): void {
  const connection = new Connection(token)
  // load the page's code while the connection opens; a failure is reported when the page is shown
  OPENERS[tabOf(location.hash)]().catch(() => undefined)
  const shell = new Shell()
  let page: Page | null = null
  let shown = ''
  let latest = 0

  async function showTab(tab: Tab): Promise<void> {
    const ticket = ++latest
    page?.close()
    page = null
    // resubscribing makes the server send the initial messages of each topic again
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
      // the next `hello` opens it
      else shell.wait('Waiting for the server', 'This page opens when the server is back.')
    }
  }

  const showTabOfHash = () => void showTab(tabOf(location.hash))

  connection.onState((state) => {
    if (state === 'refused') {
      latest++
      page?.close()
      page = null
      askForLink('This link is not valid')
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

/** The parts of `hello` that pages depend on: everything but what differs with each connection. */
function fingerprint(hello: Hello): string {
  return JSON.stringify({ ...hello, you: 0, recording: null })
}

function tabOf(hash: string): Tab {
  const name = hash.slice(1)
  return TABS.find((tab) => tab === name) ?? 'world'
}
