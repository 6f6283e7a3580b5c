// Layout of a network's drawing, in pixels.

import type { Net } from '../../api'

export type Layer = 'input' | 'hidden' | 'output'

export interface Neuron {
  number: number
  layer: Layer
  name: string
  x: number
  y: number
}
export interface Connection {
  from: number
  to: number
  weight: number
  /** SVG path. */
  path: string
  /** Line width. */
  width: number
}
export interface Layout {
  width: number
  height: number
  neurons: Neuron[]
  /** Weakest first, so that strong ones are drawn on top. */
  connections: Connection[]
  /** Largest absolute weight. */
  strongest: number
}

export const RADIUS = 8
const ROW = 26
const WIDEST_ROW = 60
const EDGE = 18
const CHARACTER = 6.4
const LONGEST_NAME = 24
/** Hidden neurons fill several columns, about as high as the others. */
const COLUMN = 130
const MOST_ROWS = 14
const THINNEST = 0.6
const THICKEST = 5

/** Truncates a name; the tooltip shows all of it. */
export function shortName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

export function layOut(net: Net): Layout {
  const rows = Math.max(net.inputs.length, net.outputs.length, 1)
  const perColumn = Math.max(Math.min(rows, MOST_ROWS), 4)
  const columns = Math.ceil(net.hidden / perColumn)
  const hiddenRows = columns > 0 ? Math.ceil(net.hidden / columns) : 0
  const height = Math.max(rows, hiddenRows) * ROW + 2 * EDGE
  const left = EDGE + nameWidth(net.inputs)
  const middle = Math.max(2, columns + 1) * COLUMN
  const right = left + middle

  const neurons: Neuron[] = []
  const column = (layer: Layer, names: string[], x: number) => {
    // few neurons get more space, so that their lines are distinguishable
    const apart = Math.max(ROW, Math.min(WIDEST_ROW, (height - 2 * EDGE) / Math.max(1, names.length)))
    names.forEach((name, row) => {
      neurons.push({ number: neurons.length, layer, name, x, y: height / 2 + (row - (names.length - 1) / 2) * apart })
    })
  }
  column('input', net.inputs, left)
  const hidden = Array.from({ length: net.hidden }, (_, at) => `hidden ${at + 1}`)
  for (let at = 0; at < columns; at++) {
    column('hidden', hidden.slice(at * hiddenRows, (at + 1) * hiddenRows), left + (at + 1) * COLUMN)
  }
  column('output', net.outputs, right)

  const strongest = net.weights.reduce((most, { weight }) => Math.max(most, Math.abs(weight)), 0)
  const connections: Connection[] = []
  for (const { from, to, weight } of net.weights) {
    const [a, b] = [neurons[from], neurons[to]]
    if (!a || !b) continue
    const share = strongest > 0 ? Math.abs(weight) / strongest : 0
    connections.push({ from, to, weight, path: pathBetween(a, b), width: THINNEST + (THICKEST - THINNEST) * share })
  }
  connections.sort((a, b) => a.width - b.width)
  return { width: right + nameWidth(net.outputs) + EDGE, height, neurons, connections, strongest }
}

function nameWidth(names: string[]): number {
  const longest = names.reduce((most, name) => Math.max(most, shortName(name).length), 0)
  return longest * CHARACTER + RADIUS + 6
}

/** Forward: a curve. To itself: a loop above. Backward or within a layer: an arc on the right. */
function pathBetween(a: Neuron, b: Neuron): string {
  const at = (value: number) => value.toFixed(1)
  if (a === b) {
    const top = a.y - RADIUS
    const bend = `${at(a.x - 16)} ${at(top - 18)} ${at(a.x + 16)} ${at(top - 18)}`
    return `M ${at(a.x - 4)} ${at(top + 1)} C ${bend} ${at(a.x + 4)} ${at(top + 1)}`
  }
  if (b.x > a.x) {
    const bend = (b.x - a.x) / 3
    return `M ${at(a.x)} ${at(a.y)} C ${at(a.x + bend)} ${at(a.y)} ${at(b.x - bend)} ${at(b.y)} ${at(b.x)} ${at(b.y)}`
  }
  const out = 24 + Math.min(40, Math.abs(b.y - a.y) / 4)
  return `M ${at(a.x)} ${at(a.y)} C ${at(a.x + out)} ${at(a.y)} ${at(b.x + out)} ${at(b.y)} ${at(b.x)} ${at(b.y)}`
}
