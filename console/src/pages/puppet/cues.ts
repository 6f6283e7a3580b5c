// A script: each line of it is a cue. A line that begins with ! runs the macro of that name, one with # is a note to
// the operator, anything else is said, with its tags.

export type Line = { kind: 'say'; text: string } | { kind: 'macro'; name: string } | { kind: 'note'; text: string }

export function readScript(text: string): Line[] {
  return text.split('\n').flatMap((raw): Line[] => {
    const line = raw.trim()
    if (line === '') return []
    if (line.startsWith('#')) return [{ kind: 'note', text: line.slice(1).trim() }]
    if (line.startsWith('!')) return [{ kind: 'macro', name: line.slice(1).trim() }]
    return [{ kind: 'say', text: line }]
  })
}

/** The first cue at this line or after it: notes are passed over. The number of lines if there is none. */
export function cueFrom(lines: Line[], place: number): number {
  let at = Math.max(0, place)
  while (lines[at]?.kind === 'note') at += 1
  return Math.min(at, lines.length)
}

/** The cue before this line; the first one if there is none. */
export function cueBefore(lines: Line[], place: number): number {
  let at = place - 1
  while (at >= 0 && lines[at]?.kind === 'note') at -= 1
  return at < 0 ? cueFrom(lines, 0) : at
}

/** Where to go on in a script that was changed: where it stood, or at the same line; another one begins anew. */
export function samePlace(before: Line[], after: Line[], place: number): number {
  const same = (one: Line | undefined, other: Line | undefined) => JSON.stringify(one) === JSON.stringify(other)
  if (before.slice(0, place).every((line, at) => same(line, after[at]))) return place
  return Math.max(
    0,
    after.findIndex((line) => same(line, before[place])),
  )
}
