// Buffers frames around the playhead, and decides which ones to request next.

/** Frames per request; the server's limit is 250. */
export const BATCH = 200
/** Maximum number of batches: 3000 frames. */
const KEPT = 15
/** Batches requested in advance; at 8 times the speed, one lasts half a second or more. */
const AHEAD = 4

export class FrameBuffer<T> {
  /** By number of the batch, then by index in it. */
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

  /** Stores a frame; drops the batch farthest from the playhead if there are too many. */
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

  /** Which of the loaded frames to request next: at the playhead, then ahead, then just behind. */
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
