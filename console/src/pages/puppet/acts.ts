// Actions of the robot in a form that can be stored: macros are lists of these. Gestures, expressions and gaze modes are
// stored by name, since ids may change with the folder of gestures.

import type { PuppetCommand, PuppetInfo } from '../../api'

export type Act =
  | { do: 'say'; text: string }
  | { do: 'gesture'; name: string }
  | { do: 'expression'; name: string }
  | { do: 'look'; name: string }
  | { do: 'weigh'; subsystem: string; weight: number }
  | { do: 'wait'; seconds: number }

export interface Macro {
  name: string
  acts: Act[]
}

/** Longest wait in a macro, in s. */
export const longestWait = 600

/** The command for an action; null for a wait, and for names unknown to this robot. */
export function commandOf(act: Act, info: PuppetInfo): PuppetCommand | null {
  switch (act.do) {
    case 'say':
      return { speak: act.text }
    case 'gesture': {
      const gesture = info.gestures.find((gesture) => gesture.tag === act.name)
      return gesture ? { gesture: gesture.id } : null
    }
    case 'expression': {
      const expression = info.expressions.find((expression) => expression.name === act.name)
      return expression ? { expression: expression.id } : null
    }
    case 'look': {
      const look = info.look_ats.find((look) => look.name === act.name)
      return look ? { 'look-at': look.id } : null
    }
    case 'weigh':
      return info.subsystems.includes(act.subsystem) ? { weigh: [act.subsystem, act.weight] } : null
    case 'wait':
      return null
  }
}

/** Human-readable text: `Gesture: three short nods`. */
export function describeAct(act: Act, info: PuppetInfo): string {
  switch (act.do) {
    case 'say':
      return `Say: ${act.text}`
    case 'gesture':
      return `Gesture: ${info.gestures.find((gesture) => gesture.tag === act.name)?.name ?? act.name}`
    case 'expression':
      return `Expression: ${act.name}`
    case 'look':
      return `Look: ${act.name}`
    case 'weigh':
      return `Weight of ${titleOfSubsystem(act.subsystem).toLowerCase()}: ${act.weight}`
    case 'wait':
      return `Wait ${act.seconds} s`
  }
}

/** Subsystems with their human-readable names, and their weights after a reset. */
const subsystems: Record<string, { title: string; standard: number }> = {
  gesture: { title: 'Gestures', standard: 1 },
  expression: { title: 'Expression', standard: 1 },
  'look-at': { title: 'Gaze', standard: 1 },
  'random-head': { title: 'Idle head motion', standard: 0 },
  'random-eyes': { title: 'Idle eye motion', standard: 0 },
  'random-face': { title: 'Idle face motion', standard: 0 },
  direct: { title: 'Direct servos', standard: 0 },
}

export function titleOfSubsystem(subsystem: string): string {
  return subsystems[subsystem]?.title ?? sentenceCase(subsystem)
}

export function standardWeight(subsystem: string): number {
  return subsystems[subsystem]?.standard ?? 0
}

/** `eye_yaw_left` as `Eye yaw left`. */
export function sentenceCase(name: string): string {
  const words = name.replace(/[_-]/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Parses saved macros, skipping invalid entries: another version or tool may have written them. */
export function readMacros(value: unknown): Macro[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    if (!isRecord(item)) return []
    const { name, acts } = item
    if (typeof name !== 'string' || name.trim() === '' || !Array.isArray(acts)) return []
    return [{ name, acts: acts.flatMap((act: unknown) => readAct(act) ?? []) }]
  })
}

function readAct(act: unknown): Act | null {
  if (!isRecord(act)) return null
  const { name, text, subsystem, weight, seconds } = act
  switch (act.do) {
    case 'say':
      return typeof text === 'string' ? { do: 'say', text } : null
    case 'gesture':
    case 'expression':
    case 'look':
      return typeof name === 'string' ? { do: act.do, name } : null
    case 'weigh':
      if (typeof subsystem !== 'string' || !isNumber(weight)) return null
      return { do: 'weigh', subsystem, weight: clamp(weight, 0, 1) }
    case 'wait':
      return isNumber(seconds) ? { do: 'wait', seconds: clamp(seconds, 0, longestWait) } : null
    default:
      return null
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
