import oz from './index.js'

export const {
  Client,
  OzError,
  PORT,
  MAX_SERVOS,
  MAX_GESTURES,
  Expression,
  Gesture,
  LookAt,
  Message,
  Servo,
  Tag,
  VoiceGenderLanguage,
} = oz
