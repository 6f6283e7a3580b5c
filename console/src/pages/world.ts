// The World page: view, time controls, robots, events, variables and clients.

import { Frame, type Scene } from '../api'
import type { Opener } from '../page'
import { h } from '../ui'
import { View } from '../view/view'
import { Agents } from './world/agents'
import { clients } from './world/clients'
import { events } from './world/events'
import { panels } from './world/panels'
import { timeControls } from './world/time-controls'
import { Variables } from './world/variables'
import { Viewpoints } from './world/viewpoints'
import './world.css'

export const open: Opener = (connection) => {
  const holder = h('div', { class: 'world-view' })
  const standstill = h('div', { class: 'world-standstill banner bad', role: 'alert', 'data-test': 'standstill' })
  standstill.hidden = true
  const viewpoints = new Viewpoints()
  const controls = timeControls(connection, standstill)
  const agents = new Agents(connection)
  const happened = events(connection)
  const variables = new Variables(connection)
  const connected = clients(connection)
  const side = panels([
    { name: 'agents', title: 'Robots', content: agents.element },
    { name: 'events', title: 'Events', content: happened.element },
    { name: 'variables', title: 'Variables', content: variables.element, opened: () => variables.begin() },
    { name: 'clients', title: 'Clients', content: connected.element },
  ])

  const view = new View(holder)
  let scene: Scene | null = null
  viewpoints.onLook = (place) => {
    agents.choose(null)
    view.lookFrom(place)
  }
  viewpoints.onLetGo = () => agents.choose(null)
  agents.onChoose = (agent) => {
    view.follow(agent && agent.body > 0 ? agent.body : null)
    viewpoints.following(agent?.name ?? null)
  }
  view.onPick = (body) => {
    const agent = scene?.agents.find((agent) => body !== null && agent.body === body)
    if (!agent) return
    agents.choose(agent.name)
    side.open('agents')
  }

  const ends = [
    connection.on('scene', (message) => {
      scene = message
      view.setScene(message)
      agents.setScene(message)
      variables.again()
    }),
    connection.onFrame(Frame.poses, (frame) => view.pose(frame)),
  ]

  return {
    element: h(
      'div',
      { class: 'world' },
      controls.element,
      h('div', { class: 'world-stage' }, holder, standstill, viewpoints.element),
      side.element,
    ),
    topics: ['world', 'poses'],
    close() {
      for (const end of ends) end()
      for (const part of [controls, agents, happened, variables, connected, side, view]) part.close()
    },
  }
}
