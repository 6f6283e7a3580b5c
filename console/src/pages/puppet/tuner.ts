// A slider for something of the robot: it follows the robot, but not while the operator moves it.

import type { PuppetCommand } from '../../api'
import { type SliderOptions, slider } from '../../ui'
import type { OperatorPanel } from './operator-panel'

/** How long the robot's own value is not shown after the operator's, ms: what is heard then may be older. */
const hold = 800

export interface Tuner {
  element: HTMLElement
  show(value: number): void
}

/** Its label, `Volume`, is also in the log, and names the order. */
export interface Tuned extends Omit<SliderOptions, 'oninput'> {
  test?: string
  order(value: number): PuppetCommand
  /** When the operator moves it, before the order goes out. */
  before?(): void
}

export function tuner(panel: OperatorPanel, tuned: Tuned): Tuner {
  let moved = -Infinity
  const made = slider({
    ...tuned,
    oninput: (value) => {
      moved = performance.now()
      tuned.before?.()
      panel.turn(tuned.label, tuned.order(value), `${tuned.label}: ${value}`)
    },
  })
  if (tuned.test) made.element.dataset.test = tuned.test
  return {
    element: made.element,
    show: (value) => {
      if (performance.now() - moved > hold) made.set(value)
    },
  }
}
