'use strict'

/** A timeout that does not blame others for a busy event loop: what has arrived meanwhile is dealt with first. */
class Deadline {
  #timer = null
  #immediate = null

  get isSet() {
    return this.#timer !== null
  }

  set(ms, callback) {
    this.clear()
    this.#timer = setTimeout(() => {
      this.#immediate = setImmediate(() => {
        this.clear()
        callback()
      })
    }, ms)
  }

  clear() {
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    this.#timer = null
    this.#immediate = null
  }
}

module.exports = { Deadline }
