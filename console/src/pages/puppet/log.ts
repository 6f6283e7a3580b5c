// The session log: everything said, done and heard while the tab is open.

export type Kind = 'said' | 'done' | 'heard' | 'robot' | 'note' | 'refused'

export interface Entry {
  /** Wall-clock time of this computer. */
  at: Date
  /** Simulated time in s, if known. */
  time: number | null
  kind: Kind
  text: string
  /** Hypotheses of an utterance, most likely first. */
  options?: { text: string; confidence: number }[]
}

const most = 20_000

export class SessionLog {
  readonly entries: Entry[] = []
  /** Number of the last logged event of the robot. */
  lastEvent = -1
  readonly #listeners = new Set<(entry: Entry) => void>()

  add(kind: Kind, text: string, time: number | null = null, options?: Entry['options']): void {
    const entry: Entry = { at: new Date(), time, kind, text, ...(options ? { options } : {}) }
    this.entries.push(entry)
    if (this.entries.length > most) this.entries.shift()
    for (const listener of this.#listeners) listener(entry)
  }

  onAdd(added: (entry: Entry) => void): () => void {
    this.#listeners.add(added)
    return () => this.#listeners.delete(added)
  }

  csv(): string {
    const rows = this.entries.map((entry) => [
      entry.at.toISOString(),
      entry.time === null ? '' : entry.time.toFixed(3),
      entry.kind,
      entry.text,
      (entry.options ?? []).map((option) => `${option.text} (${option.confidence.toFixed(2)})`).join(' | '),
    ])
    const header = ['clock', 'simulated_s', 'kind', 'text', 'options']
    return [header, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('')
  }

  json(): string {
    return `${JSON.stringify(this.entries, null, 2)}\n`
  }
}

/** Quotes a cell as in RFC 4180. Formulas get an apostrophe, since the text may come from anyone. */
function quoted(cell: string): string {
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** One per browser tab: it survives visits to other pages. */
export const sessionLog = new SessionLog()
