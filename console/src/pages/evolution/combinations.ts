// Which bodies, fitness functions and worlds make sense together. The server says which do not, and why.

import type { EvolutionInfo } from '../../api'

type Menus = Pick<EvolutionInfo, 'worlds' | 'fitnesses' | 'bodies' | 'objections'>

/** Why a robot cannot learn with this fitness function in this world; null if nothing is known to be against it. */
export function objection({ objections }: Menus, body: string, fitness: string, world: string): string | null {
  const found = objections.find(
    (one) => one.body === body && one.fitness === fitness && (one.world === null || one.world === world),
  )
  return found?.reason ?? null
}

/** Why a fitness function makes no sense for a body in any world; null if there is a world for them. */
export function fitnessObjection(menus: Menus, body: string, fitness: string): string | null {
  const reasons = menus.worlds.map(({ name }) => objection(menus, body, fitness, name))
  return reasons.includes(null) ? null : (reasons[0] ?? null)
}

/** Names that are not offered, each with its reason; names with the same reason are listed together. */
export function reasonsOf(objections: readonly { name: string; reason: string | null }[]): string {
  const names = new Map<string, string[]>()
  for (const { name, reason } of objections) {
    if (reason !== null) names.set(reason, [...(names.get(reason) ?? []), name])
  }
  const parts = [...names].map(([reason, of]) => `${of.join(', ')} (${reason})`)
  return parts.length === 0 ? '' : `Not offered: ${parts.join('; ')}.`
}

/** The body's own fitness function if there is a world for it, or else the first that makes sense. */
export function fitnessFor(menus: Menus, body: string): string {
  const own = menus.bodies.find(({ name }) => name === body)?.fitness
  const makesSense = (name: string) => fitnessObjection(menus, body, name) === null
  if (own !== undefined && makesSense(own)) return own
  return menus.fitnesses.find(({ name }) => makesSense(name))?.name ?? ''
}

/** The preferred world if it makes sense, or else the first that does. */
export function worldFor(menus: Menus, body: string, fitness: string, preferred: string): string {
  const makesSense = (name: string) => objection(menus, body, fitness, name) === null
  if (makesSense(preferred)) return preferred
  return menus.worlds.find(({ name }) => makesSense(name))?.name ?? preferred
}
