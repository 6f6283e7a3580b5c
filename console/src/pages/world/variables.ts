// The tree of variables: browse, search, observe and edit.

import type { MessageOf, Variable } from '../../api'
import type { Connection } from '../../connection'
import { empty, errorMessage, fill, h, setText } from '../../ui'
import { Folder } from './folder'
import { inside, trimmed } from './paths'
import { VariableRow } from './variable'

/** The server's limit of observed variables. */
const OBSERVED = 64
const SEARCH_MS = 250
const OBSERVE_MS = 150
/** A value that has not arrived by then is read explicitly. */
const READ_MS = 300

export class Variables {
  readonly element: HTMLElement
  #connection: Connection
  #root: Folder
  #folders = new Map<string, Folder>()
  #rows = new Map<string, Set<VariableRow>>()
  #byElement = new WeakMap<Element, VariableRow>()
  #visible = new Set<VariableRow>()
  #seen: IntersectionObserver
  #found = h('div', { class: 'world-found', hidden: true })
  #foundRows: VariableRow[] = []
  #news = h('p', { class: 'quiet', 'aria-live': 'polite', hidden: true })
  #search: HTMLInputElement
  #searchTimer: ReturnType<typeof setTimeout> | undefined
  #observeTimer: ReturnType<typeof setTimeout> | undefined
  #readTimer: ReturnType<typeof setTimeout> | undefined
  #observed = ''
  #begun = false
  #ends: (() => void)[]

  constructor(connection: Connection) {
    this.#connection = connection
    this.#seen = new IntersectionObserver((entries) => this.#sight(entries))
    this.#root = this.#folder('')
    this.#search = h('input', {
      type: 'search',
      placeholder: 'Search all variables',
      'aria-label': 'Search variables',
      'data-test': 'variable-search',
      oninput: () => {
        clearTimeout(this.#searchTimer)
        this.#searchTimer = setTimeout(() => void this.#find(), SEARCH_MS)
      },
    })
    this.element = h('div', { class: 'stack' }, this.#search, this.#news, this.#found, this.#root.children)
    this.#ends = [
      connection.on('list', (listing) => this.#list(listing)),
      connection.on('found', (found) => this.#show(found)),
      connection.on('values', ({ values }) => this.#set(values)),
      connection.on('value', ({ variable, value }) => this.#set({ [variable]: value })),
    ]
  }

  /** Loads the root when the panel is opened. */
  begin(): void {
    if (this.#begun) return
    this.#begun = true
    this.#root.load()
  }

  /** Reloads after robots came or went. */
  again(): void {
    if (!this.#begun) return
    for (const folder of this.#folders.values()) if (folder.open) folder.load()
    if (this.#search.value.trim() !== '') void this.#find()
  }

  close(): void {
    for (const end of this.#ends) end()
    clearTimeout(this.#searchTimer)
    clearTimeout(this.#observeTimer)
    clearTimeout(this.#readTimer)
    this.#seen.disconnect()
    if (this.#observed !== '') this.#connection.send({ do: 'observe', variables: [] })
  }

  #folder(path: string): Folder {
    const there = this.#folders.get(path)
    if (there) return there
    const folder = new Folder(path, (path) => this.#connection.request({ do: 'list', path: `${path}/` }))
    this.#folders.set(path, folder)
    return folder
  }

  #list(listing: MessageOf<'list'>): void {
    const folder = this.#folders.get(trimmed(listing.path))
    if (!folder) return
    for (const row of folder.rows) this.#drop(row)
    folder.set(
      listing.folders.map((name) => this.#folder(inside(listing.path, name))),
      listing.variables.map((card) => this.#row(card, false)),
    )
  }

  async #find(): Promise<void> {
    const text = this.#search.value.trim()
    if (text === '') {
      this.#searching(false)
      return
    }
    try {
      await this.#connection.request({ do: 'search', text })
    } catch (error) {
      this.#searching(true)
      setText(this.#news, errorMessage(error))
    }
  }

  #show(found: MessageOf<'found'>): void {
    if (found.search !== this.#search.value.trim()) return
    for (const row of this.#foundRows) this.#drop(row)
    this.#foundRows = found.variables.map((card) => this.#row(card, true))
    fill(
      this.#found,
      ...(this.#foundRows.length > 0
        ? this.#foundRows.map((row) => row.element)
        : [empty('No matching variables', 'Try a shorter text, or clear the box and open the folders.')]),
    )
    const shown = found.variables.length
    setText(this.#news, shown < found.total ? `The first ${shown} of ${found.total}` : `${found.total} found`)
    this.#searching(true)
  }

  #searching(is: boolean): void {
    this.#found.hidden = !is
    this.#news.hidden = !is
    this.#root.children.hidden = is
  }

  #row(card: Variable, whole: boolean): VariableRow {
    const row = new VariableRow(this.#connection, card, whole)
    const same = this.#rows.get(card.name) ?? new Set()
    this.#rows.set(card.name, same.add(row))
    this.#byElement.set(row.element, row)
    this.#seen.observe(row.element)
    return row
  }

  #drop(row: VariableRow): void {
    this.#seen.unobserve(row.element)
    this.#visible.delete(row)
    this.#rows.get(row.card.name)?.delete(row)
  }

  #sight(entries: IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      const row = this.#byElement.get(entry.target)
      if (!row) continue
      if (entry.isIntersecting) this.#visible.add(row)
      else this.#visible.delete(row)
    }
    clearTimeout(this.#observeTimer)
    this.#observeTimer = setTimeout(() => this.#observe(), OBSERVE_MS)
  }

  #observe(): void {
    const variables = [...new Set([...this.#visible].map((row) => row.card.name))].slice(0, OBSERVED)
    const now = variables.join('\n')
    if (now === this.#observed) return
    this.#observed = now
    this.#connection.send({ do: 'observe', variables })
    clearTimeout(this.#readTimer)
    this.#readTimer = setTimeout(() => this.#readMissing(), READ_MS)
  }

  /** Reads values that have not arrived: unchanged ones are not sent. */
  #readMissing(): void {
    for (const row of [...this.#visible].slice(0, OBSERVED)) {
      // ignore variables that are gone by now
      if (!row.known) this.#connection.request({ do: 'read', variable: row.card.name }).catch(() => undefined)
    }
  }

  #set(values: Record<string, string>): void {
    for (const [name, value] of Object.entries(values)) for (const row of this.#rows.get(name) ?? []) row.set(value)
  }
}
