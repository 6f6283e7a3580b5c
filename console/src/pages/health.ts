// The Health page: components, metrics, addresses and the log.

import type { Hello } from '../api'
import type { Connection } from '../connection'
import type { Opener } from '../page'
import { button, card, h } from '../ui'
import { parts } from './health/components'
import { Gauges } from './health/gauges'
import { log } from './health/log'
import './health.css'

export const open: Opener = (connection) => {
  const state = parts(connection)
  const gauges = new Gauges(connection)
  const lines = log(connection)
  const addresses = h('div', { class: 'stack' })
  const greet = (hello: Hello) => addresses.replaceChildren(addressesOf(connection, hello))
  if (connection.hello) greet(connection.hello)
  const end = connection.on('hello', greet)
  return {
    element: h(
      'div',
      { class: 'health' },
      card('Components', state.element),
      card('Metrics', gauges.element),
      card('Log', lines.element),
      card('Addresses', addresses),
    ),
    topics: ['health'],
    close() {
      for (const part of [state, gauges, lines]) part.close()
      end()
    },
  }
}

/** All listening endpoints, and pages for other tools. */
function addressesOf(connection: Connection, hello: Hello): HTMLElement {
  return h(
    'div',
    { class: 'stack' },
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { 'data-test': 'addresses' },
        h('thead', null, h('tr', null, head('Service'), head('Kind'), head('Address'))),
        h(
          'tbody',
          null,
          ...hello.addresses.map(({ title, kind, address }) =>
            h('tr', null, h('td', null, title), h('td', { class: 'quiet' }, kind), h('td', { class: 'mono' }, address)),
          ),
        ),
      ),
    ),
    h('p', { 'data-test': 'recording' }, ...recordingOf(hello)),
    h(
      'p',
      { class: 'row' },
      page(connection, 'metrics', 'Metrics', 'Metrics in Prometheus format'),
      page(connection, 'status', 'Status', 'This page as plain text, for scripts'),
      h('span', { class: 'quiet' }, `Rossum ${hello.version}`),
    ),
  )
}

function head(title: string): HTMLElement {
  return h('th', { scope: 'col' }, title)
}

function recordingOf({ recording, role }: Hello): (string | HTMLElement)[] {
  if (recording !== null) return ['Recording to ', h('code', null, recording)]
  if (role === 'viewer') return ['Only operators see the log, the recording and the causes of failures.']
  return ['Not recording.']
}

/** Shows a page in another tab. A plain link could not send the token. */
function page(connection: Connection, path: string, label: string, title: string): HTMLElement {
  const show = async () => {
    const text = await connection.fetchText(path)
    const address = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }))
    window.open(address, '_blank', 'noopener')
    setTimeout(() => URL.revokeObjectURL(address), 60_000)
  }
  return button(label, show, { title, test: `link-${path}` })
}
