// Whether each part works, and why not.

import type { Component } from '../../api'
import type { Connection } from '../../connection'
import { empty, fill, h, setText } from '../../ui'

export function parts(connection: Connection): { element: HTMLElement; close(): void } {
  const summary = h('p', { 'aria-live': 'polite', 'data-test': 'health-summary' })
  const list = h('ul', { class: 'health-parts', 'data-test': 'parts' })
  fill(list, empty('Waiting for the server', 'It says once a second how its parts do.'))
  let drawn = ''
  const end = connection.on('health', ({ parts }) => {
    const now = JSON.stringify(parts)
    if (now === drawn) return
    drawn = now
    const broken = parts.filter(({ works }) => !works).length
    summary.className = broken === 0 ? 'good' : 'bad'
    const some = broken === 1 ? '1 part does not work.' : `${broken} parts do not work.`
    setText(summary, broken === 0 ? 'Everything works.' : some)
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
      h('span', { class: works ? 'good' : 'bad' }, works ? '✓ works' : '✗ does not work'),
    ),
    h('p', { class: works ? 'quiet' : '' }, words || (works ? 'Nothing to say.' : 'It gave no reason.')),
  )
}
