// How gestures, expression, gaze and the rest mix; how often she blinks; how the voice sounds.

import { button, card, h } from '../../ui'
import { standardWeight, titleOfSubsystem } from './acts'
import type { OperatorPanel, Widget } from './operator-panel'
import { tuner } from './tuner'
import { controls } from './widgets'

export function weights(panel: OperatorPanel): Widget {
  const sliders = new Map(
    panel.info.subsystems.map((subsystem) => [
      subsystem,
      tuner(panel, {
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
  const blink = tuner(panel, {
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
    for (const subsystem of panel.info.subsystems) {
      if (!(await panel.perform({ do: 'weigh', subsystem, weight: standardWeight(subsystem) }))) return
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
