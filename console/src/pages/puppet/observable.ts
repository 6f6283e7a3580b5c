// What others follow: it calls them back whenever it has changed.

export abstract class Observable {
  readonly #listeners = new Set<() => void>()

  /** Gives back a function that ends it. */
  onChange(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
