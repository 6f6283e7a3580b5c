/// <reference types="node" />

import { EventEmitter } from 'node:events'

/** The port that a robot listens on, unless it is configured otherwise: 7331. */
export const PORT: number
/** The number of servos: 36. */
export const MAX_SERVOS: number
/** The number of gestures that every robot has: 13. */
export const MAX_GESTURES: number

/** Voices; there is only one. */
export const VoiceGenderLanguage: { readonly DEFAULT: 0 }

/** The servos of a robot. */
export const Servo: {
  readonly WAIST: 0
  readonly SHOULDER_PITCH_LEFT: 1
  readonly SHOULDER_ROLL_LEFT: 2
  readonly ELBOW_YAW_LEFT: 3
  readonly ELBOW_PITCH_LEFT: 4
  readonly SHOULDER_PITCH_RIGHT: 5
  readonly SHOULDER_ROLL_RIGHT: 6
  readonly ELBOW_YAW_RIGHT: 7
  readonly ELBOW_PITCH_RIGHT: 8
  readonly HIP_ROLL_LEFT: 9
  readonly HIP_YAW_LEFT: 10
  readonly HIP_PITCH_LEFT: 11
  readonly KNEE_PITCH_LEFT: 12
  readonly ANKLE_PITCH_LEFT: 13
  readonly ANKLE_ROLL_LEFT: 14
  readonly HIP_ROLL_RIGHT: 15
  readonly HIP_YAW_RIGHT: 16
  readonly HIP_PITCH_RIGHT: 17
  readonly KNEE_PITCH_RIGHT: 18
  readonly ANKLE_PITCH_RIGHT: 19
  readonly ANKLE_ROLL_RIGHT: 20
  readonly NECK_YAW: 21
  readonly NECK_ROLL: 22
  readonly NECK_PITCH: 23
  readonly BROWS: 24
  readonly EYELIDS: 25
  readonly EYES_PITCH: 26
  readonly JAW: 27
  readonly EYE_YAW_RIGHT: 28
  readonly SMILE_LEFT: 29
  readonly EYE_YAW_LEFT: 30
  readonly SMILE_RIGHT: 31
  readonly WRIST_LEFT: 32
  readonly GRASP_LEFT: 33
  readonly WRIST_RIGHT: 34
  readonly GRASP_RIGHT: 35
}

/** Gestures. A robot may have more, with higher numbers. */
export const Gesture: {
  readonly BROW_RAISE_LONG: 0
  readonly BROW_RAISE_SHORT: 1
  readonly FROWN_LONG: 2
  readonly FROWN_SHORT: 3
  readonly YES_LONG: 4
  readonly YES_SHORT: 5
  readonly YES_LONG_3X: 6
  readonly YES_SHORT_3X: 7
  readonly NO_LONG: 8
  readonly NO_SHORT: 9
  readonly NO_LONG_3X: 10
  readonly NO_SHORT_3X: 11
  readonly INDIAN_WOBBLE: 12
}

/** What starts a gesture inside a text: `${Tag.NO_SHORT}Nope.` */
export const Tag: { readonly [Name in keyof typeof Gesture]: string }

/** Facial expressions. */
export const Expression: {
  readonly NEUTRAL: 0
  readonly HAPPY: 1
  readonly SAD: 2
  readonly EVIL: 3
  readonly AFRAID: 4
}

/** What the robot looks at. */
export const LookAt: {
  readonly FORWARD: 0
  readonly DOWN: 1
  readonly UP: 2
  /** The largest face, which is the closest one. */
  readonly LARGEST: 3
  /** The smallest face, which is the furthest one. */
  readonly SMALLEST: 4
  /** Where no face is. */
  readonly AWAY: 5
}

/** The ids of messages: up to LOOKAT_WEIGHT to the robot, from SPEAK_DONE on to the client. */
export const Message: {
  readonly NOTHING: 0x00
  readonly REQUEST_VERSION: 0x01
  readonly RESET: 0x02
  readonly SPEAK: 0x03
  readonly VOICE_GENDER_LANGUAGE: 0x04
  readonly VOICE_VOLUME: 0x05
  readonly VOICE_PITCH: 0x06
  readonly GESTURE: 0x07
  readonly GESTURE_WEIGHT: 0x08
  readonly EXPRESSION: 0x09
  readonly EXPRESSION_WEIGHT: 0x0a
  readonly AUTO_BLINK_SPEED: 0x0b
  readonly RANDOM_HEAD_WEIGHT: 0x0c
  readonly RANDOM_EYES_WEIGHT: 0x0d
  readonly RANDOM_FACE_WEIGHT: 0x0e
  readonly SERVO: 0x0f
  readonly ALL_SERVOS: 0x10
  readonly DIRECT_WEIGHT: 0x11
  readonly LOOKAT: 0x12
  readonly LOOKAT_WEIGHT: 0x13
  readonly SPEAK_DONE: 0x14
  readonly GESTURE_DONE: 0x15
  readonly SPEAK_GESTURE: 0x16
  readonly UTTERANCE: 0x17
  readonly FACES: 0x18
  readonly VIDEO_FRAME: 0x19
}

export type OzErrorCode =
  /** No connection could be made: the name is unknown, or nobody listens. */
  | 'OZ_UNREACHABLE'
  /** The robot did not answer, or did not read requests, in time. */
  | 'OZ_TIMEOUT'
  /** The robot uses another version of the protocol. */
  | 'OZ_WRONG_VERSION'
  /** The connection is closed; the robot's log says why. */
  | 'OZ_CLOSED'
  /** The connection was closed in the middle of a message. */
  | 'OZ_TRUNCATED'
  /** The robot sent a message that is not valid. */
  | 'OZ_BAD_MESSAGE'
  /** A number is infinite, NaN or too large for 32 bits. Nothing was sent. */
  | 'OZ_NOT_FINITE'
  /** The protocol has no such expression, lookat mode or servo. Nothing was sent. */
  | 'OZ_OUT_OF_RANGE'
  /** A text has more bytes than a message can have. Nothing was sent. */
  | 'OZ_TEXT_TOO_LONG'

/** What can go wrong. */
export class OzError extends Error {
  constructor(code: OzErrorCode, message: string, cause?: unknown)
  readonly code: OzErrorCode
}

/** What the robot may have heard. */
export interface Option {
  /** 0 to 1. */
  confidence: number
  text: string
}

/** Speech that the robot has recognised. */
export interface Utterance {
  /** The likeliest text. */
  text: string
  /** The likeliest one first. */
  options: Option[]
}

/** A face in the image. */
export interface Face {
  /** 0 to 1. */
  confidence: number
  /** Centre: -1 is the left edge of the image, 1 the right one. */
  x: number
  /** Centre: -1 is the top edge of the image, 1 the bottom one. */
  y: number
  /** As a fraction of the image's width. */
  width: number
  /** As a fraction of the image's height. */
  height: number
  /** The person's name; empty if it is not known. */
  name: string
}

/** What listeners are called with, by event. */
export interface ClientEvents {
  /** The robot has answered; also when a lost connection has been made again. */
  connected: []
  /** The connection has ended: by `disconnect` if the reason is `null`. */
  disconnected: [reason: OzError | null]
  /** An attempt to make a lost connection again has failed; another one follows. */
  connectFailed: [error: OzError]
  /** This client has sent a text, which the robot starts speaking. */
  speakStart: [text: string]
  /** A text of this client has been spoken. */
  speakDone: []
  /** This client has started a gesture. */
  gestureStart: [gesture: number]
  /** A gesture of this client has ended; the protocol does not say which. */
  gestureDone: []
  /** A tag in a text of this client has started a gesture. */
  speakGesture: [gesture: number]
  utterance: [utterance: Utterance]
  /** The faces that the robot sees; none when the last one has disappeared. */
  faces: [faces: Face[]]
  /** An image of the robot's camera: a JPEG file. */
  videoFrame: [jpeg: Buffer]
  /** A message had a text that is not UTF-8. It is lost; the connection goes on. */
  invalidMessage: [error: OzError]
}

export interface ClientOptions {
  /** A name or an address. Default: 127.0.0.1. */
  host?: string
  /** Default: `PORT`. */
  port?: number
  /** How long connecting may take, and how long the robot may leave requests unread, in ms. Default: 10,000. */
  timeout?: number
  /** Makes a lost connection again, with this time in ms before each attempt. */
  reconnect?: number
}

/**
 * A client of a robot.
 *
 * Requests are sent at once. Methods that send them throw an `OzError` if the client is not connected, or for values that mean
 * nothing; nothing was sent then. Getters return what this client has set last, or the default.
 */
export class Client extends EventEmitter {
  constructor(options?: ClientOptions)

  /** Connects and requests the version. */
  connect(): Promise<void>
  /** Closes the connection after the robot has read all requests. Settings of the robot stay in effect. */
  disconnect(): Promise<void>
  readonly isConnected: boolean

  /** The robot's short name. */
  readonly name: string
  /** The robot's long name. */
  readonly longName: string
  /** The robot's version of the protocol: 0x01000000. */
  readonly version: number
  /** Restores all defaults of the robot. Speech and gestures stop, and are reported as done. */
  reset(): void

  /**
   * Sends a text, which may have gesture tags: `[nos]Nope.` Texts are spoken one after another.
   *
   * @returns a promise of the end, which may be ignored. It is rejected if the connection ends first.
   */
  speak(text: string): Promise<void>
  /** Waits until all texts of this client have been spoken; `false` if that takes longer than the timeout in ms. */
  waitForSpeak(timeout?: number): Promise<boolean>
  /** Whether texts of this client have not been spoken yet. */
  readonly speaking: boolean

  /**
   * Starts a gesture: one of `Gesture`, or another one of the robot.
   *
   * @returns a promise of the end, which may be ignored. Several gestures can play at once, and the robot does not tell which
   * one has ended: all are taken to have ended when none is playing any more.
   */
  gesture(id: number): Promise<void>
  /** Waits until all gestures of this client have ended, including those in its texts. */
  waitForGesture(timeout?: number): Promise<boolean>
  /** Whether gestures of this client are playing, including those in its texts. */
  readonly gesturing: boolean

  /** Sets whether images are dropped. */
  skipVideo(skip?: boolean): void

  /** Sets the voice, of `VoiceGenderLanguage`. */
  setVoiceGenderLanguage(voice: number): void
  readonly voiceGenderLanguage: number
  /** Sets the volume, 0 to 1. Default: 1. */
  setVoiceVolume(volume: number): void
  readonly voiceVolume: number
  /** Sets the pitch, 0.5 to 2. Default: 1. */
  setVoicePitch(pitch: number): void
  readonly voicePitch: number

  /** Sets the weight of gestures, 0 to 1. Default: 1. */
  setGestureWeight(weight: number): void
  readonly gestureWeight: number
  /** Sets the facial expression, of `Expression`. */
  setExpression(expression: number): void
  readonly expression: number
  /** Sets the weight of the facial expression, 0 to 1. Default: 1. */
  setExpressionWeight(weight: number): void
  readonly expressionWeight: number

  /** Sets the blinks per second, 0 to 10. Default: 2. */
  setAutoBlinkSpeed(speed: number): void
  readonly autoBlinkSpeed: number
  /** Sets the weight of random head motion, 0 to 1. Default: 0. */
  setRandomHeadWeight(weight: number): void
  readonly randomHeadWeight: number
  /** Sets the weight of random eye motion, 0 to 1. Default: 0. */
  setRandomEyesWeight(weight: number): void
  readonly randomEyesWeight: number
  /** Sets the weight of random face motion, 0 to 1. Default: 0. */
  setRandomFaceWeight(weight: number): void
  readonly randomFaceWeight: number

  /**
   * Sets the direct position of a servo, of `Servo`: 0 to 1 over its travel. It has no effect unless `setDirectWeight` has set
   * a weight.
   */
  setServo(id: number, position: number): void
  /** The direct position of a servo; `null` if it was never set. */
  servo(id: number): number | null
  /** Sets the direct positions of all servos, in the order of `Servo`. */
  setAllServos(positions: ArrayLike<number>): void
  readonly allServos: (number | null)[]
  /** Sets the weight of direct servo positions, 0 to 1. Default: 0. */
  setDirectWeight(weight: number): void
  readonly directWeight: number

  /** Sets what the robot looks at, of `LookAt`. */
  setLookAt(target: number): void
  readonly lookAt: number
  /** Sets the weight of looking at something, 0 to 1. Default: 1. */
  setLookAtWeight(weight: number): void
  readonly lookAtWeight: number

  on<Name extends keyof ClientEvents>(name: Name, listener: (...args: ClientEvents[Name]) => void): this
  once<Name extends keyof ClientEvents>(name: Name, listener: (...args: ClientEvents[Name]) => void): this
  off<Name extends keyof ClientEvents>(name: Name, listener: (...args: ClientEvents[Name]) => void): this
}
