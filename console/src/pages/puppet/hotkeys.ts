// Keys for gestures, expressions, gaze modes and macros, inactive while typing. Assignments are saved on the server.

import type { Connection } from '../../connection'
import { isRecord } from './acts'
import { Observable } from './observable'

export interface Hot {
  /** Such as `gesture:yess`; saved with its key. */
  id: string
  label: string
  run(): void
}

/** Reserved keys. `?` and other symbols are compared as typed. */
export const panelKeys = [
  { key: 'Escape', label: 'Stop the robot, macros and the script' },
  { key: 'n', label: 'Next cue of the script' },
  { key: 'b', label: 'Previous cue of the script' },
  { key: '/', label: 'Focus the text box' },
  { key: '?', label: 'This overview' },
]

export class Hotkeys extends Observable {
  readonly #hot = new Map<string, Hot>()
  /** Default keys; saved ones take precedence. */
  readonly #standard = new Map<string, string>()
  #saved: Record<string, string> = {}
  readonly #own = new Map<string, () => void>()
  readonly #ends: (() => void)[]

  readonly #connection: Connection
  readonly #may: () => boolean

  /** `may` returns whether the operator may send commands now, and shows the reason if not. */
  constructor(connection: Connection, may: () => boolean) {
    super()
    this.#connection = connection
    this.#may = may
    const pressed = (event: KeyboardEvent) => this.#pressed(event)
    document.addEventListener('keydown', pressed)
    this.#ends = [
      () => document.removeEventListener('keydown', pressed),
      connection.on('saved', (saved) => {
        if (saved.key !== 'hotkeys' || !isRecord(saved.value)) return
        const pairs = Object.entries(saved.value)
        this.#saved = Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
        this.notify()
      }),
    ]
  }

  /** Sets the action of a reserved key, see `panelKeys`. */
  reserve(key: string, run: () => void): void {
    this.#own.set(key, run)
  }

  add(hot: Hot, standard?: string): void {
    this.#hot.set(hot.id, hot)
    if (standard) this.#standard.set(hot.id, standard)
  }

  /** Replaces all actions whose id has this prefix. */
  replace(prefix: string, all: Hot[]): void {
    for (const id of [...this.#hot.keys()]) if (id.startsWith(prefix)) this.#hot.delete(id)
    for (const hot of all) this.#hot.set(hot.id, hot)
    this.notify()
  }

  all(): Hot[] {
    return [...this.#hot.values()]
  }

  /** Empty if it has none. */
  keyOf(id: string): string {
    const saved = this.#saved[id]
    if (saved !== undefined) return saved
    const standard = this.#standard.get(id) ?? ''
    return [...this.#hot.keys()].some((other) => this.#saved[other] === standard) ? '' : standard
  }

  /** Why a key cannot be assigned; null if it can. */
  static objection(key: string): string | null {
    if (panelKeys.some((own) => own.key === key)) return `${key} is reserved.`
    return [...key].length === 1 && key !== ' ' ? null : 'Use a letter, digit or symbol.'
  }

  /** Assigns a key, removing it from any other action; an empty key removes the assignment. */
  async assign(id: string, key: string): Promise<void> {
    const saved = { ...this.#saved, [id]: key }
    for (const other of [...this.#hot.keys(), ...Object.keys(this.#saved)]) {
      if (key !== '' && other !== id && this.keyOf(other) === key) saved[other] = ''
    }
    await this.#connection.request({ do: 'save', key: 'hotkeys', value: saved })
    this.#saved = saved
    this.notify()
  }

  #pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || event.repeat) return
    if (event.ctrlKey || event.altKey || event.metaKey) return
    // Escape always works; other keys belong to the focused text field
    if (event.key !== 'Escape' && isTyping(event.target)) return
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    const own = this.#own.get(key)
    const hot = this.all().find((hot) => this.keyOf(hot.id) === key)
    if (!own && !hot) return
    event.preventDefault()
    if (own) own()
    else if (this.#may()) hot?.run()
  }

  close(): void {
    for (const end of this.#ends) end()
  }
}

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !['range', 'checkbox', 'radio', 'button'].includes(target.type)
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  )
}
