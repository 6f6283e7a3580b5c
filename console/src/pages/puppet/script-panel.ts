// The script: a list of cues, run one by one with a single key.

import { button, card, empty, errorMessage, fill, h, notice, setText } from '../../ui'
import { cueBefore, cueFrom, type Line, readScript, samePlace } from './cues'
import type { Macros } from './macros'
import type { OperatorPanel, Widget } from './operator-panel'
import { controls, quiet } from './widgets'

export interface ScriptPanel extends Widget {
  next(): void
  back(): void
}

const help =
  'One cue per line. It is spoken, including its [tags]. ' +
  'A line starting with ! runs the macro of that name; a line starting with # is a note.'
const example = '# Wait until she sits\n[braises]Hello! I am Alice.\n!greeting\nHow was your [yess]journey?'

export function scriptPanel(panel: OperatorPanel, macros: Macros): ScriptPanel {
  let text = ''
  let lines: Line[] = []
  /** Index of the next cue. */
  let place = 0
  let editing = false

  const list = h('ol', { class: 'pp-list pp-cues', 'data-test': 'cues' })
  const state = h('span', { class: 'pp-quiet', role: 'status', 'data-test': 'cue-state' })
  const nextButton = button('Next', next, { kind: 'primary', title: 'n, or Enter in the list', test: 'cue-next' })
  const backButton = button('Back', back, { title: 'Go to the previous cue' })
  const skipButton = button('Skip', skip, { title: 'Skip this cue' })
  const edited = h('textarea', { rows: 14, placeholder: example, 'aria-label': 'Script', 'data-test': 'script-text' })
  const content = h('div', { class: 'stack' })

  function carryOut(line: Line): void {
    if (line.kind === 'say') void panel.perform({ do: 'say', text: line.text })
    if (line.kind !== 'macro') return
    const macro = macros.find(line.name)
    if (macro) void macros.run(macro)
    else notice(`No macro named “${line.name}”.`, 'error')
  }

  function next(): void {
    const line = lines[place]
    if (!line || editing) return
    carryOut(line)
    go(cueFrom(lines, place + 1))
  }

  function back(): void {
    if (!editing) go(cueBefore(lines, place))
  }

  function skip(): void {
    go(cueFrom(lines, place + 1))
  }

  function go(to: number): void {
    place = to
    mark()
  }

  function mark(): void {
    for (const [at, row] of [...list.children].entries()) {
      const current = at === place
      row.classList.toggle('pp-past', at < place)
      if (!current) {
        row.removeAttribute('aria-current')
        continue
      }
      row.setAttribute('aria-current', 'step')
      // scroll the list, not the page
      if (row instanceof HTMLElement) list.scrollTop = row.offsetTop - list.clientHeight / 3
    }
    const cues = lines.filter((line) => line.kind !== 'note').length
    const done = lines.slice(0, place).filter((line) => line.kind !== 'note').length
    setText(state, place >= lines.length ? 'End of the script' : `Cue ${done + 1} of ${cues}`)
    nextButton.disabled = place >= lines.length
    skipButton.disabled = place >= lines.length
    backButton.disabled = done === 0
  }

  function row(line: Line, at: number): HTMLElement {
    if (line.kind === 'note') return h('li', { class: 'pp-cue-note' }, line.text)
    const words = line.kind === 'macro' ? `▶ ${line.name}` : line.text
    return h(
      'li',
      null,
      h('button', { type: 'button', class: 'pp-text', title: 'Go to this cue', onclick: () => go(at) }, words),
    )
  }

  // Enter runs the next cue wherever the focus is in the list; a click or Space selects a row
  list.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    next()
  })

  function edit(): void {
    editing = true
    edited.value = text
    fill(
      content,
      quiet(help),
      edited,
      h(
        'div',
        { class: 'row' },
        button('Save', save, { kind: 'primary', test: 'script-save' }),
        button('Cancel', () => {
          editing = false
          draw()
        }),
      ),
    )
    edited.focus()
  }

  async function save(): Promise<void> {
    try {
      await panel.connection.request({ do: 'save', key: 'script', value: edited.value })
    } catch (error) {
      notice(errorMessage(error), 'error')
      return
    }
    editing = false
    take(edited.value)
  }

  function take(saved: string): void {
    const before = lines
    text = saved
    lines = readScript(text)
    place = cueFrom(lines, samePlace(before, lines, place))
    if (editing) notice('Another operator has changed the script. Saving replaces that version.')
    else draw()
  }

  function draw(): void {
    if (lines.length === 0) {
      const write = button('Write a script', edit, { kind: 'primary', test: 'script-edit' })
      fill(content, empty('No script yet', help, write))
      return
    }
    fill(list, ...lines.map(row))
    fill(
      content,
      h('div', { class: 'pp-line' }, state, button('Edit', edit, { test: 'script-edit' })),
      list,
      h('div', { class: 'pp-next' }, backButton, nextButton, skipButton),
    )
    mark()
  }

  const unsubscribe = panel.connection.on('saved', (saved) => {
    if (saved.key === 'script' && typeof saved.value === 'string' && saved.value !== text) take(saved.value)
  })
  draw()
  return {
    element: card('Script', controls(content)),
    next,
    back,
    // scrolling works only while the list is visible
    shown: mark,
    close: unsubscribe,
  }
}
