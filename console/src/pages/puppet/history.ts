// Previously spoken texts, kept as long as the browser tab.

import { Observable } from './observable'

const key = 'rossum-said'
const most = 100

export class History extends Observable {
  /** Latest last. */
  readonly texts: string[]
  /** Index of the recalled text; the length of `texts` is the draft. */
  #place: number
  /** The text being written, while an older one is shown. */
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
      // no storage: the history is kept until the page is closed
    }
    this.notify()
  }

  /** The previous or next text; null if there is none. */
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
