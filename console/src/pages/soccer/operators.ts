// Controls that only operators may use.

import type { Connection } from '../../connection'
import { h } from '../../ui'

/** For viewers, all that is in it is disabled, and the reason is said. */
export function forOperators(connection: Connection, ...children: (Node | string)[]): HTMLElement {
  if (connection.role === 'operator') return h('div', { class: 'orders' }, ...children)
  return h(
    'div',
    { class: 'orders' },
    h(
      'p',
      { class: 'reason', 'data-test': 'viewer-reason' },
      'You are watching as a viewer. The operator’s link lets you give orders.',
    ),
    h('fieldset', { class: 'bare-fieldset', disabled: true }, ...children),
  )
}
