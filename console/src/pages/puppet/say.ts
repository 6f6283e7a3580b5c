// The speech text box with gesture tags, and the list of previous texts.

import type { PuppetEvent } from '../../api'
import { button, card, fill, h, setText } from '../../ui'
import type { History } from './history'
import type { OperatorPanel, Widget } from './operator-panel'
import { clock, controls } from './widgets'

export interface SayBox extends Widget {
  focus(): void
  /** Puts a text into the box for editing. */
  put(text: string): void
  /** Shows which utterance is being answered. */
  answering(text: string): void
  handle(event: PuppetEvent): void
}

const hint = 'What should the robot say?'

export function sayBox(panel: OperatorPanel, history: History): SayBox {
  return new Say(panel, history)
}

class Say implements SayBox {
  readonly element: HTMLElement
  readonly close: () => void
  readonly #panel: OperatorPanel
  readonly #history: History
  readonly #text = h('textarea', {
    rows: 2,
    maxLength: 1000,
    placeholder: hint,
    'aria-label': 'Text to say',
    title: 'Enter: say, Shift+Enter: new line, ↑ and ↓: previous texts',
    'data-test': 'say-box',
    onkeydown: (event: KeyboardEvent) => this.#pressed(event),
  })
  readonly #state = h('div', { class: 'pp-state', role: 'status', 'data-test': 'speak-state' }, 'Quiet')
  /** The last gesture tag reached in the current speech. */
  #reached = ''
  #ended: Date | null = null

  constructor(panel: OperatorPanel, history: History) {
    this.#panel = panel
    this.#history = history
    const say = button('Say', () => this.#speak(), { kind: 'primary', title: 'Enter', test: 'say' })
    this.element = card(
      'Say',
      controls(this.#tags(), h('div', { class: 'pp-say' }, this.#text, say)),
      h(
        'div',
        { class: 'pp-state-line' },
        this.#state,
        h('span', { class: 'pp-quiet pp-hint' }, 'Enter: say, Shift+Enter: new line, ↑ ↓: previous texts'),
      ),
    )
    this.close = panel.speech.onChange(() => this.#showState())
  }

  focus(): void {
    this.#text.focus()
  }

  put(other: string): void {
    this.#replace(other)
    this.#text.focus()
  }

  answering(utterance: string): void {
    this.#text.placeholder = `Answering: “${utterance}”`
    this.#text.focus()
  }

  handle(event: PuppetEvent): void {
    if (event.what === 'speak-begun') this.#reached = ''
    if (event.what === 'speak-done') this.#ended = new Date()
    if (event.what === 'speak-gesture') {
      const gesture = this.#panel.info.gestures.find((gesture) => gesture.id === event.gesture)
      this.#reached = gesture ? ` – [${gesture.tag}]` : ''
    }
    this.#showState()
  }

  #tags(): HTMLElement {
    const tags = this.#panel.info.gestures.map(({ tag, name, seconds }) => {
      const insert = () => this.#insert(`[${tag}]`)
      return h(
        'button',
        { type: 'button', class: 'pp-tag', title: `${name}, ${seconds} s`, onclick: insert },
        `[${tag}]`,
      )
    })
    return h('div', { class: 'pp-tags', role: 'group', 'aria-label': 'Gesture tags' }, ...tags)
  }

  async #speak(): Promise<void> {
    const said = this.#text.value.trim()
    if (said === '') {
      this.#text.focus()
      return
    }
    // clear the box for the next sentence; a refused one comes back
    this.#text.value = ''
    this.#text.placeholder = hint
    if (await this.#panel.perform({ do: 'say', text: said })) this.#history.add(said)
    else if (this.#text.value === '') this.#text.value = said
  }

  #insert(tag: string): void {
    this.#text.setRangeText(tag, this.#text.selectionStart, this.#text.selectionEnd, 'end')
    this.#text.focus()
  }

  #pressed(event: KeyboardEvent): void {
    if (event.isComposing) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      void this.#speak()
      return
    }
    const step = this.#historyStep(event)
    if (step === 0 || event.shiftKey) return
    const other = this.#history.step(step, this.#text.value)
    if (other === null) return
    event.preventDefault()
    this.#replace(other)
  }

  /** Arrow keys recall texts only at the first and last line. */
  #historyStep({ key }: KeyboardEvent): -1 | 0 | 1 {
    const { value, selectionStart, selectionEnd } = this.#text
    if (key === 'ArrowUp' && !value.slice(0, selectionStart).includes('\n')) return -1
    return key === 'ArrowDown' && !value.slice(selectionEnd).includes('\n') ? 1 : 0
  }

  #replace(other: string): void {
    this.#text.value = other
    this.#text.setSelectionRange(other.length, other.length)
  }

  #showState(): void {
    const { speaking } = this.#panel.speech
    this.#state.classList.toggle('pp-on', speaking)
    const idle = this.#ended ? `Done at ${clock(this.#ended)}` : 'Quiet'
    setText(this.#state, speaking ? `Speaking${this.#reached}` : idle)
  }
}

/** Previous texts, to edit or to repeat. */
export function saidBefore(panel: OperatorPanel, history: History, box: SayBox): Widget {
  const list = h('ul', { class: 'pp-list pp-said', 'data-test': 'said' })
  function draw(): void {
    if (history.texts.length === 0) {
      fill(list, h('li', { class: 'pp-quiet' }, 'Nothing yet. Texts are listed here, to be repeated.'))
      return
    }
    fill(
      list,
      ...history.texts.toReversed().map((text) =>
        h(
          'li',
          null,
          h(
            'button',
            { type: 'button', class: 'pp-text', title: 'Copy to the text box', onclick: () => box.put(text) },
            text,
          ),
          button(
            'Again',
            async () => {
              await panel.perform({ do: 'say', text })
            },
            { title: 'Say it again' },
          ),
        ),
      ),
    )
  }
  draw()
  return { element: card('Previous texts', controls(list)), close: history.onChange(draw) }
}
