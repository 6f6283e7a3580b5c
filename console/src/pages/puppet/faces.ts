// Dialog to name faces and to forget names.

import type { FaceBox, Puppet } from '../../api'
import { button, errorMessage, field, fill, h, notice } from '../../ui'
import type { OperatorPanel } from './operator-panel'
import { confirmButton, type Dialog, dialog, quiet } from './widgets'

export interface Faces {
  element: HTMLElement
  /** Opens for a face, or for the list of names only. */
  open(face: FaceBox | null): void
  show(puppet: Puppet): void
}

export function faces(panel: OperatorPanel): Faces {
  return new FaceDialog(panel)
}

class FaceDialog implements Faces {
  readonly element: HTMLElement
  readonly #panel: OperatorPanel
  #face: number | null = null
  #known: string[] = []
  readonly #name = h('input', { type: 'text', maxLength: 60, autocomplete: 'off', 'data-test': 'face-name' })
  readonly #words = h('p', { class: 'pp-quiet' })
  readonly #form: HTMLFormElement
  readonly #list = h('ul', { class: 'pp-names', 'data-test': 'known-names' })
  readonly #shell: Dialog

  constructor(panel: OperatorPanel) {
    this.#panel = panel
    const save = () => this.#save()
    const submit = (event: Event) => {
      event.preventDefault()
      void save()
    }
    this.#form = h(
      'form',
      { onsubmit: submit },
      field('Name', this.#name),
      button('Save the name', save, { kind: 'primary', test: 'face-save' }),
    )
    this.#shell = dialog(
      'Names of faces',
      this.#words,
      this.#form,
      h('h3', null, 'Known names'),
      this.#list,
      quiet('Names and facial features are personal data. Ask for consent, and forget them after the study.'),
    )
    this.element = this.#shell.element
    this.element.classList.add('pp-box-faces')
    this.#drawNames()
  }

  open(face: FaceBox | null): void {
    this.#face = face?.id ?? null
    this.#form.hidden = face === null
    this.#name.value = face?.name ?? ''
    this.#words.textContent = describe(face)
    this.#shell.open()
    if (face) this.#name.select()
  }

  show(puppet: Puppet): void {
    if (puppet.known.join('\n') === this.#known.join('\n')) return
    this.#known = puppet.known
    this.#drawNames()
  }

  async #save(): Promise<void> {
    const name = this.#name.value.trim()
    if (this.#face === null || name === '') {
      this.#name.focus()
      return
    }
    try {
      await this.#panel.connection.request({ do: 'name-face', face: this.#face, name })
      this.#panel.log.add('done', `Named a face: ${name}`)
      notice(`Saved as ${name}.`)
      this.#shell.close()
    } catch (error) {
      notice(errorMessage(error), 'error')
    }
  }

  async #forget(name: string): Promise<void> {
    await this.#panel.connection.request({ do: 'forget-face', name })
    this.#panel.log.add('done', `Forgot a face: ${name}`)
  }

  #drawNames(): void {
    if (this.#known.length === 0) {
      fill(this.#list, h('li', { class: 'pp-quiet' }, 'None yet. Click a face in the picture to name it.'))
      return
    }
    fill(this.#list, ...this.#known.map((name) => this.#row(name)))
  }

  #row(name: string): HTMLElement {
    const use = () => {
      this.#name.value = name
    }
    return h(
      'li',
      null,
      button(name, use, { title: 'Use this name' }),
      confirmButton('Forget', `Forget ${name}?`, () => this.#forget(name)),
    )
  }
}

function describe(face: FaceBox | null): string {
  if (face === null) return 'Click a face in the picture to name it.'
  return face.name === '' ? 'Unknown face.' : `Recognised as ${face.name}.`
}
