// The Health page: components, metrics, addresses and the log.

import type { Hello } from '../api'
import type { Opener } from '../page'
import { card, h } from '../ui'
import { parts } from './health/components'
import { Gauges } from './health/gauges'
import { log } from './health/log'
import './health.css'

export const open: Opener = (connection) => {
  const state = parts(connection)
  const gauges = new Gauges(connection)
  const lines = log(connection)
  const addresses = h('div', { class: 'stack' })
  const greet = (hello: Hello) => addresses.replaceChildren(addressesOf(hello))
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
function addressesOf(hello: Hello): HTMLElement {
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
    hello.recording ? h('p', null, 'Recording to ', h('code', null, hello.recording)) : h('p', null, 'Not recording.'),
    h(
      'p',
      { class: 'row' },
      page('metrics', 'Metrics', 'Metrics in Prometheus format'),
      page('status', 'Status', 'This page as plain text, for scripts'),
      h('span', { class: 'quiet' }, `Rossum ${hello.version}`),
    ),
  )
}

function head(title: string): HTMLElement {
  return h('th', { scope: 'col' }, title)
}

function page(path: string, label: string, title: string): HTMLElement {
  return h('a', { href: `/${path}`, target: '_blank', rel: 'noopener', title, 'data-test': `link-${path}` }, label)
}
