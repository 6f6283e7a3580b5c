// Frames of a film that are kept near the playhead, and which ones to ask for next.

/** Frames of one request; the server gives 250 at most. */
export const BATCH = 200
/** Batches that are kept at most: 3000 frames. */
const KEPT = 15
/** Batches that are asked for before they are needed: one is seen in half a second at 8 times the speed. */
const AHEAD = 4

export class FrameBuffer<T> {
  /** By batch, by place in it. */
  #batches = new Map<number, Map<number, T>>()

  get size(): number {
    let size = 0
    for (const batch of this.#batches.values()) size += batch.size
    return size
  }

  clear(): void {
    this.#batches.clear()
  }

  frame(number: number): T | undefined {
    return this.#batches.get(Math.floor(number / BATCH))?.get(number % BATCH)
  }

  /** Keeps a frame; forgets the batch that is farthest from the playhead if there are too many. */
  put(number: number, frame: T, playhead: number): void {
    const key = Math.floor(number / BATCH)
    let batch = this.#batches.get(key)
    if (!batch) {
      batch = new Map()
      this.#batches.set(key, batch)
      if (this.#batches.size > KEPT) this.#forget(Math.floor(playhead / BATCH))
    }
    batch.set(number % BATCH, frame)
  }

  /** What to ask for next, of the frames that are ready: those at the playhead, then some ahead, then just behind. */
  wanted(playhead: number, ready: number): { from: number; count: number } | null {
    const here = Math.floor(playhead / BATCH)
    const order = Array.from({ length: AHEAD + 1 }, (_, ahead) => here + ahead)
    if (here > 0) order.push(here - 1)
    for (const key of order) {
      const end = Math.min(ready, (key + 1) * BATCH)
      for (let number = key * BATCH; number < end; number++) {
        if (this.frame(number) === undefined) return { from: number, count: end - number }
      }
    }
    return null
  }

  #forget(here: number): void {
    let farthest = here
    for (const key of this.#batches.keys()) {
      if (Math.abs(key - here) > Math.abs(farthest - here)) farthest = key
    }
    if (farthest !== here) this.#batches.delete(farthest)
  }
}
