// Weights of the motion subsystems, and the blink rate.

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
        command: (value) => ({ weigh: [subsystem, value] }),
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
    command: (value) => ({ blink: value }),
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
          button('Reset weights', reset, {
            title: 'Gestures, expression and gaze 1, all others 0',
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
