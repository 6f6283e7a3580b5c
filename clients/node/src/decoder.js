'use strict'

// Bytes to messages. There is no framing: the end of a message follows from its id and the lengths in it.
//
// Messages are read by generators, which yield the number of bytes that they need next, and are given them when they have
// arrived.

const { Message, VERSION } = require('./constants')
const { OzError } = require('./error')

// what is read at most; robots send far less
const MAX_OPTIONS = 256
const MAX_FACES = 256
const MAX_JPEG = 16 * 1024 * 1024

/** The smallest version; all message ids are smaller. */
const FIRST_VERSION = 0x01000000

/** Bytes that have arrived and have not been read. */
class Bytes {
  #buffer = Buffer.alloc(4096)
  #begin = 0
  #end = 0

  get length() {
    return this.#end - this.#begin
  }

  append(chunk) {
    const length = this.length + chunk.length
    if (this.#end + chunk.length > this.#buffer.length) {
      // twice as large as needed, so that bytes are moved once on average
      const buffer = length > this.#buffer.length / 2 ? Buffer.alloc(2 * length) : this.#buffer
      this.#buffer.copy(buffer, 0, this.#begin, this.#end)
      this.#buffer = buffer
      this.#begin = 0
    }
    chunk.copy(this.#buffer, length - chunk.length + this.#begin)
    this.#end = this.#begin + length
  }

  /** The next bytes, valid until the next call of `append`. */
  take(count) {
    this.#begin += count
    return this.#buffer.subarray(this.#begin - count, this.#begin)
  }
}

/** Takes a stream apart: the answer to the version request, and then messages. */
class Decoder {
  #bytes = new Bytes()
  #isWelcomed = false
  /** The message that has begun to arrive, and how many bytes it needs next. */
  #reading = null
  #needed = 0

  append(chunk) {
    this.#bytes.append(chunk)
  }

  /** Whether no message has arrived in part. */
  get isBetweenMessages() {
    return this.#reading === null && this.#bytes.length === 0
  }

  /** The next message; `null` if it has not arrived completely. After an error the stream cannot be read on. */
  next() {
    if (this.isBetweenMessages) return null
    if (this.#reading === null) {
      this.#reading = this.#isWelcomed ? readMessage() : readWelcome()
      this.#needed = this.#reading.next().value
    }
    while (this.#bytes.length >= this.#needed) {
      const { done, value } = this.#reading.next(this.#bytes.take(this.#needed))
      if (done) {
        this.#reading = null
        this.#isWelcomed = true
        return value
      }
      this.#needed = value
    }
    return null
  }
}

function* readWelcome() {
  const version = yield* readWord()
  if (version < FIRST_VERSION) {
    throw badMessage(`the robot answered the version request with ${hex(version, 2)}, which is not a version`)
  }
  // the rest may look different in another version
  if (version !== VERSION) {
    const message = `the robot uses protocol version ${hex(version, 8)}, this client ${hex(VERSION, 8)}`
    throw new OzError('OZ_WRONG_VERSION', message)
  }
  const texts = new Texts()
  const welcome = { version, name: yield* texts.read('name'), longName: yield* texts.read('long name') }
  if (texts.error !== null) throw texts.error
  return welcome
}

/** Reads an event: its name, and what listeners are given with it. */
function* readMessage() {
  const id = yield* readWord()
  const texts = new Texts()
  const event = yield* readFields(id, texts)
  return texts.error === null ? event : { name: 'invalidMessage', args: [texts.error] }
}

function* readFields(id, texts) {
  switch (id) {
    case Message.SPEAK_DONE:
      return { name: 'speakDone', args: [] }
    case Message.GESTURE_DONE:
      return { name: 'gestureDone', args: [] }
    case Message.SPEAK_GESTURE:
      return { name: 'speakGesture', args: [yield* readWord()] }
    case Message.UTTERANCE: {
      const count = yield* readCount('options', MAX_OPTIONS)
      const options = []
      while (options.length < count) options.push({ confidence: yield* readFloat(), text: yield* texts.read('text') })
      return { name: 'utterance', args: [{ text: options[0]?.text ?? '', options }] }
    }
    case Message.FACES: {
      const count = yield* readCount('faces', MAX_FACES)
      const faces = []
      while (faces.length < count) faces.push(yield* readFace(texts))
      return { name: 'faces', args: [faces] }
    }
    case Message.VIDEO_FRAME: {
      const length = yield* readCount('bytes of an image', MAX_JPEG)
      return { name: 'videoFrame', args: [Buffer.from(yield length)] }
    }
    default:
      throw badMessage(`the robot sent a message with the unknown id ${hex(id, 2)}`)
  }
}

function* readFace(texts) {
  const confidence = yield* readFloat()
  const x = yield* readFloat()
  const y = yield* readFloat()
  const width = yield* readFloat()
  const height = yield* readFloat()
  return { confidence, x, y, width, height, name: yield* texts.read('name') }
}

function* readWord() {
  return (yield 4).readUInt32BE()
}

function* readFloat() {
  return (yield 4).readFloatBE()
}

function* readCount(what, most) {
  const count = yield* readWord()
  if (count > most) throw badMessage(`the robot sent ${count} ${what}; at most ${most} are read`)
  return count
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads the texts of a message. One that is not UTF-8 is an error, but the rest of the message is read all the same. */
class Texts {
  error = null;

  *read(what) {
    const bytes = yield (yield 2).readUInt16BE()
    try {
      return utf8.decode(bytes)
    } catch (cause) {
      this.error = new OzError('OZ_BAD_MESSAGE', `the robot sent a ${what} that is not UTF-8`, cause)
      return ''
    }
  }
}

function badMessage(message) {
  return new OzError('OZ_BAD_MESSAGE', message)
}

function hex(number, digits) {
  return `0x${number.toString(16).padStart(digits, '0')}`
}

module.exports = { Decoder }
