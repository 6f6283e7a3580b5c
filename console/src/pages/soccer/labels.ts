// Labels for game state.

import type { Side } from '../../api'

const MODES: Record<string, string> = {
  beforekickoff: 'Before kick-off',
  kickoff: 'Kick-off',
  playon: 'Play on',
  kickin: 'Kick-in',
  cornerkick: 'Corner kick',
  goalkick: 'Goal kick',
  offside: 'Offside',
  gameover: 'Game over',
  goal: 'Goal',
  freekick: 'Free kick',
  directfreekick: 'Direct free kick',
  penaltykick: 'Penalty kick',
  penaltyshoot: 'Penalty shoot',
}

/** Splits the name of a play mode: `corner_kick_left` is a `corner_kick` for the left side. */
function split(mode: string): { kind: string; side: Side | null } {
  const end = /_(left|right)$/i.exec(mode)
  if (!end) return { kind: mode, side: null }
  return { kind: mode.slice(0, end.index), side: end[1]?.toLowerCase() === 'left' ? 'left' : 'right' }
}

/** The side in the name of a player's agent, such as `Left 3`. */
export function sideOf(agent: string): Side | null {
  const side = /^(left|right) \d+$/i.exec(agent)?.[1]?.toLowerCase()
  return side === 'left' || side === 'right' ? side : null
}

/** Name of a team, or its side if it has no name yet. */
export function teamName(teams: readonly [string | null, string | null], side: Side): string {
  const name = side === 'left' ? teams[0] : teams[1]
  return name ?? (side === 'left' ? 'Left team' : 'Right team')
}

/** Label of a play mode: `Kick-off for Reds`. Unknown modes keep their names. */
export function modeLabel(mode: string, teams: readonly [string | null, string | null]): string {
  const { kind, side } = split(mode)
  const words = MODES[kind.replaceAll('_', '').toLowerCase()] ?? kind.replaceAll('_', ' ')
  return side ? `${words} for ${teamName(teams, side)}` : words
}

/** Capitalises a text of the server: `The game is on`. */
export function sentence(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** Formats seconds as `mm:ss`, optionally with tenths. */
export function clock(seconds: number, tenths = false): string {
  const whole = Math.max(0, Math.floor(seconds * 10 + 1e-6))
  const minutes = String(Math.floor(whole / 600)).padStart(2, '0')
  const rest = String(Math.floor((whole % 600) / 10)).padStart(2, '0')
  return tenths ? `${minutes}:${rest}.${whole % 10}` : `${minutes}:${rest}`
}

/** `1st half`. */
export function halfLabel(half: number): string {
  if (half <= 0) return 'not started'
  return ['1st half', '2nd half'][half - 1] ?? `part ${half}`
}

/** Human-readable file size. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  for (const [unit, size] of [
    ['kB', 1e3],
    ['MB', 1e6],
    ['GB', 1e9],
  ] as const) {
    if (bytes < size * 999.5 || unit === 'GB') return `${(bytes / size).toFixed(bytes < size * 99.5 ? 1 : 0)} ${unit}`
  }
  return ''
}
