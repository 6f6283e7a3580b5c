// One robot: its controllers, pushes, motors and sensors.

import type { AgentInfo, AgentReadings, Client, Motor, Vector } from '../../api'
import type { Connection } from '../../connection'
import { button, empty, h, type Slider, setText, slider } from '../../ui'
import { describeControllers } from './controllers'
import { Sensors } from './sensors'

const PUSHES: { label: string; velocity: Vector }[] = [
  { label: 'Forward', velocity: [1, 0, 0] },
  { label: 'Back', velocity: [-1, 0, 0] },
  { label: 'Left', velocity: [0, 1, 0] },
  { label: 'Right', velocity: [0, -1, 0] },
  { label: 'Up', velocity: [0, 0, 1] },
]

const UNITS = { position: 'rad', velocity: 'rad/s', torque: 'N m' }

export class Agent {
  readonly element: HTMLElement
  #connection: Connection
  #card: AgentInfo
  #motors: Slider[]
  #senses: Sensors
  #control = h('p', { class: 'world-control quiet', 'data-test': 'control' })

  constructor(connection: Connection, card: AgentInfo) {
    this.#connection = connection
    this.#card = card
    this.#motors = card.motors.map((motor, at) => this.#motor(motor, at))
    this.#senses = new Sensors(card.senses)
    const operator = connection.role === 'operator'
    this.element = h(
      'div',
      { class: 'stack', 'data-test': 'chosen-agent' },
      h('h2', null, `${card.name} (${card.robot})`),
      this.#control,
      h(
        'section',
        { class: 'stack', 'aria-label': 'Push' },
        h('h3', null, 'Push with 1 m/s along a world axis'),
        h(
          'div',
          { class: 'world-pushes' },
          ...PUSHES.map(({ label, velocity }) =>
            button(label, () => connection.request({ do: 'push', agent: card.name, velocity }), {
              disabled: !operator || card.body < 0,
              title: operator ? `${label}: ${axis(velocity)}` : 'You are a viewer: you can watch, but not control.',
              test: `push-${label.toLowerCase()}`,
            }),
          ),
        ),
      ),
      h(
        'section',
        { class: 'stack', 'aria-label': 'Motors' },
        h('h3', null, `Motors (${card.motors.length})`),
        this.#motors.length > 0
          ? h('div', { class: 'world-motors', 'data-test': 'motors' }, ...this.#motors.map((motor) => motor.element))
          : empty('No motors', 'This robot can only be pushed.'),
      ),
      this.#senses.element,
    )
    this.setControllers([])
  }

  hear(news: AgentReadings): void {
    this.#motors.forEach((motor, at) => {
      const value = news.motors[at]
      // NaN arrives as null
      if (typeof value === 'number') motor.set(value)
    })
    this.#senses.hear(news)
  }

  /** Enables the motors while no other client controls the robot. */
  setControllers(controllers: Client[]): void {
    const operator = this.#connection.role === 'operator'
    const free = controllers.length === 0
    for (const motor of this.#motors) motor.disabled(!operator || !free)
    setText(
      this.#control,
      !operator
        ? 'You are a viewer: you can watch, but not control.'
        : free
          ? 'Not controlled by any client: you can move its motors.'
          : `Controlled by ${describeControllers(controllers)}. You can only push it.`,
    )
  }

  close(): void {
    this.#senses.close()
  }

  #motor(motor: Motor, at: number): Slider {
    const [min, max] = usable(motor.range)
    return slider({
      label: motor.name,
      min,
      max,
      step: 10 ** Math.floor(Math.log10((max - min) / 100)),
      value: Math.min(max, Math.max(min, 0)),
      unit: UNITS[motor.kind],
      oninput: (value) => this.#connection.send({ do: 'act', agent: this.#card.name, motors: [[at, value]] }),
    })
  }
}

/** A finite range for the slider: motors may be unlimited. */
function usable([min, max]: [number, number]): [number, number] {
  const wide = Number.isFinite(min) && Number.isFinite(max) && max - min > 1e-6
  return wide ? [min, max] : [-1, 1]
}

function axis(velocity: Vector): string {
  const at = velocity.findIndex((part) => part !== 0)
  return `${(velocity[at] ?? 0) > 0 ? '+' : '−'}${'xyz'[at] ?? ''}`
}
