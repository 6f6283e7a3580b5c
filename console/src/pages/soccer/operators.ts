// Controls that only operators may use.

import type { Connection } from '../../connection'
import { h } from '../../ui'

/** Wraps controls; for viewers they are disabled, with a reason. */
export function forOperators(connection: Connection, ...children: (Node | string)[]): HTMLElement {
  if (connection.role === 'operator') return h('div', { class: 'orders' }, ...children)
  return h(
    'div',
    { class: 'orders' },
    h(
      'p',
      { class: 'reason', 'data-test': 'viewer-reason' },
      'You are a viewer. Open the operator’s link to control the game.',
    ),
    h('fieldset', { class: 'bare-fieldset', disabled: true }, ...children),
  )
}
