// Calculations for the playback timeline.

import type { PlaybackScene, Scene, TimelineMark } from '../../api'

/** The scene at a frame: the latest one that starts at or before it. */
export function sceneAt(scenes: readonly PlaybackScene[], frame: number): Scene | null {
  let found: PlaybackScene | null = null
  for (const one of scenes) {
    if (one.from <= frame && (!found || one.from >= found.from)) found = one
  }
  return found?.scene ?? null
}

/** Merges new items into known ones, in order; the server may repeat items. */
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
 * Advances the playhead, in frames with a fraction. It stops at the end, and before a frame that has not arrived yet.
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

/** Whether a mark is a goal, not a goal kick. */
export function isGoal(text: string): boolean {
  return /\bgoal(?![\s_-]*kick)/i.test(text)
}

/** The last mark at or before a frame. */
export function markBefore(marks: readonly TimelineMark[], frame: number): TimelineMark | null {
  let last: TimelineMark | null = null
  for (const mark of marks) if (mark.frame <= frame) last = mark
  return last
}

/** A placed label of a mark; `left` and `width` are in px. */
export interface Label {
  mark: TimelineMark
  row: number
  left: number
  width: number
}

const LABEL_ROWS = 2

/** Places labels below the timeline without overlap: goals first, then the others from the start. */
export function labelled(
  marks: readonly TimelineMark[],
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

/** Left edge of a label: centred on its mark, within the timeline. */
function labelLeft(frame: number, frames: number, width: number, wide: number): number {
  const middle = (frame / Math.max(1, frames - 1)) * width
  return Math.max(0, Math.min(width - wide, middle - wide / 2))
}
