// Waiting for conditions. The deadline only ends waits that would never succeed.

import { setTimeout as pause } from 'node:timers/promises'

/** Far longer than needed, even on a busy machine. */
export const DEADLINE_MS = 60_000

/** Retries until the result is not null, undefined or false, and returns it. */
export async function eventually(what, attempt, deadline = DEADLINE_MS) {
  const end = Date.now() + deadline
  for (;;) {
    const found = await attempt()
    if (found !== null && found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error(`${what}: not within ${deadline / 1000} s`)
    await pause(50)
  }
}
