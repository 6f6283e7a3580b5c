'use strict'

const { Client } = require('./client')
const { OzError } = require('./error')
const constants = require('./constants')

module.exports = {
  Client,
  OzError,
  PORT: constants.PORT,
  MAX_SERVOS: constants.MAX_SERVOS,
  MAX_GESTURES: constants.MAX_GESTURES,
  Expression: constants.Expression,
  Gesture: constants.Gesture,
  LookAt: constants.LookAt,
  Message: constants.Message,
  Servo: constants.Servo,
  Tag: constants.Tag,
  VoiceGenderLanguage: constants.VoiceGenderLanguage,
}
