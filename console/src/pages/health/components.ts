// Health of each component.

import type { Component } from '../../api'
import type { Connection } from '../../connection'
import { empty, fill, h, setText } from '../../ui'

export function parts(connection: Connection): { element: HTMLElement; close(): void } {
  const summary = h('p', { 'aria-live': 'polite', 'data-test': 'health-summary' })
  const list = h('ul', { class: 'health-parts', 'data-test': 'parts' })
  fill(list, empty('Waiting for the server', 'It reports its health once a second.'))
  let drawn = ''
  const end = connection.on('health', ({ parts }) => {
    const now = JSON.stringify(parts)
    if (now === drawn) return
    drawn = now
    const broken = parts.filter(({ works }) => !works).length
    summary.className = broken === 0 ? 'good' : 'bad'
    const some = broken === 1 ? '1 component has failed.' : `${broken} components have failed.`
    setText(summary, broken === 0 ? 'All components work.' : some)
    fill(list, ...parts.map(componentItem))
  })
  return { element: h('div', { class: 'stack' }, summary, list), close: end }
}

function componentItem({ name, works, words }: Component): HTMLElement {
  return h(
    'li',
    { class: works ? 'health-part' : 'health-part broken', 'data-test': 'part' },
    h(
      'div',
      { class: 'row' },
      h('strong', null, name),
      h('span', { class: works ? 'good' : 'bad' }, works ? '✓ working' : '✗ not working'),
    ),
    h('p', { class: works ? 'quiet' : '' }, words || (works ? 'No details.' : 'Cause unknown.')),
  )
}
