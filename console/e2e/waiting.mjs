// Waiting for something to become so. Nothing here measures time: a deadline only ends what would never come.

import { setTimeout as pause } from 'node:timers/promises'

/** Far longer than anything here takes, also on a busy machine. */
export const DEADLINE_MS = 60_000

/** Tries until there is something (not null, undefined or false), and gives it back. */
export async function eventually(what, attempt, deadline = DEADLINE_MS) {
  const end = Date.now() + deadline
  for (;;) {
    const found = await attempt()
    if (found !== null && found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error(`${what}: not within ${deadline / 1000} s`)
    await pause(50)
  }
}
