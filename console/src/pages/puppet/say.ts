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
  const text = h('textarea', {
    rows: 2,
    maxLength: 1000,
    placeholder: hint,
    'aria-label': 'Text to say',
    title: 'Enter: say, Shift+Enter: new line, ↑ and ↓: previous texts',
    'data-test': 'say-box',
    onkeydown: pressed,
  })
  const state = h('div', { class: 'pp-state', role: 'status', 'data-test': 'speak-state' }, 'Quiet')
  const tags = h(
    'div',
    { class: 'pp-tags', role: 'group', 'aria-label': 'Gesture tags' },
    ...panel.info.gestures.map((gesture) =>
      h(
        'button',
        {
          type: 'button',
          class: 'pp-tag',
          title: `${gesture.name}, ${gesture.seconds} s`,
          onclick: () => insert(`[${gesture.tag}]`),
        },
        `[${gesture.tag}]`,
      ),
    ),
  )

  async function speak(): Promise<void> {
    const said = text.value.trim()
    if (said === '') {
      text.focus()
      return
    }
    // clear the box for the next sentence; a refused one comes back
    text.value = ''
    text.placeholder = hint
    if (await panel.perform({ do: 'say', text: said })) history.add(said)
    else if (text.value === '') text.value = said
  }

  function insert(tag: string): void {
    text.setRangeText(tag, text.selectionStart, text.selectionEnd, 'end')
    text.focus()
  }

  function pressed(event: KeyboardEvent): void {
    if (event.isComposing) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      void speak()
      return
    }
    // arrow keys recall texts only at the first and last line
    const step =
      event.key === 'ArrowUp' && !text.value.slice(0, text.selectionStart).includes('\n')
        ? -1
        : event.key === 'ArrowDown' && !text.value.slice(text.selectionEnd).includes('\n')
          ? 1
          : 0
    if (step === 0 || event.shiftKey) return
    const other = history.step(step, text.value)
    if (other === null) return
    event.preventDefault()
    put(other)
  }

  function put(other: string): void {
    text.value = other
    text.setSelectionRange(other.length, other.length)
  }

  let reached = ''
  let ended: Date | null = null
  function tell(): void {
    const { speaking } = panel.speech
    state.classList.toggle('pp-on', speaking)
    setText(state, speaking ? `Speaking${reached}` : ended ? `Done at ${clock(ended)}` : 'Quiet')
  }
  const leave = panel.speech.onChange(tell)

  const element = card(
    'Say',
    controls(
      tags,
      h('div', { class: 'pp-say' }, text, button('Say', speak, { kind: 'primary', title: 'Enter', test: 'say' })),
    ),
    h(
      'div',
      { class: 'pp-state-line' },
      state,
      h('span', { class: 'pp-quiet pp-hint' }, 'Enter: say, Shift+Enter: new line, ↑ ↓: previous texts'),
    ),
  )
  return {
    element,
    focus: () => text.focus(),
    put(other) {
      put(other)
      text.focus()
    },
    answering(utterance) {
      text.placeholder = `Answering: “${utterance}”`
      text.focus()
    },
    handle(event) {
      if (event.what === 'speak-begun') reached = ''
      if (event.what === 'speak-done') ended = new Date()
      if (event.what === 'speak-gesture') {
        const gesture = panel.info.gestures.find((gesture) => gesture.id === event.gesture)
        reached = gesture ? ` – [${gesture.tag}]` : ''
      }
      tell()
    },
    close: leave,
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
