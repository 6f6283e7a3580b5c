// A ring under each player, in the colour of its team: the robots look alike.

import type { View } from '../../view/view'
import type { Targets } from './cameras'

/** Colours of the scoreboard's light theme, also in the dark theme: the lawn is equally bright. */
const COLOURS = { left: 0x1c5fc4, right: 0xb3261e }

export function teamRings(view: View): { show(targets: Targets): void } {
  let shown = ''
  return {
    show({ players }) {
      const marks = players.flatMap(({ side, body }) => (side ? [{ body, colour: COLOURS[side] }] : []))
      const now = JSON.stringify(marks)
      if (now === shown) return
      shown = now
      view.mark(marks)
    },
  }
}
