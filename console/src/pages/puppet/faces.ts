// Dialog to name faces and to forget names.

import type { Puppet } from '../../api'
import { button, errorMessage, field, fill, h, notice } from '../../ui'
import type { OperatorPanel } from './operator-panel'
import { confirmButton, dialog, quiet } from './widgets'

type Face = Puppet['faces'][number]

export interface Faces {
  element: HTMLElement
  /** Opens for a face, or for the list of names only. */
  open(face: Face | null): void
  show(puppet: Puppet): void
}

export function faces(panel: OperatorPanel): Faces {
  let face: number | null = null
  let known: string[] = []
  const name = h('input', { type: 'text', maxLength: 60, autocomplete: 'off', 'data-test': 'face-name' })
  const words = h('p', { class: 'pp-quiet' })
  const give = button('Save the name', naming, { kind: 'primary', test: 'face-save' })
  const form = h(
    'form',
    {
      onsubmit: (event: Event) => {
        event.preventDefault()
        void naming()
      },
    },
    field('Name', name),
    give,
  )
  const list = h('ul', { class: 'pp-names', 'data-test': 'known-names' })
  const shell = dialog(
    'Names of faces',
    words,
    form,
    h('h3', null, 'Known names'),
    list,
    quiet('Names and facial features are personal data. Ask for consent, and forget them after the study.'),
  )
  shell.element.classList.add('pp-box-faces')

  async function naming(): Promise<void> {
    const called = name.value.trim()
    if (face === null || called === '') {
      name.focus()
      return
    }
    try {
      await panel.connection.request({ do: 'name-face', face, name: called })
      panel.log.add('done', `Named a face: ${called}`)
      notice(`Saved as ${called}.`)
      shell.close()
    } catch (error) {
      notice(errorMessage(error), 'error')
    }
  }

  async function forget(called: string): Promise<void> {
    await panel.connection.request({ do: 'forget-face', name: called })
    panel.log.add('done', `Forgot a face: ${called}`)
  }

  function drawNames(): void {
    if (known.length === 0) {
      fill(list, h('li', { class: 'pp-quiet' }, 'None yet. Click a face in the picture to name it.'))
      return
    }
    fill(
      list,
      ...known.map((called) =>
        h(
          'li',
          null,
          button(
            called,
            () => {
              name.value = called
            },
            { title: 'Use this name' },
          ),
          confirmButton('Forget', `Forget ${called}?`, () => forget(called)),
        ),
      ),
    )
  }
  drawNames()

  return {
    element: shell.element,
    open(chosen) {
      face = chosen?.id ?? null
      form.hidden = chosen === null
      name.value = chosen?.name ?? ''
      words.textContent =
        chosen === null
          ? 'Click a face in the picture to name it.'
          : chosen.name === ''
            ? 'Unknown face.'
            : `Recognised as ${chosen.name}.`
      shell.open()
      if (chosen) name.select()
    },
    show(puppet) {
      if (puppet.known.join('\n') === known.join('\n')) return
      known = puppet.known
      drawNames()
    },
  }
}
