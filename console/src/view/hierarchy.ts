// The tree of bodies, and which of them belong to an agent.

import type { Scene } from '../api'

type BodyTree = Pick<Scene, 'parents' | 'agents'>

/** The body itself or its nearest ancestor in `wanted`. */
export function findAncestor(parents: number[], body: number, wanted: ReadonlySet<number>): number | null {
  // parents precede their children, so this ends; the limit guards against a malformed scene
  for (let at = body, steps = 0; at > 0 && steps <= parents.length; at = parents[at] ?? 0, steps++) {
    if (wanted.has(at)) return at
  }
  return null
}

/** The first body of the agent that this body belongs to; the body itself if it belongs to none; null for the world. */
export function pickedBody(scene: BodyTree, body: number): number | null {
  if (body <= 0) return null
  return (
    findAncestor(scene.parents, body, new Set(scene.agents.map((agent) => agent.body).filter((b) => b > 0))) ?? body
  )
}

/** A body and all its descendants. */
export function descendants(parents: number[], body: number): number[] {
  const one = new Set([body])
  return parents.flatMap((_, at) => (findAncestor(parents, at, one) === null ? [] : [at]))
}
