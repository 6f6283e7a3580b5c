// Scripts: each line is a cue. A line starting with ! runs the macro of that name, one starting with # is a note to the
// operator, anything else is spoken, including its tags.

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

/** The first cue at or after this line, skipping notes; the number of lines if there is none. */
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

/** Position in an edited script: unchanged if the lines before are, else at the same line, else at the start. */
export function samePlace(before: Line[], after: Line[], place: number): number {
  const same = (one: Line | undefined, other: Line | undefined) => JSON.stringify(one) === JSON.stringify(other)
  if (before.slice(0, place).every((line, at) => same(line, after[at]))) return place
  return Math.max(
    0,
    after.findIndex((line) => same(line, before[place])),
  )
}
