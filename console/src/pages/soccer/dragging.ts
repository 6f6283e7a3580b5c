// Operators drag ball and players over the field of the live game.

import type { Game, Player } from '../../api'
import type { Connection } from '../../connection'
import type { View } from '../../view/view'
import { BALL_ON_GROUND, heading } from './trainer'

export interface Dragging {
  show(game: Game): void
  /** Dragging is disabled during playback. */
  allow(live: boolean): void
}

export function dragging(connection: Connection, view: View): Dragging {
  let ball: number | null = null
  let players: Player[] = []
  let live = true
  let known = ''

  function dropped(body: number, x: number, y: number): void {
    if (body === ball) connection.send({ do: 'place-ball', position: [x, y, BALL_ON_GROUND] })
    const player = players.find((one) => one.body === body)
    if (!player) return
    const { side, number } = player
    connection.send({ do: 'place-player', side, number, position: [x, y], heading: heading(side) })
  }

  function tellView(): void {
    const may = live && connection.role === 'operator'
    const bodies = [ball, ...players.map(({ body }) => body)].filter((body) => body !== null)
    view.draggable(may ? bodies : [], dropped)
  }

  return {
    show(game) {
      const now = JSON.stringify([game.ball, game.players])
      if (now === known) return
      known = now
      ball = game.ball
      players = game.players
      tellView()
    },
    allow(is) {
      live = is
      tellView()
    },
  }
}
