// What is shown to a browser without a token, or with a wrong one.

import { keepToken, tokenIn } from './token'
import { field, h } from './ui'

/** Asks for the link that `rossum serve` printed, and opens the console with its token. */
export function askForLink(title: string): void {
  const wrong = h('p', { class: 'bad gate-wrong', role: 'alert' })
  const input = h('input', { type: 'text', autocomplete: 'off', spellcheck: false, 'data-test': 'gate-link' })
  const form = h(
    'form',
    {
      class: 'card gate',
      onsubmit: (event: Event) => {
        event.preventDefault()
        const token = tokenIn(input.value)
        if (!token) {
          wrong.textContent = 'There is no token in this. Paste the whole link.'
          return
        }
        keepToken(token)
        location.reload()
      },
    },
    h('h1', null, title),
    h(
      'p',
      null,
      'When the server starts, it prints a link to this console with a token in it. Open that link, or paste it ' +
        'here. It stays the same when the server is started again.',
    ),
    h('p', { class: 'quiet' }, 'Nothing running yet? Start it with ', h('code', null, 'rossum serve'), '.'),
    field('Link, or its token', input),
    wrong,
    h('div', { class: 'row' }, h('button', { class: 'primary', type: 'submit', 'data-test': 'gate-open' }, 'Open')),
  )
  document.title = 'Rossum'
  document.body.replaceChildren(h('main', { class: 'gate-place', 'data-test': 'gate' }, form))
  input.focus()
}
