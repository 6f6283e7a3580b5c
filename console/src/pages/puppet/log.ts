// The session's log: all that was said, done and heard while this desk was open.

export type Kind = 'said' | 'done' | 'heard' | 'robot' | 'note' | 'refused'

export interface Entry {
  /** By this computer's clock. */
  at: Date
  /** Of the simulation, s, where it is known. */
  time: number | null
  kind: Kind
  text: string
  /** Of what was heard: all options, the likeliest first. */
  options?: { text: string; confidence: number }[]
}

const most = 20_000

export class SessionLog {
  readonly entries: Entry[] = []
  /** Number of the robot's last event that is in it. */
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

/** As in RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe: anybody may have said it. */
function quoted(cell: string): string {
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** One for the browser's tab: it outlives a visit to another page. */
export const sessionLog = new SessionLog()
