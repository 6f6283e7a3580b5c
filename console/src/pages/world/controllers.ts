// The controllers of a robot.

import type { Client } from '../../api'

/** Clients that control a robot; consoles that move a motor do not count. */
export function controllers(clients: Client[], agent: string): Client[] {
  return clients.filter((client) => client.protocol !== 'console' && client.agents.includes(agent))
}

export function describeControllers(controllers: Client[]): string {
  if (controllers.length === 0) return 'not controlled'
  return controllers.map(({ protocol, peer }) => (peer ? `${protocol} at ${peer}` : protocol)).join(', ')
}
