// Arithmetic of a film's time line.

import type { Scene } from '../../api'

export interface Mark {
  frame: number
  text: string
}

/** How the film looks at a frame: the latest scene that begins at it or before. */
export function sceneAt(scenes: readonly { from: number; scene: Scene }[], frame: number): Scene | null {
  let found: { from: number; scene: Scene } | null = null
  for (const one of scenes) {
    if (one.from <= frame && (!found || one.from >= found.from)) found = one
  }
  return found?.scene ?? null
}

/** Adds what is new to what is known, in order; a server may say a mark or a scene again. */
export function merged<T extends object>(
  known: readonly T[],
  more: readonly T[],
  key: (one: T) => string,
  at: (one: T) => number,
): T[] {
  const all = new Map<string, T>()
  for (const one of [...known, ...more]) all.set(key(one), one)
  return [...all.values()].sort((a, b) => at(a) - at(b))
}

/**
 * The playhead after so many seconds, in frames with a fraction. It stops at the end, and waits before a frame that has
 * not come yet.
 */
export function advanced(
  playhead: number,
  seconds: number,
  speed: number,
  rate: number,
  ready: number,
  has: (frame: number) => boolean,
): number {
  const target = Math.min(playhead + seconds * speed * rate, Math.max(0, ready - 1))
  let reached = playhead
  for (let frame = Math.floor(playhead) + 1; frame <= Math.floor(target); frame++) {
    if (!has(frame)) return reached
    reached = frame
  }
  return target
}

/** Whether a mark is a goal; a goal kick is none. */
export function isGoal(text: string): boolean {
  return /\bgoal(?![\s_-]*kick)/i.test(text)
}

/** The last mark at a frame or before. */
export function markBefore(marks: readonly Mark[], frame: number): Mark | null {
  let last: Mark | null = null
  for (const mark of marks) if (mark.frame <= frame) last = mark
  return last
}

/** A mark with its label: in which row, from where on and how wide, in px. */
export interface Label {
  mark: Mark
  row: number
  left: number
  width: number
}

const LABEL_ROWS = 2

/** Labels that fit below a line so wide without touching: those of goals first, then what is left from the start. */
export function labelled(
  marks: readonly Mark[],
  frames: number,
  width: number,
  widthOf: (text: string) => number,
): Label[] {
  const placed: Label[] = []
  const goals = marks.filter((mark) => isGoal(mark.text))
  const others = marks.filter((mark) => !isGoal(mark.text))
  for (const mark of [...goals, ...others]) {
    const wide = widthOf(mark.text)
    if (wide > width) continue
    const left = labelLeft(mark.frame, frames, width, wide)
    for (let row = 0; row < LABEL_ROWS; row++) {
      const touches = (other: Label) => left < other.left + other.width && other.left < left + wide
      if (placed.some((other) => other.row === row && touches(other))) continue
      placed.push({ mark, row, left, width: wide })
      break
    }
  }
  return placed
}

/** Where a label begins: centred on its mark, but not over the line's ends. */
function labelLeft(frame: number, frames: number, width: number, wide: number): number {
  const middle = (frame / Math.max(1, frames - 1)) * width
  return Math.max(0, Math.min(width - wide, middle - wide / 2))
}
