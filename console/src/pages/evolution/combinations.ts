// Which bodies, fitness functions and worlds suit each other. The server lists those that do not, with reasons.

import type { EvolutionInfo } from '../../api'

type Menus = Pick<EvolutionInfo, 'worlds' | 'fitnesses' | 'bodies' | 'objections'>

/** A population: a body with a fitness function. */
export interface Population {
  body: string
  fitness: string
}

/**
 * Why a robot cannot learn with this fitness function in this world; null if nothing is known to be against it. `side` is 0 or
 * 1 for the first and the second of two populations that evolve against each other, or null for a single one.
 */
export function objection(
  menus: Menus,
  { body, fitness }: Population,
  world: string,
  side: number | null,
): string | null {
  const kind = side === null ? null : (kindsOf(menus, world)[side] ?? null)
  if (side !== null && kind === null) return 'there are no two kinds of robots that meet'
  const found = menus.objections.find(
    (one) =>
      one.body === body &&
      one.fitness === fitness &&
      (one.world === null || (one.world === world && one.kind === kind)),
  )
  return found?.reason ?? null
}

/** The two kinds of robots that can evolve against each other in a world; empty if there are none. */
export function kindsOf({ worlds }: Pick<Menus, 'worlds'>, world: string): string[] {
  return worlds.find(({ name }) => name === world)?.kinds ?? []
}

/** Why a fitness function is unsuitable for a body in any world; null if there is a world for them. */
export function fitnessObjection(menus: Menus, population: Population, side: number | null): string | null {
  // the reason that says most is one of a world that could be chosen
  const worlds = menus.worlds.filter(({ kinds }) => side === null || kinds.length > 0)
  const reasons = worlds.map(({ name }) => objection(menus, population, name, side))
  return reasons.includes(null) ? null : (reasons[0] ?? null)
}

/** Why a world is unsuitable for these populations; null if it is not. */
export function worldObjection(menus: Menus, populations: readonly Population[], world: string): string | null {
  const side = (at: number) => (populations.length > 1 ? at : null)
  const reasons = populations.map((population, at) => objection(menus, population, world, side(at)))
  return reasons.find((reason) => reason !== null) ?? null
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
export function fitnessFor(menus: Menus, body: string, side: number | null): string {
  const own = menus.bodies.find(({ name }) => name === body)?.fitness
  const makesSense = (fitness: string) => fitnessObjection(menus, { body, fitness }, side) === null
  if (own !== undefined && makesSense(own)) return own
  return menus.fitnesses.find(({ name }) => makesSense(name))?.name ?? ''
}

/** The preferred world if it makes sense, or else the first that does. */
export function worldFor(menus: Menus, populations: readonly Population[], preferred: string): string {
  const makesSense = (name: string) => worldObjection(menus, populations, name) === null
  if (makesSense(preferred)) return preferred
  return menus.worlds.find(({ name }) => makesSense(name))?.name ?? preferred
}
