// Who controls a robot.

import type { Client } from '../../api'

/** All that have it; a console that moves a motor does not count. */
export function controllers(clients: Client[], agent: string): Client[] {
  return clients.filter((client) => client.protocol !== 'console' && client.agents.includes(agent))
}

export function describeControllers(controllers: Client[]): string {
  if (controllers.length === 0) return 'nobody controls it'
  return controllers.map(({ protocol, peer }) => (peer ? `${protocol} at ${peer}` : protocol)).join(', ')
}
