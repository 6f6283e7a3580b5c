// Connected clients, with their protocols and robots.

import type { Client, Hello } from '../../api'
import type { Connection } from '../../connection'
import { empty, fill, h } from '../../ui'

export function clients(connection: Connection): { element: HTMLElement; close(): void } {
  const element = h('div', { 'data-test': 'clients' })
  let drawn = ''
  const end = connection.on('state', ({ clients }) => {
    const now = JSON.stringify(clients)
    if (now === drawn) return
    drawn = now
    fill(element, clients.length === 0 ? nobody() : tableOf(clients, connection.hello))
  })
  fill(element, nobody())
  return { element, close: end }
}

function nobody(): HTMLElement {
  return empty('No clients connected', 'The Health page lists the addresses that robots and tools can connect to.')
}

function tableOf(clients: Client[], hello: Hello | null): HTMLElement {
  return h(
    'table',
    { class: 'world-clients' },
    h('thead', null, h('tr', null, ...['Protocol', 'From', 'Robots'].map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', null, ...clients.map((client) => rowOf(client, hello))),
  )
}

function rowOf(client: Client, hello: Hello | null): HTMLElement {
  const is = [
    client.protocol === 'console' && client.id === hello?.you ? 'you' : null,
    client.role,
    client.lockstep ? 'lockstep' : null,
  ].filter((word) => word !== null)
  return h(
    'tr',
    null,
    h('td', null, client.protocol, is.length > 0 && h('div', { class: 'quiet' }, is.join(', '))),
    fromOf(client, hello),
    h('td', null, client.agents.join(', ') || '–'),
  )
}

/** Viewers are not told the addresses of others. */
function fromOf(client: Client, hello: Hello | null): HTMLElement {
  if (client.peer !== '') return h('td', { class: 'mono' }, client.peer)
  return h('td', { class: 'quiet' }, hello?.role === 'viewer' ? 'hidden' : '–')
}
