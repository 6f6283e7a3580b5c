import type { Topic } from './api'
import type { Connection } from './connection'

/** What is shown below the tabs. */
export interface Page {
  element: HTMLElement
  topics: Topic[]
  /** Frees timers, listeners and GL. */
  close(): void
}

/**
 * Makes a page. Called after hello, when its tab is chosen; called again after a reconnect only if the server then says
 * something else in its hello.
 */
export type Opener = (connection: Connection) => Page
