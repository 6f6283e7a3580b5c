// Servos by body part: choose a part on the drawing, then move its servos.

import { button, card, fill, h, say as setText } from '../../ui'
import { titled } from './acts'
import type { Desk, Part } from './desk'
import { drawing, type PartOfBody } from './drawing'
import { controls, quiet } from './parts'
import { type Tuner, tuner } from './tuner'

export function servos(desk: Desk): Part {
  const parts: PartOfBody[] = []
  for (const servo of desk.info.servos) {
    const part = parts.find((part) => part.name === servo.part)
    if (part) part.servos.push(servo)
    else parts.push({ name: servo.part, servos: [servo] })
  }
  let sliders: { id: number; tuner: Tuner }[] = []
  const title = h('h3')
  const list = h('div', { class: 'pp-sliders' })
  const words = h('span')
  const raise = button('', weigh, { test: 'direct' })
  const figure = drawing(parts, choose)

  const direct = () => desk.puppet?.weights.direct ?? 0

  async function weigh(): Promise<void> {
    await desk.perform({ do: 'weigh', subsystem: 'direct', weight: direct() > 0 ? 0 : 1 })
  }

  function choose(name: string): void {
    const part = parts.find((part) => part.name === name)
    if (!part) return
    figure.choose(name)
    title.textContent = titled(name)
    sliders = part.servos.map((servo) => ({
      id: servo.id,
      tuner: tuner(desk, {
        label: titled(servo.name),
        min: 0,
        max: 1,
        step: 0.01,
        value: desk.puppet?.positions[servo.id] ?? 0.5,
        test: `servo-${servo.name}`,
        order: (value) => ({ servo: [servo.id, value] }),
      }),
    }))
    fill(list, ...sliders.map(({ tuner }) => tuner.element))
  }
  choose((parts.find((part) => part.servos.some((servo) => servo.name.startsWith('neck'))) ?? parts[0])?.name ?? '')

  function tell(): void {
    const weight = direct()
    setText(
      words,
      weight > 0
        ? `Servos that you set are held with the weight ${weight.toFixed(2)}.`
        : 'The weight of direct servos is 0: what you set here has no effect yet.',
    )
    setText(raise, weight > 0 ? 'Let go' : 'Set it to 1')
    raise.title = weight > 0 ? 'Set the weight of direct servos to 0' : 'Set the weight of direct servos to 1'
  }
  tell()

  return {
    element: card(
      'Servos',
      figure.element,
      controls(h('div', { class: 'pp-direct' }, words, raise), title, list),
      quiet('Left is her left. She may fall if you move her legs carelessly.'),
    ),
    show(puppet) {
      tell()
      figure.show(puppet.positions)
      for (const { id, tuner } of sliders) tuner.show(puppet.positions[id] ?? 0.5)
    },
  }
}
