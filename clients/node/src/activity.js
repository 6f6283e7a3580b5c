'use strict'

const { Deadline } = require('./deadline')

/** A promise whose rejection need not be handled: the program may not care about the end. */
function completion() {
  let settle
  const promise = new Promise((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => {})
  return { promise, ...settle }
}

/** What the robot is saying and playing for this client, and who waits for the end. */
class Activity {
  #texts = []
  #gestures = []
  #gestureCount = 0
  #waiting = new Set()

  get isSpeaking() {
    return this.#texts.length > 0
  }

  get isGesturing() {
    return this.#gestureCount > 0
  }

  /** A text has been sent. Returns a promise of its end. */
  startText() {
    const text = completion()
    this.#texts.push(text)
    return text.promise
  }

  /** A gesture has been sent. Returns a promise of its end, or rather of the end of all: the robot does not tell which. */
  startGesture() {
    const gesture = completion()
    this.#gestures.push(gesture)
    this.#gestureCount += 1
    return gesture.promise
  }

  /** Notes what an event says. Returns a function that tells those who have waited for it. */
  note(event) {
    let ended = []
    if (event === 'speakDone') {
      ended = this.#texts.splice(0, 1)
    } else if (event === 'speakGesture') {
      this.#gestureCount += 1
    } else if (event === 'gestureDone' && this.#gestureCount > 0) {
      this.#gestureCount -= 1
      if (this.#gestureCount === 0) ended = this.#gestures.splice(0)
    }
    return () => {
      for (const { resolve } of ended) resolve()
      for (const waiter of [...this.#waiting]) if (waiter.isOver()) waiter.end(waiter.resolve, true)
    }
  }

  /** Ends everything because of an error. Returns a function that tells those who wait. */
  fail(error) {
    const failed = [...this.#texts.splice(0), ...this.#gestures.splice(0)]
    this.#gestureCount = 0
    const waiting = [...this.#waiting]
    return () => {
      for (const { reject } of failed) reject(error)
      for (const waiter of waiting) waiter.end(waiter.reject, error)
    }
  }

  /** A promise of `true` once a condition holds, or `false` after a time. */
  wait(isOver, timeout) {
    if (isOver()) return Promise.resolve(true)
    return new Promise((resolve, reject) => {
      const deadline = new Deadline()
      const end = (settle, result) => {
        deadline.clear()
        this.#waiting.delete(waiter)
        settle(result)
      }
      const waiter = { isOver, resolve, reject, end }
      this.#waiting.add(waiter)
      if (timeout !== undefined) deadline.set(timeout, () => end(resolve, false))
    })
  }
}

module.exports = { Activity }
