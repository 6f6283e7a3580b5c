// The trainer's commands: kick-off, play mode, and positions of ball and players.

import type { Command, Game, Side, SoccerInfo } from '../../api'
import type { Connection } from '../../connection'
import { button, card, errorMessage, field, h, notice, select } from '../../ui'
import { modeLabel, teamName } from './labels'
import { type NumberField, numberField } from './numbers'
import { forOperators } from './operators'

/** Height of the centre of a ball on the ground. */
export const BALL_ON_GROUND = 0.11

/** Placed players face the opponent's half. */
export function heading(side: Side): number {
  return side === 'left' ? 0 : Math.PI
}

export interface Trainer {
  element: HTMLElement
  show(game: Game): void
}

export function trainer(connection: Connection, soccer: SoccerInfo): Trainer {
  const kickOffs = {
    left: button('Left', () => connection.request({ do: 'kick-off', side: 'left' }), { test: 'kick-off-left' }),
    right: button('Right', () => connection.request({ do: 'kick-off', side: 'right' }), { test: 'kick-off-right' }),
    lot: button('Random', () => connection.request({ do: 'kick-off', side: null }), {
      kind: 'primary',
      test: 'kick-off-lot',
    }),
  }
  const names = soccer.modes.map((mode) => ({ value: mode, label: modeLabel(mode, ['left', 'right']) }))
  const modes = select(names, soccer.modes[0] ?? '', () => (chosen = true))
  modes.dataset.test = 'mode-select'
  let chosen = false
  const setMode = button(
    'Set',
    async () => {
      await connection.request({ do: 'play-mode', mode: modes.value })
      chosen = false
    },
    { test: 'mode-set' },
  )

  const element = card(
    'Trainer',
    forOperators(
      connection,
      h(
        'div',
        { class: 'group', role: 'group', 'aria-label': 'Kick-off' },
        h('span', { class: 'group-label' }, 'Kick-off'),
        kickOffs.left,
        kickOffs.lot,
        kickOffs.right,
      ),
      h(
        'div',
        { class: 'group' },
        field('Play mode', modes),
        setMode,
        button('Drop ball', () => connection.request({ do: 'drop-ball' }), { test: 'drop-ball' }),
      ),
      ballForm(connection, soccer),
      playerForm(connection, soccer),
      h('p', { class: 'quiet' }, 'You can also drag ball and players in the view.'),
    ),
  )
  return {
    element,
    show(game) {
      kickOffs.left.title = `${teamName(game.teams, 'left')} kicks off`
      kickOffs.right.title = `${teamName(game.teams, 'right')} kicks off`
      // follow the game unless the user is choosing
      if (!chosen && document.activeElement !== modes && modes.value !== game.mode) modes.value = game.mode
    },
  }
}

/** Width of the ground around the field. */
const MARGIN = 10

/** Fields for a position on the ground. */
function positionFields({ field: [length, width] }: SoccerInfo, x: number, test: string): [NumberField, NumberField] {
  const coordinate = (axis: 'x' | 'y', value: number, size: number) => {
    const most = size / 2 + MARGIN
    return numberField(axis, { value, min: -most, max: most, step: 0.01, unit: 'm', test: `${test}-${axis}` })
  }
  return [coordinate('x', x, length), coordinate('y', 0, width)]
}

function ballForm(connection: Connection, soccer: SoccerInfo): HTMLElement {
  const [x, y] = positionFields(soccer, 0, 'ball')
  const z = numberField('z', { value: BALL_ON_GROUND, min: 0, max: 10, step: 0.01, unit: 'm', test: 'ball-z' })
  return commandForm(connection, 'Ball', 'Place the ball', 'ball-place', [x.element, y.element, z.element], () => {
    const position = [x.read(), y.read(), z.read()] as const
    const [px, py, pz] = position
    return px === null || py === null || pz === null ? null : { do: 'place-ball', position: [px, py, pz] }
  })
}

function playerForm(connection: Connection, soccer: SoccerInfo): HTMLElement {
  const number = numberField('Number', { value: 1, min: 1, max: 99, step: 1, test: 'player-number' })
  const [x, y] = positionFields(soccer, -2, 'player')
  const faces = numberField('Heading', { value: 0, min: -360, max: 360, step: 1, unit: '°', test: 'player-heading' })
  const side = select(
    [
      { value: 'left', label: 'Left' },
      { value: 'right', label: 'Right' },
    ],
    'left',
    (value) => {
      faces.input.value = value === 'left' ? '0' : '180'
    },
  )
  side.dataset.test = 'player-side'
  number.input.title = `Shirt number; ${soccer.players_per_team} players per team`
  const fields = [field('Side', side), number.element, faces.element, x.element, y.element]
  return commandForm(connection, 'Player', 'Place the player', 'player-place', fields, () => {
    const [n, px, py, degrees] = [number.read(), x.read(), y.read(), faces.read()]
    if (n === null || px === null || py === null || degrees === null) return null
    return {
      do: 'place-player',
      side: side.value === 'right' ? 'right' : 'left',
      number: n,
      position: [px, py],
      heading: (degrees * Math.PI) / 180,
    }
  })
}

/** A form that sends a command. */
function commandForm(
  connection: Connection,
  legend: string,
  label: string,
  test: string,
  fields: HTMLElement[],
  read: () => Command | null,
): HTMLElement {
  return h(
    'form',
    {
      class: 'place',
      'aria-label': label,
      onsubmit: async (event: SubmitEvent) => {
        event.preventDefault()
        const command = read()
        if (!command) return
        try {
          await connection.request(command)
        } catch (error) {
          notice(errorMessage(error), 'error')
        }
      },
    },
    h('span', { class: 'group-label' }, legend),
    ...fields,
    h('button', { class: 'plain', type: 'submit', 'data-test': test }, label),
  )
}
