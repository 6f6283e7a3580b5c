'use strict'

// The constants of the protocol's header file.

/** Names numbered in their order. */
function numbered(...names) {
  return Object.freeze(Object.fromEntries(names.map((name, number) => [name, number])))
}

const PORT = 7331

/** Protocol 1.0. */
const VERSION = 0x01000000

const VoiceGenderLanguage = numbered('DEFAULT')

const Servo = numbered(
  'WAIST',
  'SHOULDER_PITCH_LEFT',
  'SHOULDER_ROLL_LEFT',
  'ELBOW_YAW_LEFT',
  'ELBOW_PITCH_LEFT',
  'SHOULDER_PITCH_RIGHT',
  'SHOULDER_ROLL_RIGHT',
  'ELBOW_YAW_RIGHT',
  'ELBOW_PITCH_RIGHT',
  'HIP_ROLL_LEFT',
  'HIP_YAW_LEFT',
  'HIP_PITCH_LEFT',
  'KNEE_PITCH_LEFT',
  'ANKLE_PITCH_LEFT',
  'ANKLE_ROLL_LEFT',
  'HIP_ROLL_RIGHT',
  'HIP_YAW_RIGHT',
  'HIP_PITCH_RIGHT',
  'KNEE_PITCH_RIGHT',
  'ANKLE_PITCH_RIGHT',
  'ANKLE_ROLL_RIGHT',
  'NECK_YAW',
  'NECK_ROLL',
  'NECK_PITCH',
  'BROWS',
  'EYELIDS',
  'EYES_PITCH',
  'JAW',
  'EYE_YAW_RIGHT',
  'SMILE_LEFT',
  'EYE_YAW_LEFT',
  'SMILE_RIGHT',
  'WRIST_LEFT',
  'GRASP_LEFT',
  'WRIST_RIGHT',
  'GRASP_RIGHT',
)
const MAX_SERVOS = Object.keys(Servo).length

/** What starts a gesture inside a text, in the order of their numbers. */
const Tag = Object.freeze({
  BROW_RAISE_LONG: '[braisel]',
  BROW_RAISE_SHORT: '[braises]',
  FROWN_LONG: '[frownl]',
  FROWN_SHORT: '[frowns]',
  YES_LONG: '[yesl]',
  YES_SHORT: '[yess]',
  YES_LONG_3X: '[yesl3]',
  YES_SHORT_3X: '[yess3]',
  NO_LONG: '[nol]',
  NO_SHORT: '[nos]',
  NO_LONG_3X: '[nol3]',
  NO_SHORT_3X: '[nos3]',
  INDIAN_WOBBLE: '[wob]',
})
const Gesture = numbered(...Object.keys(Tag))
const MAX_GESTURES = Object.keys(Gesture).length

const Expression = numbered('NEUTRAL', 'HAPPY', 'SAD', 'EVIL', 'AFRAID')

const LookAt = numbered('FORWARD', 'DOWN', 'UP', 'LARGEST', 'SMALLEST', 'AWAY')

/** The ids of messages: up to LOOKAT_WEIGHT to the robot, from SPEAK_DONE on to the client. */
const Message = numbered(
  'NOTHING',
  'REQUEST_VERSION',
  'RESET',
  'SPEAK',
  'VOICE_GENDER_LANGUAGE',
  'VOICE_VOLUME',
  'VOICE_PITCH',
  'GESTURE',
  'GESTURE_WEIGHT',
  'EXPRESSION',
  'EXPRESSION_WEIGHT',
  'AUTO_BLINK_SPEED',
  'RANDOM_HEAD_WEIGHT',
  'RANDOM_EYES_WEIGHT',
  'RANDOM_FACE_WEIGHT',
  'SERVO',
  'ALL_SERVOS',
  'DIRECT_WEIGHT',
  'LOOKAT',
  'LOOKAT_WEIGHT',
  'SPEAK_DONE',
  'GESTURE_DONE',
  'SPEAK_GESTURE',
  'UTTERANCE',
  'FACES',
  'VIDEO_FRAME',
)

module.exports = {
  PORT,
  VERSION,
  VoiceGenderLanguage,
  Servo,
  MAX_SERVOS,
  Tag,
  Gesture,
  MAX_GESTURES,
  Expression,
  LookAt,
  Message,
}
