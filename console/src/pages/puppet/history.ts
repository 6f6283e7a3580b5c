// What was said before, for the arrow keys and for a click. It is kept as long as the browser's tab.

import { Observable } from './observable'

const key = 'rossum-said'
const most = 100

export class History extends Observable {
  /** The latest last. */
  readonly texts: string[]
  /** What is leafed to; the length of `texts` is the new text. */
  #place: number
  /** The new text, while older ones are shown. */
  #draft = ''

  constructor() {
    super()
    this.texts = load()
    this.#place = this.texts.length
  }

  add(text: string): void {
    const before = this.texts.indexOf(text)
    if (before >= 0) this.texts.splice(before, 1)
    this.texts.push(text)
    if (this.texts.length > most) this.texts.shift()
    this.#place = this.texts.length
    this.#draft = ''
    try {
      sessionStorage.setItem(key, JSON.stringify(this.texts))
    } catch {
      // a browser that keeps nothing: the list lives as long as the page
    }
    this.notify()
  }

  /** The text before or after the one that is shown; null where there is none. */
  step(by: 1 | -1, shown: string): string | null {
    const place = this.#place + by
    if (place < 0 || place > this.texts.length) return null
    if (this.#place === this.texts.length) this.#draft = shown
    this.#place = place
    return this.texts[place] ?? this.#draft
  }
}

function load(): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string').slice(-most) : []
  } catch {
    return []
  }
}
