// What the declarations of types accept, and what they refuse; it is only compiled.

import { Client, Expression, type Face, Gesture, LookAt, OzError, PORT, Servo, Tag, type Utterance } from 'rossum-oz'

const robot = new Client({ host: '127.0.0.1', port: PORT, timeout: 1000, reconnect: 2000 })
robot.on('utterance', ({ text, options }: Utterance) => robot.speak(`${Tag.NO_SHORT}${text} ${options[0]?.confidence}`))
robot.on('faces', (faces: Face[]) => faces.map(({ name, width }) => `${name.trim()} ${width.toFixed(2)}`))
robot.once('videoFrame', (jpeg) => jpeg.readUInt16BE(0))
robot.off('disconnected', (reason) => reason?.message.trim())
try {
  await robot.connect()
} catch (error) {
  if (!(error instanceof OzError) || error.code !== 'OZ_UNREACHABLE') throw error
}
robot.setExpression(Expression.HAPPY)
robot.setLookAt(LookAt.LARGEST)
robot.setServo(Servo.JAW, 0.5)
robot.setAllServos(new Float32Array(36))
const position: number | null = robot.servo(Servo.JAW)
const spoken: Promise<void> = robot.speak('Hello.')
const isInTime: boolean = await robot.waitForGesture(1000)
await Promise.all([spoken, robot.gesture(Gesture.YES_LONG)])
console.log(robot.longName, position, isInTime, robot.allServos.length)

// @ts-expect-error: no such event
robot.on('spoken', () => {})
// @ts-expect-error: this event has a gesture
robot.on('speakGesture', (text: string) => text)
// @ts-expect-error: no such code of an error
const isBroken = (error: OzError) => error.code === 'OZ_BROKEN'
// @ts-expect-error: a text
robot.speak(1)
// @ts-expect-error: a getter
robot.expression = isBroken
// @ts-expect-error: no such gesture
robot.gesture(Gesture.WAVE)
// @ts-expect-error: no such option
new Client({ address: '127.0.0.1' })
