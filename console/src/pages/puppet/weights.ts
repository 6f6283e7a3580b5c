// How gestures, expression, gaze and the rest mix; how often she blinks; how the voice sounds.

import { button, card, h } from '../../ui'
import { standardWeight, titleOfSubsystem } from './acts'
import type { Desk, Part } from './desk'
import { controls } from './parts'
import { tuner } from './tuner'

export function weights(desk: Desk): Part {
  const sliders = new Map(
    desk.info.subsystems.map((subsystem) => [
      subsystem,
      tuner(desk, {
        label: titleOfSubsystem(subsystem),
        min: 0,
        max: 1,
        step: 0.01,
        value: standardWeight(subsystem),
        test: `weight-${subsystem}`,
        order: (value) => ({ weigh: [subsystem, value] }),
      }),
    ]),
  )
  const blink = tuner(desk, {
    label: 'Blinks',
    min: 0,
    max: 3,
    step: 0.05,
    value: 0,
    unit: '/ s',
    test: 'blink',
    order: (value) => ({ blink: value }),
  })

  async function reset(): Promise<void> {
    for (const subsystem of desk.info.subsystems) {
      if (!(await desk.perform({ do: 'weigh', subsystem, weight: standardWeight(subsystem) }))) return
    }
  }

  return {
    element: card(
      'Mix',
      controls(
        h('div', { class: 'pp-sliders' }, ...[...sliders.values()].map((slider) => slider.element), blink.element),
        h(
          'div',
          { class: 'row' },
          button('Reset the weights', reset, {
            title: 'Gestures, expression and looking 1, all else 0',
            test: 'reset-weights',
          }),
        ),
      ),
    ),
    show(puppet) {
      for (const [subsystem, slider] of sliders) slider.show(puppet.weights[subsystem] ?? 0)
      blink.show(puppet.blinks)
    },
  }
}
