'use strict'

// Requests to bytes: a 32-bit id, and then the fields. All numbers are big-endian.

const { MAX_SERVOS, Message } = require('./constants')
const { OzError } = require('./error')

/** The longest text, in bytes of UTF-8. */
const MAX_TEXT = 65_535

/** A message without fields. */
function bare(message) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(message)
  return bytes
}

/** A message with a number below `count`. */
function word(message, what, value, count = 2 ** 32) {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(message)
  bytes.writeUInt32BE(checkedWord(what, value, count), 4)
  return bytes
}

/** A message with a number that has to be finite. */
function float(message, what, value) {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(message)
  bytes.writeFloatBE(checkedFloat(what, value), 4)
  return bytes
}

function text(message, value) {
  if (typeof value !== 'string') throw new TypeError(`a text is a string, not ${typeof value}`)
  const length = Buffer.byteLength(value)
  if (length > MAX_TEXT) {
    throw new OzError('OZ_TEXT_TOO_LONG', `the text has ${length} bytes; at most ${MAX_TEXT} can be sent`)
  }
  const bytes = Buffer.alloc(6 + length)
  bytes.writeUInt32BE(message)
  bytes.writeUInt16BE(length, 4)
  bytes.write(value, 6)
  return bytes
}

/** The direct position of a servo. */
function servo(id, position) {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(Message.SERVO)
  bytes.writeUInt32BE(checkedWord('servo', id, MAX_SERVOS), 4)
  bytes.writeFloatBE(checkedFloat('position', position), 8)
  return bytes
}

/** The direct positions of all servos. */
function servos(positions) {
  if (positions.length !== MAX_SERVOS) {
    throw new OzError('OZ_OUT_OF_RANGE', `${positions.length} positions; a robot has ${MAX_SERVOS} servos`)
  }
  const bytes = Buffer.alloc(4 + 4 * MAX_SERVOS)
  bytes.writeUInt32BE(Message.ALL_SERVOS)
  for (let id = 0; id < MAX_SERVOS; id++) bytes.writeFloatBE(checkedFloat('position', positions[id]), 4 + 4 * id)
  return bytes
}

function checkedWord(what, value, count) {
  if (typeof value !== 'number') throw new TypeError(`${what} is a number, not ${typeof value}`)
  if (!Number.isInteger(value) || value < 0 || value >= count) {
    throw new OzError('OZ_OUT_OF_RANGE', `${what} ${value} is out of range 0 to ${count - 1}`)
  }
  return value
}

function checkedFloat(what, value) {
  if (typeof value !== 'number') throw new TypeError(`${what} is a number, not ${typeof value}`)
  if (!Number.isFinite(Math.fround(value))) {
    throw new OzError('OZ_NOT_FINITE', `${what} ${value} is not a finite 32-bit number`)
  }
  return value
}

module.exports = { bare, word, float, text, servo, servos, checkedWord }
