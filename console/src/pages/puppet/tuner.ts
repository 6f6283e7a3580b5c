// A slider for a setting of the robot. It follows the robot, except while the operator moves it.

import type { PuppetCommand } from '../../api'
import { type SliderOptions, slider } from '../../ui'
import type { OperatorPanel } from './operator-panel'

/** How long the robot's value is ignored after the operator's, in ms: it may be outdated. */
const hold = 800

export interface Tuner {
  element: HTMLElement
  show(value: number): void
}

/** The label, such as `Volume`, also appears in the log and identifies the command. */
export interface Tuned extends Omit<SliderOptions, 'oninput'> {
  test?: string
  command(value: number): PuppetCommand
  /** Called when the operator moves it, before the command is sent. */
  before?(): void
}

export function tuner(panel: OperatorPanel, tuned: Tuned): Tuner {
  let moved = -Infinity
  const made = slider({
    ...tuned,
    oninput: (value) => {
      moved = performance.now()
      tuned.before?.()
      panel.sendLatest(tuned.label, tuned.command(value), `${tuned.label}: ${value}`)
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
