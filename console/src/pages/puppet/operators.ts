// Who else is at the robot, and who may move it.

import type { Client, Puppet } from '../../api'
import { card, fill, h } from '../../ui'
import type { OperatorPanel, Widget } from './operator-panel'

/** Why this browser may not give orders now; null if it may. */
export function blockedReason(panel: OperatorPanel): string | null {
  if (panel.connection.role === 'viewer') return 'You are a viewer: only operators give orders.'
  const { puppet } = panel
  if (puppet?.one_at_a_time && puppet.in_control !== null && puppet.in_control !== panel.connection.hello?.you) {
    return `Client ${puppet.in_control} is in control. Only one operator at a time may move the robot.`
  }
  return null
}

/** One line: whose the robot is. */
export function controlLabel(panel: OperatorPanel, puppet: Puppet): string {
  if (!puppet.one_at_a_time) return 'All operators may give orders.'
  if (puppet.in_control === null) return 'Nobody is in control: the first who gives an order is.'
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
    // whoever ordered last is of no matter where all may give orders
    const control = panel.puppet?.one_at_a_time ? panel.puppet.in_control : null
    const there = clients.filter((client) => client.protocol === 'oz' || client.protocol === 'console')
    const now = JSON.stringify([there, control, you])
    if (now === drawn) return
    drawn = now
    if (there.length === 0) {
      fill(list, h('li', { class: 'pp-quiet' }, 'Nobody is connected.'))
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
    element: card('Who is here', words, list),
    show(puppet) {
      const count = puppet.operators === 1 ? 'One operator is here.' : `${puppet.operators} operators are here.`
      const said = `${count} ${controlLabel(panel, puppet)}`
      if (words.textContent !== said) words.textContent = said
      draw()
    },
    close: unsubscribe,
  }
}
