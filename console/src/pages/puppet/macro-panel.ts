// The macros, each with a button and a key.

import { button, card, empty, fill, h, setText } from '../../ui'
import type { Macro } from './acts'
import type { Hotkeys } from './hotkeys'
import { macroEditor } from './macro-editor'
import type { Macros } from './macros'
import type { OperatorPanel, Widget } from './operator-panel'
import { controls } from './widgets'

export function macroPanel(panel: OperatorPanel, macros: Macros, keys: Hotkeys): Widget {
  const content = h('div', { class: 'stack' })
  const state = h('span', { class: 'pp-macro-state', role: 'status', 'data-test': 'macro-state' }, 'No macro running')
  const stop = button('Stop macro', () => macros.stop(), { disabled: true, test: 'macro-stop' })
  let editing = false

  function edit(macro: Macro | null): void {
    editing = true
    const done = () => {
      editing = false
      draw()
    }
    fill(
      content,
      macroEditor({
        info: panel.info,
        macro: macro ?? { name: '', acts: [] },
        isNew: macro === null,
        taken: (name) => {
          const found = macros.find(name)
          return found !== undefined && found.name !== macro?.name
        },
        save: async (changed) => {
          const key = macro && macro.name !== changed.name ? keys.keyOf(`macro:${macro.name}`) : ''
          if (!(await macros.save(macro?.name ?? null, changed))) return
          // a renamed macro keeps its key
          if (key !== '') await keys.assign(`macro:${changed.name}`, key)
          done()
        },
        remove: async () => {
          if (macro && (await macros.save(macro.name, null))) done()
        },
        cancel: done,
      }),
    )
    content.querySelector('input')?.focus()
  }

  function draw(): void {
    // an open editor is not affected by what others save
    if (editing) return
    const fresh = button('New macro', () => edit(null), { test: 'macro-new' })
    if (macros.list.length === 0) {
      fill(
        content,
        empty(
          'No macros yet',
          'A macro is a list of steps that runs with one button or key, for example a greeting.',
          fresh,
        ),
      )
      return
    }
    fill(
      content,
      h(
        'ul',
        { class: 'pp-list pp-macros' },
        ...macros.list.map((macro) => {
          const key = keys.keyOf(`macro:${macro.name}`)
          const runs = macros.running?.name === macro.name
          return h(
            'li',
            null,
            h(
              'button',
              {
                type: 'button',
                class: 'pp-act',
                'aria-pressed': String(runs),
                'data-test': 'macro-run',
                onclick: () => void macros.run(macro),
              },
              h(
                'span',
                { class: 'pp-act-name' },
                macro.name,
                h('span', { class: 'pp-act-small' }, macro.acts.length === 1 ? '1 act' : `${macro.acts.length} acts`),
              ),
              key === '' ? null : h('kbd', null, key),
            ),
            button('Edit', () => edit(macro)),
          )
        }),
      ),
      h('div', { class: 'row' }, fresh, h('span', { class: 'pp-quiet' }, 'Press ? to assign keys')),
    )
  }

  function tell(): void {
    const { running } = macros
    const acts = running ? (macros.find(running.name)?.acts.length ?? 0) : 0
    setText(state, running ? `${running.name}: step ${running.place + 1} of ${acts}` : 'No macro running')
    stop.disabled = !running
  }

  const ends = [
    macros.onChange(() => {
      keys.replace(
        'macro:',
        macros.list.map((macro) => ({
          id: `macro:${macro.name}`,
          label: `Macro: ${macro.name}`,
          run: () => void macros.run(macro),
        })),
      )
      tell()
      draw()
    }),
    keys.onChange(draw),
  ]
  draw()
  return {
    element: card('Macros', controls(h('div', { class: 'pp-line' }, state, stop), content)),
    close() {
      for (const end of ends) end()
    },
  }
}
