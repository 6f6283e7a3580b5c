// The page shown without a token, or with an invalid one.

import { keepToken, tokenIn } from './token'
import { field, h } from './ui'

/** Asks for the link printed by `rossum serve`, and opens the console with its token. */
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
          wrong.textContent = 'No token found. Paste the whole link.'
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
      'On start, the server prints a link to this console that contains a token. Open that link, or paste it here. ' +
        'It stays valid when the server restarts, until its token expires or is replaced.',
    ),
    h('p', { class: 'quiet' }, 'No server running yet? Start one with ', h('code', null, 'rossum serve'), '.'),
    field('Link or token', input),
    wrong,
    h('div', { class: 'row' }, h('button', { class: 'primary', type: 'submit', 'data-test': 'gate-open' }, 'Open')),
  )
  document.title = 'Rossum'
  document.body.replaceChildren(h('main', { class: 'gate-place', 'data-test': 'gate' }, form))
  input.focus()
}
