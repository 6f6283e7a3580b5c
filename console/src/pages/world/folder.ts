// A folder of variables, loaded when it is opened.

import { empty, errorMessage, fill, h } from '../../ui'
import { leaf } from './paths'
import type { VariableRow } from './variable'

export class Folder {
  readonly path: string
  /** The row that opens it. */
  readonly element: HTMLElement
  /** Its content. */
  readonly children: HTMLElement
  rows: VariableRow[] = []
  open: boolean
  #ask: (path: string) => Promise<void>
  #head: HTMLButtonElement

  constructor(path: string, ask: (path: string) => Promise<void>) {
    this.path = path
    this.#ask = ask
    const root = path === ''
    this.open = root
    this.children = h('div', { class: root ? 'world-tree' : 'world-branch', hidden: !root })
    this.#head = h(
      'button',
      {
        class: 'world-folder bare mono',
        type: 'button',
        title: path,
        'aria-expanded': 'false',
        'data-test': 'folder',
        onclick: () => this.#toggle(),
      },
      leaf(path),
    )
    this.element = h('div', null, this.#head, root ? null : this.children)
  }

  /** Requests its content; the answer arrives through `set`. */
  load(): void {
    if (this.children.childElementCount === 0) fill(this.children, h('p', { class: 'quiet' }, 'Loading …'))
    this.#ask(this.path).catch((error: unknown) => fill(this.children, h('p', { class: 'bad' }, errorMessage(error))))
  }

  set(folders: Folder[], rows: VariableRow[]): void {
    this.rows = rows
    const all = [...folders.map((folder) => folder.element), ...rows.map((row) => row.element)]
    if (all.length > 0) fill(this.children, ...all)
    else fill(this.children, empty('Empty folder', 'It has no variables at present.'))
  }

  #toggle(): void {
    this.open = !this.open
    this.children.hidden = !this.open
    this.#head.setAttribute('aria-expanded', String(this.open))
    if (this.open) this.load()
  }
}
