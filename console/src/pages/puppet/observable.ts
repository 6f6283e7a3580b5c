// Base class of state with change listeners.

export abstract class Observable {
  readonly #listeners = new Set<() => void>()

  /** Registers a listener; returns a function that removes it. */
  onChange(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
