// The connected operators, and who is in control.

import type { Client, Puppet } from '../../api'
import { card, fill, h } from '../../ui'
import type { OperatorPanel, Widget } from './operator-panel'

/** Why this browser may not send commands now; null if it may. */
export function blockedReason(panel: OperatorPanel): string | null {
  if (panel.connection.role === 'viewer') return 'You are a viewer: only operators can control the robot.'
  const { puppet } = panel
  if (puppet?.one_at_a_time && puppet.in_control !== null && puppet.in_control !== panel.connection.hello?.you) {
    return `Client ${puppet.in_control} is in control. Only one operator at a time can control the robot.`
  }
  return null
}

/** Who is in control, in one line. */
export function controlLabel(panel: OperatorPanel, puppet: Puppet): string {
  if (!puppet.one_at_a_time) return 'All operators can control the robot.'
  if (puppet.in_control === null) return 'Nobody is in control. The first command takes control.'
  if (puppet.in_control === panel.connection.hello?.you) return 'You are in control.'
  return `Client ${puppet.in_control} is in control.`
}

export function people(panel: OperatorPanel): Widget {
  const words = h('p', { 'data-test': 'control' }, 'Waiting for the robot’s state.')
  const list = h('ul', { class: 'pp-list pp-people', 'data-test': 'people' })
  let clients: Client[] = []
  let drawn = ''

  function draw(): void {
    const you = panel.connection.hello?.you
    // who sent the last command is irrelevant where all operators may
    const control = panel.puppet?.one_at_a_time ? panel.puppet.in_control : null
    const there = clients.filter((client) => client.protocol === 'oz' || client.protocol === 'console')
    const now = JSON.stringify([there, control, you])
    if (now === drawn) return
    drawn = now
    if (there.length === 0) {
      fill(list, h('li', { class: 'pp-quiet' }, 'No clients connected.'))
      return
    }
    fill(
      list,
      ...there.map((client) =>
        h(
          'li',
          null,
          h(
            'span',
            { class: 'pp-who' },
            h('strong', null, client.protocol === 'oz' ? 'Oz client' : `Console, ${client.role ?? 'viewer'}`),
            h('span', { class: 'pp-quiet' }, ` ${client.id}${client.peer === '' ? '' : `, ${client.peer}`}`),
          ),
          client.id === you ? h('span', { class: 'badge' }, 'You') : null,
          client.id === control ? h('span', { class: 'badge good' }, 'In control') : null,
        ),
      ),
    )
  }

  const unsubscribe = panel.connection.on('state', (state) => {
    clients = state.clients
    draw()
  })
  draw()
  return {
    element: card('Operators', words, list),
    show(puppet) {
      const count = puppet.operators === 1 ? 'One operator connected.' : `${puppet.operators} operators connected.`
      const said = `${count} ${controlLabel(panel, puppet)}`
      if (words.textContent !== said) words.textContent = said
      draw()
    },
    close: unsubscribe,
  }
}
