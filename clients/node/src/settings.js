'use strict'

const { EventEmitter } = require('node:events')
const { Expression, LookAt, MAX_SERVOS, Message, VoiceGenderLanguage } = require('./constants')
const encode = require('./encode')

const DEFAULTS = Object.freeze({
  voiceGenderLanguage: VoiceGenderLanguage.DEFAULT,
  voiceVolume: 1,
  voicePitch: 1,
  gestureWeight: 1,
  expression: Expression.NEUTRAL,
  expressionWeight: 1,
  autoBlinkSpeed: 2,
  randomHeadWeight: 0,
  randomEyesWeight: 0,
  randomFaceWeight: 0,
  directWeight: 0,
  lookAt: LookAt.FORWARD,
  lookAtWeight: 1,
})

/** The settings of a robot as this client has last set them, and the requests that change them. */
class Settings extends EventEmitter {
  #values = { ...DEFAULTS }
  #servos = new Array(MAX_SERVOS).fill(null)
  #send

  /** `send` throws if the request cannot be sent. */
  constructor(send) {
    super()
    this.#send = send
  }

  reset() {
    this.#send(encode.bare(Message.RESET))
    this.#values = { ...DEFAULTS }
    this.#servos.fill(null)
  }

  get voiceGenderLanguage() {
    return this.#values.voiceGenderLanguage
  }
  setVoiceGenderLanguage(voice) {
    this.#set('voiceGenderLanguage', voice, encode.word(Message.VOICE_GENDER_LANGUAGE, 'voice', voice))
  }

  get voiceVolume() {
    return this.#values.voiceVolume
  }
  setVoiceVolume(volume) {
    this.#set('voiceVolume', volume, encode.float(Message.VOICE_VOLUME, 'volume', volume))
  }

  get voicePitch() {
    return this.#values.voicePitch
  }
  setVoicePitch(pitch) {
    this.#set('voicePitch', pitch, encode.float(Message.VOICE_PITCH, 'pitch', pitch))
  }

  get gestureWeight() {
    return this.#values.gestureWeight
  }
  setGestureWeight(weight) {
    this.#setWeight('gestureWeight', Message.GESTURE_WEIGHT, weight)
  }

  get expression() {
    return this.#values.expression
  }
  setExpression(expression) {
    const count = Object.keys(Expression).length
    this.#set('expression', expression, encode.word(Message.EXPRESSION, 'expression', expression, count))
  }

  get expressionWeight() {
    return this.#values.expressionWeight
  }
  setExpressionWeight(weight) {
    this.#setWeight('expressionWeight', Message.EXPRESSION_WEIGHT, weight)
  }

  get autoBlinkSpeed() {
    return this.#values.autoBlinkSpeed
  }
  setAutoBlinkSpeed(speed) {
    this.#set('autoBlinkSpeed', speed, encode.float(Message.AUTO_BLINK_SPEED, 'speed', speed))
  }

  get randomHeadWeight() {
    return this.#values.randomHeadWeight
  }
  setRandomHeadWeight(weight) {
    this.#setWeight('randomHeadWeight', Message.RANDOM_HEAD_WEIGHT, weight)
  }

  get randomEyesWeight() {
    return this.#values.randomEyesWeight
  }
  setRandomEyesWeight(weight) {
    this.#setWeight('randomEyesWeight', Message.RANDOM_EYES_WEIGHT, weight)
  }

  get randomFaceWeight() {
    return this.#values.randomFaceWeight
  }
  setRandomFaceWeight(weight) {
    this.#setWeight('randomFaceWeight', Message.RANDOM_FACE_WEIGHT, weight)
  }

  servo(id) {
    return this.#servos[encode.checkedWord('servo', id, MAX_SERVOS)]
  }
  setServo(id, position) {
    this.#send(encode.servo(id, position))
    this.#servos[id] = position
  }

  get allServos() {
    return [...this.#servos]
  }
  setAllServos(positions) {
    this.#send(encode.servos(positions))
    this.#servos = Array.from(positions)
  }

  get directWeight() {
    return this.#values.directWeight
  }
  setDirectWeight(weight) {
    this.#setWeight('directWeight', Message.DIRECT_WEIGHT, weight)
  }

  get lookAt() {
    return this.#values.lookAt
  }
  setLookAt(target) {
    this.#set('lookAt', target, encode.word(Message.LOOKAT, 'target', target, Object.keys(LookAt).length))
  }

  get lookAtWeight() {
    return this.#values.lookAtWeight
  }
  setLookAtWeight(weight) {
    this.#setWeight('lookAtWeight', Message.LOOKAT_WEIGHT, weight)
  }

  #setWeight(name, message, weight) {
    this.#set(name, weight, encode.float(message, 'weight', weight))
  }

  #set(name, value, request) {
    this.#send(request)
    this.#values[name] = value
  }
}

module.exports = { Settings }
