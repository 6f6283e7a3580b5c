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
  return new Script(panel, macros)
}

class Script implements ScriptPanel {
  readonly element: HTMLElement
  readonly close: () => void
  readonly #panel: OperatorPanel
  readonly #macros: Macros
  #text = ''
  #lines: Line[] = []
  /** Index of the next cue. */
  #place = 0
  #editing = false
  readonly #list = h('ol', { class: 'pp-list pp-cues', 'data-test': 'cues' })
  readonly #state = h('span', { class: 'pp-quiet', role: 'status', 'data-test': 'cue-state' })
  readonly #next = button('Next', () => this.next(), {
    kind: 'primary',
    title: 'n, or Enter in the list',
    test: 'cue-next',
  })
  readonly #back = button('Back', () => this.back(), { title: 'Go to the previous cue' })
  readonly #skip = button('Skip', () => this.#go(cueFrom(this.#lines, this.#place + 1)), { title: 'Skip this cue' })
  readonly #edited = h('textarea', {
    rows: 14,
    placeholder: example,
    'aria-label': 'Script',
    'data-test': 'script-text',
  })
  readonly #content = h('div', { class: 'stack' })

  constructor(panel: OperatorPanel, macros: Macros) {
    this.#panel = panel
    this.#macros = macros
    this.element = card('Script', controls(this.#content))
    // Enter runs the next cue wherever the focus is in the list; a click or Space selects a row
    this.#list.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return
      event.preventDefault()
      this.next()
    })
    this.close = panel.connection.on('saved', ({ key, value }) => {
      if (key === 'script' && typeof value === 'string' && value !== this.#text) this.#take(value)
    })
    this.#draw()
  }

  next(): void {
    const line = this.#lines[this.#place]
    if (!line || this.#editing) return
    this.#run(line)
    this.#go(cueFrom(this.#lines, this.#place + 1))
  }

  back(): void {
    if (!this.#editing) this.#go(cueBefore(this.#lines, this.#place))
  }

  /** Scrolls to the next cue: that works only while the list is visible. */
  shown(): void {
    this.#mark()
  }

  #run(line: Line): void {
    if (line.kind === 'say') void this.#panel.perform({ do: 'say', text: line.text })
    if (line.kind !== 'macro') return
    const macro = this.#macros.find(line.name)
    if (macro) void this.#macros.run(macro)
    else notice(`No macro named “${line.name}”.`, 'error')
  }

  #go(to: number): void {
    this.#place = to
    this.#mark()
  }

  #mark(): void {
    for (const [at, row] of [...this.#list.children].entries()) {
      const current = at === this.#place
      row.classList.toggle('pp-past', at < this.#place)
      if (!current) {
        row.removeAttribute('aria-current')
        continue
      }
      row.setAttribute('aria-current', 'step')
      // scroll the list, not the page
      if (row instanceof HTMLElement) this.#list.scrollTop = row.offsetTop - this.#list.clientHeight / 3
    }
    const isCue = (line: Line) => line.kind !== 'note'
    const cues = this.#lines.filter(isCue).length
    const done = this.#lines.slice(0, this.#place).filter(isCue).length
    const isOver = this.#place >= this.#lines.length
    setText(this.#state, isOver ? 'End of the script' : `Cue ${done + 1} of ${cues}`)
    this.#next.disabled = isOver
    this.#skip.disabled = isOver
    this.#back.disabled = done === 0
  }

  #row(line: Line, at: number): HTMLElement {
    if (line.kind === 'note') return h('li', { class: 'pp-cue-note' }, line.text)
    const words = line.kind === 'macro' ? `▶ ${line.name}` : line.text
    const go = () => this.#go(at)
    return h('li', null, h('button', { type: 'button', class: 'pp-text', title: 'Go to this cue', onclick: go }, words))
  }

  #edit(): void {
    this.#editing = true
    this.#edited.value = this.#text
    const cancel = () => {
      this.#editing = false
      this.#draw()
    }
    const save = button('Save', () => this.#save(), { kind: 'primary', test: 'script-save' })
    fill(this.#content, quiet(help), this.#edited, h('div', { class: 'row' }, save, button('Cancel', cancel)))
    this.#edited.focus()
  }

  async #save(): Promise<void> {
    try {
      await this.#panel.connection.request({ do: 'save', key: 'script', value: this.#edited.value })
    } catch (error) {
      notice(errorMessage(error), 'error')
      return
    }
    this.#editing = false
    this.#take(this.#edited.value)
  }

  #take(saved: string): void {
    const before = this.#lines
    this.#text = saved
    this.#lines = readScript(saved)
    this.#place = cueFrom(this.#lines, samePlace(before, this.#lines, this.#place))
    if (this.#editing) notice('Another operator has changed the script. Saving replaces that version.')
    else this.#draw()
  }

  #draw(): void {
    if (this.#lines.length === 0) {
      const write = button('Write a script', () => this.#edit(), { kind: 'primary', test: 'script-edit' })
      fill(this.#content, empty('No script yet', help, write))
      return
    }
    fill(this.#list, ...this.#lines.map((line, at) => this.#row(line, at)))
    const edit = button('Edit', () => this.#edit(), { test: 'script-edit' })
    fill(
      this.#content,
      h('div', { class: 'pp-line' }, this.#state, edit),
      this.#list,
      h('div', { class: 'pp-next' }, this.#back, this.#next, this.#skip),
    )
    this.#mark()
  }
}
