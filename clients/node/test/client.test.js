'use strict'

// What the conformance suite cannot show: promises, listeners, and the types of JavaScript.

const assert = require('node:assert/strict')
const net = require('node:net')
const { once } = require('node:events')
const { test } = require('node:test')
const { Client, Message, OzError } = require('rossum-oz')
const { Deadline } = require('../src/deadline')
const { Decoder } = require('../src/decoder')

const LONG = 30_000
const WELCOME = Buffer.from('010000000005616c6963650005416c696365', 'hex')
const SPEAK_DONE = word(Message.SPEAK_DONE)

function word(number) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}

/** A robot that welcomes clients and then does as it is told, and a client of it. */
async function withRobot(act, operate, options = {}) {
  const sockets = new Set()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(WELCOME)
      act(socket)
      socket.resume()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const robot = new Client({ port: server.address().port, timeout: LONG, ...options })
  try {
    await operate(robot, server)
  } finally {
    await robot.disconnect()
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

/** Each text here has five bytes. */
function endEveryText(socket) {
  let read = 0
  socket.on('data', (bytes) => {
    for (read += bytes.length; read >= 11; read -= 11) socket.write(SPEAK_DONE)
  })
}

const isError = (code) => (error) => error instanceof OzError && error.code === code && error.message !== ''

test('each text has its own promise', () =>
  withRobot(endEveryText, async (robot) => {
    await robot.connect()
    const ends = []
    const texts = [1, 2, 3].map((number) => robot.speak('Hello').then(() => ends.push(number)))
    await Promise.all(texts)
    assert.deepEqual(ends, [1, 2, 3])
    assert.equal(robot.speaking, false)
  }))

test('a promise that nobody waits for may fail', () =>
  withRobot(
    () => {},
    async (robot) => {
      await robot.connect()
      const end = robot.speak('Hello')
      robot.gesture(0)
      const waiting = robot.waitForGesture()
      await Promise.all([robot.disconnect(), assert.rejects(waiting, isError('OZ_CLOSED'))])
      await assert.rejects(end, isError('OZ_CLOSED'))
    },
  ))

test('mistakes are thrown at once and send nothing', () =>
  withRobot(endEveryText, async (robot) => {
    assert.throws(() => robot.speak('Hello'), isError('OZ_CLOSED'))
    await robot.connect()
    const mistakes = [
      [() => robot.setExpression(5), 'OZ_OUT_OF_RANGE'],
      [() => robot.setExpression(0.5), 'OZ_OUT_OF_RANGE'],
      [() => robot.gesture(-1), 'OZ_OUT_OF_RANGE'],
      [() => robot.servo(36), 'OZ_OUT_OF_RANGE'],
      [() => robot.setAllServos(new Float32Array(35)), 'OZ_OUT_OF_RANGE'],
      [() => robot.setVoiceVolume(Number.NaN), 'OZ_NOT_FINITE'],
      [() => robot.setVoiceVolume(1e39), 'OZ_NOT_FINITE'],
      [() => robot.speak('ä'.repeat(32_768)), 'OZ_TEXT_TOO_LONG'],
    ]
    for (const [mistake, code] of mistakes) assert.throws(mistake, isError(code))
    assert.throws(() => robot.setVoiceVolume('1'), TypeError)
    assert.throws(() => robot.setLookAt(undefined), TypeError)
    assert.throws(() => robot.speak(5), TypeError)
    assert.throws(() => new Client({ timeout: -1 }), RangeError)
    assert.throws(() => new Client({ reconnect: '1' }), TypeError)
    await assert.rejects(robot.waitForSpeak('1'), TypeError)
    // it would not end if anything else had been sent
    await robot.speak('Hello')
  }))

test('what a listener throws is an uncaught exception and stops nothing', () =>
  withRobot(endEveryText, async (robot) => {
    await robot.connect()
    // the test runner takes them for failures
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const thrown = once(process, 'uncaughtException')
    robot.once('speakDone', () => {
      throw new SyntaxError('a mistake')
    })
    try {
      await robot.speak('Hello')
      const [error] = await thrown
      assert.equal(error.message, 'a mistake')
    } finally {
      for (const listener of others) process.on('uncaughtException', listener)
    }
    await robot.speak('Hello')
  }))

test('a listener may speak and disconnect', () =>
  withRobot(endEveryText, async (robot) => {
    await robot.connect()
    robot.once('speakDone', () => {
      robot.speak('Hello')
      robot.once('speakDone', () => robot.disconnect())
    })
    const told = once(robot, 'disconnected')
    robot.speak('Hello')
    assert.deepEqual(await told, [null])
  }))

test('a client that is connected cannot connect, and stays connected', () =>
  withRobot(endEveryText, async (robot) => {
    await robot.connect()
    await assert.rejects(robot.connect(), /connected already/)
    await robot.speak('Hello')
  }))

test('connecting can be given up', async () => {
  // accepts a connection and says nothing
  const silent = net.createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const robot = new Client({ port: silent.address().port, timeout: LONG })
  robot.on('disconnected', () => assert.fail('it was never connected'))
  const connecting = assert.rejects(robot.connect(), isError('OZ_CLOSED'))
  await once(silent, 'connection')
  await robot.disconnect()
  await connecting
  silent.close()
  await once(silent, 'close')
})

test('one that disconnects without waiting can connect again at once', () =>
  withRobot(endEveryText, async (robot) => {
    const told = []
    robot.on('connected', () => told.push('connected'))
    robot.on('disconnected', () => told.push('disconnected'))
    await robot.connect()
    robot.disconnect()
    await robot.connect()
    await robot.speak('Hello')
    assert.deepEqual(told, ['connected', 'disconnected', 'connected'])
  }))

test('a deadline that passes while the event loop is busy is not the fault of others', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect(server.address().port, '127.0.0.1')
  const [peer] = await once(server, 'connection')
  const deadline = new Deadline()
  deadline.set(20, () => assert.fail('it arrived in time'))
  const arrived = once(peer, 'data').then(() => deadline.clear())
  socket.write('Hello')
  const begin = performance.now()
  while (performance.now() - begin < 50);
  await arrived
  socket.destroy()
  peer.destroy()
  server.close()
})

test('a long message in many parts is read once', () => {
  const decoder = new Decoder()
  decoder.append(WELCOME)
  assert.equal(decoder.next().longName, 'Alice')
  const option = Buffer.concat([word(0x3f000000), Buffer.from('ffff', 'hex'), Buffer.alloc(65_535, 'a')])
  const message = Buffer.concat([word(Message.UTTERANCE), word(256), ...new Array(256).fill(option)])
  const begin = process.cpuUsage()
  for (let at = 0; at < message.length; at += 1000) {
    assert.equal(decoder.next(), null)
    decoder.append(message.subarray(at, at + 1000))
  }
  const { name, args } = decoder.next()
  assert.equal(name, 'utterance')
  assert.equal(args[0].options.length, 256)
  assert.equal(args[0].options[255].text.length, 65_535)
  // seconds if each part has it read from its beginning
  assert.ok(process.cpuUsage(begin).user < 2e6)
  assert.ok(decoder.isBetweenMessages)
})
