// The macros, each with a button and a key.

import { button, card, empty, fill, h, setText } from '../../ui'
import type { Macro } from './acts'
import type { Hotkeys } from './hotkeys'
import { macroEditor } from './macro-editor'
import type { Macros } from './macros'
import type { OperatorPanel, Widget } from './operator-panel'
import { controls } from './widgets'

export function macroPanel(panel: OperatorPanel, macros: Macros, keys: Hotkeys): Widget {
  return new MacroPanel(panel, macros, keys)
}

class MacroPanel implements Widget {
  readonly element: HTMLElement
  readonly #panel: OperatorPanel
  readonly #macros: Macros
  readonly #keys: Hotkeys
  readonly #content = h('div', { class: 'stack' })
  readonly #state = h(
    'span',
    { class: 'pp-macro-state', role: 'status', 'data-test': 'macro-state' },
    'No macro running',
  )
  readonly #stop = button('Stop macro', () => this.#macros.stop(), { disabled: true, test: 'macro-stop' })
  readonly #ends: (() => void)[]
  #editing = false

  constructor(panel: OperatorPanel, macros: Macros, keys: Hotkeys) {
    this.#panel = panel
    this.#macros = macros
    this.#keys = keys
    this.element = card('Macros', controls(h('div', { class: 'pp-line' }, this.#state, this.#stop), this.#content))
    this.#ends = [macros.onChange(() => this.#update()), keys.onChange(() => this.#draw())]
    this.#draw()
  }

  close(): void {
    for (const end of this.#ends) end()
  }

  #update(): void {
    const hotkeys = this.#macros.list.map((macro) => ({
      id: `macro:${macro.name}`,
      label: `Macro: ${macro.name}`,
      run: () => void this.#macros.run(macro),
    }))
    this.#keys.replace('macro:', hotkeys)
    const { running } = this.#macros
    const steps = running ? (this.#macros.find(running.name)?.acts.length ?? 0) : 0
    setText(this.#state, running ? `${running.name}: step ${running.place + 1} of ${steps}` : 'No macro running')
    this.#stop.disabled = !running
    this.#draw()
  }

  #edit(macro: Macro | null): void {
    this.#editing = true
    const done = () => {
      this.#editing = false
      this.#draw()
    }
    const editor = macroEditor({
      info: this.#panel.info,
      macro: macro ?? { name: '', acts: [] },
      isNew: macro === null,
      taken: (name) => {
        const found = this.#macros.find(name)
        return found !== undefined && found.name !== macro?.name
      },
      save: async (changed) => {
        if (await this.#save(macro, changed)) done()
      },
      remove: async () => {
        if (macro && (await this.#macros.save(macro.name, null))) done()
      },
      cancel: done,
    })
    fill(this.#content, editor)
    this.#content.querySelector('input')?.focus()
  }

  async #save(before: Macro | null, changed: Macro): Promise<boolean> {
    const key = before && before.name !== changed.name ? this.#keys.keyOf(`macro:${before.name}`) : ''
    if (!(await this.#macros.save(before?.name ?? null, changed))) return false
    // a renamed macro keeps its key
    if (key !== '') await this.#keys.assign(`macro:${changed.name}`, key)
    return true
  }

  #draw(): void {
    // an open editor is not affected by what others save
    if (this.#editing) return
    const create = button('New macro', () => this.#edit(null), { test: 'macro-new' })
    if (this.#macros.list.length === 0) {
      const help = 'A macro is a list of steps that runs with one button or key, for example a greeting.'
      fill(this.#content, empty('No macros yet', help, create))
      return
    }
    fill(
      this.#content,
      h('ul', { class: 'pp-list pp-macros' }, ...this.#macros.list.map((macro) => this.#row(macro))),
      h('div', { class: 'row' }, create, h('span', { class: 'pp-quiet' }, 'Press ? to assign keys')),
    )
  }

  #row(macro: Macro): HTMLElement {
    const key = this.#keys.keyOf(`macro:${macro.name}`)
    const steps = macro.acts.length === 1 ? '1 step' : `${macro.acts.length} steps`
    const run = h(
      'button',
      {
        type: 'button',
        class: 'pp-act',
        'aria-pressed': String(this.#macros.running?.name === macro.name),
        'data-test': 'macro-run',
        onclick: () => void this.#macros.run(macro),
      },
      h('span', { class: 'pp-act-name' }, macro.name, h('span', { class: 'pp-act-small' }, steps)),
      key === '' ? null : h('kbd', null, key),
    )
    return h(
      'li',
      null,
      run,
      button('Edit', () => this.#edit(macro)),
    )
  }
}
