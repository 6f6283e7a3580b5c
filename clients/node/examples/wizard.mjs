#!/usr/bin/env node
// A small Wizard of Oz: looks at the nearest person, greets newcomers, and answers what they say.
//
//     rossum serve --scenario oz
//     node wizard.mjs [--robot ADDRESS] [--say TEXT]

import { parseArgs } from 'node:util'
import { Client, Expression, LookAt, OzError, PORT, Tag } from 'rossum-oz'

/** The time without a face after which the next person is greeted, in ms. */
const GREET_AGAIN = 30_000

// a recognised word and the reply to it; the first match wins
const ANSWERS = {
  name: `${Tag.BROW_RAISE_SHORT}I am Alice.`,
  no: `${Tag.NO_SHORT_3X}No? ${Tag.YES_LONG}As you like.`,
  you: `${Tag.INDIAN_WOBBLE}I am well, thank you. ${Tag.BROW_RAISE_LONG}And you?`,
}
const OTHERWISE = `${Tag.YES_SHORT_3X}I see. ${Tag.BROW_RAISE_LONG}Tell me more.`

function answer(heard) {
  const words = heard.toLowerCase().match(/[a-z']+/g) ?? []
  const word = Object.keys(ANSWERS).find((word) => words.includes(word))
  return word === undefined ? OTHERWISE : ANSWERS[word]
}

function greetNewcomers(robot) {
  let count = 0
  let lastSeen = Number.NEGATIVE_INFINITY
  robot.on('faces', (faces) => {
    if (faces.length !== count) {
      console.log('sees', faces.map((face) => face.name || 'somebody').join(', ') || 'nobody any more')
    }
    count = faces.length
    if (count === 0) return
    if (performance.now() - lastSeen >= GREET_AGAIN) {
      const [nearest] = faces.sort((a, b) => b.width * b.height - a.width * a.height)
      robot.setExpression(Expression.HAPPY)
      robot.speak(`${Tag.BROW_RAISE_SHORT}Hello ${nearest.name}! ${Tag.INDIAN_WOBBLE}Nice to see you.`)
    }
    lastSeen = performance.now()
  })
}

function answerQuestions(robot) {
  robot.on('utterance', ({ text, options }) => {
    const reply = answer(text)
    console.log(`hears "${text}" (${Math.round(100 * (options[0]?.confidence ?? 0))}%), says "${reply}"`)
    robot.speak(reply)
  })
}

const { values } = parseArgs({
  options: { robot: { type: 'string', default: `127.0.0.1:${PORT}` }, say: { type: 'string' } },
})
const [, host, port] = values.robot.match(/^(.*):(\d+)$/) ?? [null, values.robot, PORT]
const robot = new Client({ host, port: Number(port) })
greetNewcomers(robot)
answerQuestions(robot)
robot.on('speakGesture', (gesture) => console.log('makes gesture', gesture))
robot.on('speakDone', () => {
  console.log('has spoken')
  if (robot.isConnected) robot.setExpression(Expression.NEUTRAL)
})
robot.on('disconnected', (reason) => {
  if (reason !== null) {
    console.error(reason.message)
    process.exitCode = 1
  }
})
process.once('SIGINT', () => robot.disconnect())

try {
  await robot.connect()
  console.log(`operating ${robot.name}: ${robot.longName}`)
  robot.skipVideo()
  robot.setLookAt(LookAt.LARGEST)
  // eyes that never move look dead
  robot.setRandomEyesWeight(0.3)
  if (values.say !== undefined) robot.speak(values.say)
} catch (error) {
  if (!(error instanceof OzError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
