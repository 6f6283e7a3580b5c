// A folder of variables that is filled when it is opened.

import { empty, errorMessage, fill, h } from '../../ui'
import { leaf } from './paths'
import type { VariableRow } from './variable'

export class Folder {
  readonly path: string
  /** The line to open it by. */
  readonly element: HTMLElement
  /** What is in it. */
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

  /** Asks for what is in it; the answer comes by `set`. */
  load(): void {
    if (this.children.childElementCount === 0) fill(this.children, h('p', { class: 'quiet' }, 'Asking the server…'))
    this.#ask(this.path).catch((error: unknown) => fill(this.children, h('p', { class: 'bad' }, errorMessage(error))))
  }

  set(folders: Folder[], rows: VariableRow[]): void {
    this.rows = rows
    const all = [...folders.map((folder) => folder.element), ...rows.map((row) => row.element)]
    if (all.length > 0) fill(this.children, ...all)
    else fill(this.children, empty('Nothing in here', 'This folder has no variables now.'))
  }

  #toggle(): void {
    this.open = !this.open
    this.children.hidden = !this.open
    this.#head.setAttribute('aria-expanded', String(this.open))
    if (this.open) this.load()
  }
}
