// What others follow: it calls them back whenever it has changed.

export abstract class Changing {
  readonly #listeners = new Set<() => void>()

  /** Gives back a function that ends it. */
  onChange(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
