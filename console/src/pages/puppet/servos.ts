// Servos by body part: select a part in the drawing, then move its servos.

import type { ServoInfo } from '../../api'
import { button, card, fill, h, setText } from '../../ui'
import { sentenceCase } from './acts'
import { type BodyPart, drawing } from './drawing'
import type { OperatorPanel, Widget } from './operator-panel'
import { type Tuner, tuner } from './tuner'
import { controls, quiet } from './widgets'

export function servos(panel: OperatorPanel): Widget {
  const parts = bodyParts(panel.info.servos)
  let sliders: { id: number; tuner: Tuner }[] = []
  const title = h('h3')
  const list = h('div', { class: 'pp-sliders' })
  const weight = directWeight(panel)
  const figure = drawing(parts, choose)

  function choose(name: string): void {
    const part = parts.find((part) => part.name === name)
    if (!part) return
    figure.choose(name)
    title.textContent = sentenceCase(name)
    sliders = part.servos.map((servo) => ({
      id: servo.id,
      tuner: tuner(panel, {
        label: sentenceCase(servo.name),
        min: 0,
        max: 1,
        step: 0.01,
        value: panel.puppet?.positions[servo.id] ?? 0.5,
        test: `servo-${servo.name}`,
        command: (value) => ({ servo: [servo.id, value] }),
      }),
    }))
    fill(list, ...sliders.map(({ tuner }) => tuner.element))
  }
  choose((parts.find((part) => part.servos.some((servo) => servo.name.startsWith('neck'))) ?? parts[0])?.name ?? '')

  return {
    element: card(
      'Servos',
      figure.element,
      controls(weight.element, title, list),
      quiet('Left is the robot’s left. It may fall if you move its legs.'),
    ),
    show(puppet) {
      weight.show()
      figure.show(puppet.positions)
      for (const { id, tuner } of sliders) tuner.show(puppet.positions[id] ?? 0.5)
    },
  }
}

function bodyParts(servos: ServoInfo[]): BodyPart[] {
  const parts: BodyPart[] = []
  for (const servo of servos) {
    const part = parts.find((part) => part.name === servo.part)
    if (part) part.servos.push(servo)
    else parts.push({ name: servo.part, servos: [servo] })
  }
  return parts
}

/** The weight of direct servos, with a button that sets or releases it. */
function directWeight(panel: OperatorPanel): { element: HTMLElement; show(): void } {
  const words = h('span')
  const toggle = button('', setOrRelease, { test: 'direct' })
  const direct = () => panel.puppet?.weights.direct ?? 0

  async function setOrRelease(): Promise<void> {
    await panel.perform({ do: 'weigh', subsystem: 'direct', weight: direct() > 0 ? 0 : 1 })
  }

  function show(): void {
    const weight = direct()
    setText(
      words,
      weight > 0
        ? `Servos you set are held with weight ${weight.toFixed(2)}.`
        : 'The weight of direct servos is 0: settings have no effect yet.',
    )
    setText(toggle, weight > 0 ? 'Release' : 'Set to 1')
    toggle.title = weight > 0 ? 'Set the weight of direct servos to 0' : 'Set the weight of direct servos to 1'
  }
  show()

  return { element: h('div', { class: 'pp-direct' }, words, toggle), show }
}
