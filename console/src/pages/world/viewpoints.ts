// Viewpoint buttons in the corner of the view.

import { button, h, setText } from '../../ui'

export class Viewpoints {
  readonly element: HTMLElement
  onLook: ((place: 'field' | 'above') => void) | null = null
  onLetGo: (() => void) | null = null
  #followed = h('span', { class: 'world-followed' })
  #letGo = button('Stop following', () => this.onLetGo?.(), { test: 'stop-following' })

  constructor() {
    this.#letGo.hidden = true
    this.element = h(
      'div',
      { class: 'world-viewpoints' },
      button('Field', () => this.onLook?.('field'), {
        title: 'The whole field from the side line',
        test: 'look-field',
      }),
      button('Above', () => this.onLook?.('above'), { title: 'The whole field from above', test: 'look-above' }),
      this.#letGo,
      this.#followed,
    )
  }

  following(name: string | null): void {
    this.#letGo.hidden = name === null
    setText(this.#followed, name ?? '')
  }
}
