import type { Topic } from './api'
import type { Connection } from './connection'

/** The content below the tabs. */
export interface Page {
  element: HTMLElement
  topics: Topic[]
  /** Frees timers, listeners and GL. */
  close(): void
}

/**
 * Opens a page. Called after `hello`, when its tab is selected, and again after a reconnect if the server's `hello` has
 * changed.
 */
export type Opener = (connection: Connection) => Page
