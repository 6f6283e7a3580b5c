'use strict'

const net = require('node:net')
const { Message, VERSION } = require('./constants')
const { Deadline } = require('./deadline')
const { Decoder } = require('./decoder')
const encode = require('./encode')
const { OzError } = require('./error')

/** How long the robot may take to close the connection after the client has, in ms. */
const CLOSE_TIMEOUT = 500

/**
 * One TCP connection to a robot. It calls `opened` with the answer to the version request, `received` with each event after
 * it, and `closed` with the reason when the connection ends or cannot be made; not if the client ends it itself.
 */
class Connection {
  #callbacks
  #timeout
  #socket
  #decoder = new Decoder()
  #isOpen = false
  #isOver = false
  #deadline = new Deadline()

  constructor({ host, port, timeout }, callbacks) {
    this.#callbacks = callbacks
    this.#timeout = timeout
    // both kinds of addresses: `localhost` may have one where nobody listens
    this.#socket = net.connect({ host, port, noDelay: true, autoSelectFamily: true })
    let isMade = false
    this.#socket.on('connect', () => {
      isMade = true
      this.#socket.write(encode.word(Message.REQUEST_VERSION, 'version', VERSION))
    })
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('end', () => this.#abort(this.#end()))
    this.#socket.on('error', (error) => this.#abort(isMade ? this.#end(error) : unreachable(host, port, error)))
    this.#deadline.set(timeout, () => {
      const what = isMade ? 'no answer to the version request' : `no connection to ${host}:${port}`
      this.#abort(new OzError('OZ_TIMEOUT', `${what} within ${timeout} ms`))
    })
  }

  /** Sends a request. The connection ends if the robot does not read it in time. */
  send(request) {
    this.#socket.write(request, () => {
      this.#deadline.clear()
      this.#watch()
    })
    this.#watch()
  }

  /** Ends the connection after the robot has read all requests. */
  async close() {
    if (!this.#isOpen) return this.#abandon()
    this.#abandon(false)
    const closed = new Promise((resolve) => this.#socket.once('close', resolve))
    // images are read and dropped until the robot closes: a socket closed with unread data would reset the connection,
    // and requests on their way might be lost
    this.#socket.end()
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT)
    await closed
    clearTimeout(timer)
  }

  #abandon(isAtOnce = true) {
    this.#isOver = true
    this.#deadline.clear()
    if (isAtOnce) this.#socket.destroy()
  }

  #abort(error) {
    if (this.#isOver) return
    this.#abandon()
    this.#callbacks.closed(error)
  }

  #watch() {
    if (this.#isOver || this.#deadline.isSet || this.#socket.writableLength === 0) return
    const message = `the robot did not read requests within ${this.#timeout} ms`
    this.#deadline.set(this.#timeout, () => this.#abort(new OzError('OZ_TIMEOUT', message)))
  }

  #receive(chunk) {
    if (this.#isOver) return
    this.#decoder.append(chunk)
    while (!this.#isOver) {
      const message = this.#next()
      if (message === null) return
      if (this.#isOpen) {
        this.#callbacks.received(message)
      } else {
        this.#isOpen = true
        this.#deadline.clear()
        this.#callbacks.opened(message)
      }
    }
  }

  #next() {
    try {
      return this.#decoder.next()
    } catch (error) {
      this.#abort(error)
      return null
    }
  }

  #end(cause) {
    if (!this.#decoder.isBetweenMessages) {
      return new OzError('OZ_TRUNCATED', 'the connection was closed in the middle of a message', cause)
    }
    return new OzError('OZ_CLOSED', 'the robot has closed the connection; its log may say why', cause)
  }
}

function unreachable(host, port, cause) {
  // of several addresses, each has its own error
  const reasons = cause.errors?.map((error) => error.message).join('; ') ?? cause.message
  return new OzError('OZ_UNREACHABLE', `${host}:${port} cannot be reached: ${reasons}`, cause)
}

module.exports = { Connection }
