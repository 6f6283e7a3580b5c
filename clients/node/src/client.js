'use strict'

const { Activity } = require('./activity')
const { Connection } = require('./connection')
const { Message, PORT } = require('./constants')
const encode = require('./encode')
const { OzError } = require('./error')
const { Settings } = require('./settings')

/** The longest time that a timer can have, in ms. */
const LONGEST = 2 ** 31 - 1

/** A client of a robot; index.d.ts describes it. */
class Client extends Settings {
  #address
  #reconnect
  /** The connection, or the one that is being made. */
  #connection = null
  #isConnected = false
  /** Has the promise of `connect` fail. */
  #giveUp = null
  #isReconnecting = false
  #pause = null
  #closing = Promise.resolve()
  #welcome = { name: '', longName: '', version: 0 }
  #activity = new Activity()
  #skipsVideo = false

  constructor({ host = '127.0.0.1', port = PORT, timeout = 10_000, reconnect } = {}) {
    super((request) => this.#send(request))
    this.#address = { host, port, timeout: checkedTime('timeout', timeout) }
    this.#reconnect = reconnect === undefined ? undefined : checkedTime('reconnect', reconnect)
  }

  async connect() {
    await this.#closing
    if (this.#connection !== null || this.#isReconnecting) throw new Error('the client is connected already')
    await new Promise((resolve, reject) => {
      this.#giveUp = reject
      this.#open(resolve, reject)
    })
  }

  async disconnect() {
    const wasActive = this.#isConnected || this.#isReconnecting
    const connection = this.#connection
    this.#connection = null
    this.#isConnected = false
    this.#isReconnecting = false
    clearTimeout(this.#pause)
    const reason = new OzError('OZ_CLOSED', 'this client has closed the connection')
    this.#giveUp?.(reason)
    const tell = this.#activity.fail(reason)
    const close = async () => {
      await connection?.close()
      if (wasActive) this.#emit('disconnected', null)
      tell()
    }
    this.#closing = Promise.all([this.#closing, close()])
    await this.#closing
  }

  get isConnected() {
    return this.#isConnected
  }
  get name() {
    return this.#welcome.name
  }
  get longName() {
    return this.#welcome.longName
  }
  get version() {
    return this.#welcome.version
  }

  speak(text) {
    this.#send(encode.text(Message.SPEAK, text))
    const end = this.#activity.startText()
    this.#emit('speakStart', text)
    return end
  }
  get speaking() {
    return this.#activity.isSpeaking
  }
  waitForSpeak(timeout) {
    return this.#wait(() => !this.#activity.isSpeaking, timeout)
  }

  gesture(id) {
    this.#send(encode.word(Message.GESTURE, 'gesture', id))
    const end = this.#activity.startGesture()
    this.#emit('gestureStart', id)
    return end
  }
  get gesturing() {
    return this.#activity.isGesturing
  }
  waitForGesture(timeout) {
    return this.#wait(() => !this.#activity.isGesturing, timeout)
  }

  skipVideo(skip = true) {
    this.#skipsVideo = skip
  }

  async #wait(isOver, timeout) {
    if (!this.#isConnected) throw notConnected()
    return this.#activity.wait(isOver, timeout === undefined ? undefined : checkedTime('timeout', timeout))
  }

  #send(request) {
    if (!this.#isConnected) throw notConnected()
    this.#connection.send(request)
  }

  #open(succeeded, failed) {
    this.#connection = new Connection(this.#address, {
      opened: (welcome) => {
        this.#welcome = welcome
        this.#isConnected = true
        this.#isReconnecting = false
        this.#giveUp = null
        this.#emit('connected')
        succeeded()
      },
      received: (event) => this.#received(event),
      closed: (error) => {
        this.#connection = null
        if (this.#isConnected) {
          this.#lost(error)
        } else {
          this.#giveUp = null
          failed(error)
        }
      },
    })
  }

  #received({ name, args }) {
    if (name === 'videoFrame' && this.#skipsVideo) return
    const tell = this.#activity.note(name)
    this.#emit(name, ...args)
    tell()
  }

  #lost(error) {
    this.#isConnected = false
    const tell = this.#activity.fail(error)
    if (this.#reconnect !== undefined) this.#openLater()
    this.#emit('disconnected', error)
    tell()
  }

  #openLater() {
    this.#isReconnecting = true
    const failed = (error) => {
      this.#openLater()
      this.#emit('connectFailed', error)
    }
    this.#pause = setTimeout(() => this.#open(() => {}, failed), this.#reconnect)
  }

  /** What a listener throws is an uncaught exception as with other emitters, but the client stays intact. */
  #emit(name, ...args) {
    try {
      this.emit(name, ...args)
    } catch (error) {
      process.nextTick(() => {
        throw error
      })
    }
  }
}

function notConnected() {
  return new OzError('OZ_CLOSED', 'the client is not connected')
}

function checkedTime(what, ms) {
  if (typeof ms !== 'number') throw new TypeError(`${what} is a number of milliseconds, not ${typeof ms}`)
  if (!(ms >= 0)) throw new RangeError(`${what} is ${ms} ms; it cannot be negative`)
  return Math.min(ms, LONGEST)
}

module.exports = { Client }
