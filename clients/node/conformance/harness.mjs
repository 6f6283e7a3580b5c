// The conformance harness of the Node.js client; see protocols/oz/conformance/README.md.

import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import * as oz from '../src/index.mjs'

// of the events, by name: what their arguments are called; those that are missing have none
const FIELDS = {
  disconnected: (reason) => ({ reason: reason && failure(reason) }),
  connectFailed: (error) => ({ error: failure(error) }),
  invalidMessage: (error) => ({ error: failure(error) }),
  gestureStart: (gesture) => ({ gesture }),
  speakGesture: (gesture) => ({ gesture }),
  utterance: ({ options }) => ({ options: options.map(numbersToJson) }),
  faces: (faces) => ({ faces: faces.map(numbersToJson) }),
  videoFrame: (jpeg) => ({ jpeg: jpeg.toString('hex') }),
  connected: () => ({}),
  speakStart: () => ({}),
  speakDone: () => ({}),
  gestureDone: () => ({}),
}

// of the constants, by name
const PREFIXES = {
  SERVO: oz.Servo,
  VGL: oz.VoiceGenderLanguage,
  GESTURE: oz.Gesture,
  EXPRESSION: oz.Expression,
  LOOKAT: oz.LookAt,
  MSG: oz.Message,
}

const clients = new Map()

function write(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function failure(error) {
  const kind = error instanceof oz.OzError ? error.code.replace('OZ_', '').toLowerCase() : error.name
  return { kind, message: error.message }
}

// numbers that JSON does not have are texts

function numbersToJson(object) {
  const names = { Infinity: 'inf', '-Infinity': '-inf', NaN: 'NaN' }
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, names[value] ?? value]))
}

function numberFromJson(value) {
  const numbers = { inf: Number.POSITIVE_INFINITY, '-inf': Number.NEGATIVE_INFINITY, NaN: Number.NaN }
  return typeof value === 'string' ? numbers[value] : value
}

function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camelCase(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
}

function constants() {
  const groups = Object.entries(PREFIXES).flatMap(([prefix, group]) =>
    Object.entries(group).map(([name, value]) => [`${prefix}_${name}`, value]),
  )
  const { PORT, MAX_SERVOS, MAX_GESTURES } = oz
  return { OZ_PORT: PORT, MAX_SERVOS, MAX_GESTURES, ...Object.fromEntries(groups) }
}

async function connect(name, { host, port, timeout_ms: timeout, reconnect_ms: reconnect }) {
  const robot = new oz.Client({ host, port, timeout, reconnect })
  clients.set(name, { robot, speak: [], gesture: [] })
  for (const [event, fields] of Object.entries(FIELDS)) {
    robot.on(event, (...args) => write({ client: name, event: snakeCase(event), ...fields(...args) }))
  }
  await robot.connect()
}

function within(promise, ms) {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal })
  late.catch(() => {})
  return Promise.race([promise.then(() => true), late]).finally(() => timer.abort())
}

async function call(name, method, args) {
  if (method === 'constants') return constants()
  if (method === 'gesture_tags') return Object.keys(oz.Gesture).map((gesture) => oz.Tag[gesture])
  if (method === 'connect') return connect(name, args[0])
  const client = clients.get(name)
  const { robot } = client
  switch (method) {
    case 'speak':
    case 'gesture':
      client[method].push(robot[method](...args))
      return null
    case 'await_text':
      return within(client.speak[args[0] - 1], args[1])
    case 'await_gesture':
      return within(client.gesture[args[0] - 1], args[1])
  }
  const member = robot[camelCase(method)]
  // a property, or a method
  if (typeof member !== 'function') return member
  const converted = args.map((arg) => (Array.isArray(arg) ? arg.map(numberFromJson) : numberFromJson(arg)))
  return member.apply(robot, converted)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, client, call: method, args } = JSON.parse(line)
  try {
    write({ id, returns: (await call(client, method, args)) ?? null })
  } catch (error) {
    write({ id, fails: failure(error) })
  }
}
await Promise.all([...clients.values()].map(({ robot }) => robot.disconnect()))
