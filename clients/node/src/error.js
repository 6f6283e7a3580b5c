'use strict'

/** What can go wrong; `code` says what it is. */
class OzError extends Error {
  constructor(code, message, cause) {
    super(message, cause && { cause })
    this.code = code
  }
}
// on the prototype, so that it is not shown as a field of each error
OzError.prototype.name = 'OzError'

module.exports = { OzError }
