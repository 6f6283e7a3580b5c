// Drawing of the robot: face and body from the front, with a handle for each part. Its left is on the right of the
// drawing. Face and arms follow the servos.

import { h } from '../../ui'
import { clamp, sentenceCase } from './acts'

const width = 500
const height = 400
/** Horizontal centre of the body. */
const middle = 366
/** Minimum vertical distance of two handles: 44 px on a phone. */
const handleGap = 66

interface Spot {
  x: number
  y: number
}

/** Position of a servo, by the prefix of its name; `left` and `right` are the robot's. */
const spots: [name: string, spot: Spot][] = [
  ['brows', { x: 140, y: 112 }],
  ['eyelids', { x: 140, y: 150 }],
  ['eye', { x: 140, y: 150 }],
  ['smile', { x: 140, y: 222 }],
  ['jaw', { x: 140, y: 240 }],
  ['neck', { x: 140, y: 322 }],
  ['head', { x: 140, y: 322 }],
  ['waist', { x: middle, y: 198 }],
  ['torso', { x: middle, y: 150 }],
  ['shoulder', { x: 44, y: 130 }],
  ['elbow', { x: 56, y: 170 }],
  ['wrist', { x: 60, y: 226 }],
  ['grasp', { x: 60, y: 240 }],
  ['hip', { x: 16, y: 250 }],
  ['knee', { x: 16, y: 300 }],
  ['ankle', { x: 16, y: 356 }],
]

/** Position of a servo; x of arms and legs is relative to the centre of the body. */
function spotOf(servo: string): Spot | null {
  const found = spots.find(([name]) => servo.startsWith(name))?.[1]
  if (!found || found.x > 100) return found ?? null
  if (servo.endsWith('left')) return { x: middle + found.x, y: found.y }
  return servo.endsWith('right') ? { x: middle - found.x, y: found.y } : { x: middle, y: found.y }
}

export interface BodyPart {
  name: string
  servos: { id: number; name: string }[]
}

export interface Drawing {
  element: HTMLElement
  choose(part: string): void
  show(positions: number[]): void
}

export function drawing(parts: BodyPart[], chosen: (part: string) => void): Drawing {
  const figure = new Figure(parts)
  const handles = new Map<string, HTMLButtonElement>()
  const make = (part: BodyPart) => {
    const handle = h(
      'button',
      {
        type: 'button',
        class: 'pp-handle',
        'aria-pressed': 'false',
        onclick: () => chosen(part.name),
        'data-test': `part-${part.name.replaceAll(' ', '-')}`,
      },
      sentenceCase(part.name),
    )
    handles.set(part.name, handle)
    return handle
  }
  const placed = place(parts)
  const over = h('div', { class: 'pp-drawing' }, figure.svg)
  for (const { part, at, spot } of placed) {
    const handle = make(part)
    handle.style.left = `${(100 * at.x) / width}%`
    handle.style.top = `${(100 * at.y) / height}%`
    over.append(handle)
    figure.lead(at, spot)
  }
  // other robots may have parts that the drawing lacks
  const others = parts.filter((part) => !placed.some((other) => other.part === part)).map(make)
  return {
    element: h('div', null, over, others.length > 0 && h('div', { class: 'row' }, ...others)),
    choose(part) {
      for (const [name, handle] of handles) handle.setAttribute('aria-pressed', String(name === part))
      figure.mark(part)
    },
    show: (positions) => figure.move(positions),
  }
}

/** Arranges handles in columns beside their parts, without overlap. */
function place(parts: BodyPart[]): { part: BodyPart; at: Spot; spot: Spot }[] {
  const columns = new Map<number, { part: BodyPart; at: Spot; spot: Spot }[]>()
  for (const part of parts) {
    const found = part.servos.flatMap((servo) => spotOf(servo.name) ?? [])
    if (found.length === 0) continue
    const spot = {
      x: found.reduce((sum, { x }) => sum + x, 0) / found.length,
      y: found.reduce((sum, { y }) => sum + y, 0) / found.length,
    }
    const x = spot.x < 245 ? 40 : spot.x < middle - 10 ? middle - 90 : spot.x > middle + 10 ? middle + 88 : middle
    const column = columns.get(x) ?? []
    columns.set(x, column)
    column.push({ part, at: { x, y: spot.y }, spot })
  }
  for (const column of columns.values()) {
    column.sort((one, other) => one.at.y - other.at.y)
    let free = 0
    for (const handle of column) {
      handle.at.y = Math.max(handle.at.y, free)
      free = handle.at.y + handleGap
    }
    // move up those that would be below the drawing
    let most = height - 24
    for (const handle of column.toReversed()) {
      handle.at.y = Math.min(handle.at.y, most)
      most = handle.at.y - handleGap
    }
  }
  return [...columns.values()].flat()
}

type Attributes = Record<string, string | number>
type Shape = [tag: string, attributes: Attributes, servo?: string]

class Figure {
  readonly svg = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': 'The robot from the front',
  })
  readonly #leads = svg('g', { class: 'pp-leads' })
  readonly #head = svg('g', {})
  readonly #arms = both('g', {})
  readonly #brows = both('path', { class: 'pp-stroke' })
  readonly #whites = both('ellipse', { class: 'pp-white', cy: 150, rx: 16 })
  readonly #pupils = both('circle', { class: 'pp-pupil', r: 6 })
  readonly #mouth = svg('path', { class: 'pp-mouth' })
  /** Shapes and the parts they belong to. */
  readonly #shapes: { element: Element; part: string }[] = []
  readonly #ids: Map<string, number>

  readonly #parts: BodyPart[]

  constructor(parts: BodyPart[]) {
    this.#parts = parts
    this.#ids = new Map(parts.flatMap((part) => part.servos.map((servo) => [servo.name, servo.id])))
    this.#draw(this.svg, [
      ['rect', { x: 124, y: 262, width: 32, height: 70, rx: 8 }, 'neck_yaw'],
      ['path', { d: 'M70 372 Q74 326 124 322 L156 322 Q206 326 210 372 Z' }],
      ['rect', { x: middle - 10, y: 84, width: 20, height: 22, rx: 5 }, 'neck_yaw'],
      ['ellipse', { cx: middle, cy: 58, rx: 28, ry: 32 }],
      ['path', { d: `M${middle - 32} 102 h64 q6 58 -6 92 h-52 q-12 -34 -6 -92 Z` }],
      ['rect', { x: middle - 24, y: 190, width: 48, height: 18, rx: 8 }, 'waist'],
    ])
    for (const side of ['left', 'right'] as const) {
      const out = side === 'left' ? 1 : -1
      const limb = (x1: number, y1: number, x2: number, y2: number, thick: number): Attributes => ({
        x1: middle + out * x1,
        y1,
        x2: middle + out * x2,
        y2,
        class: 'pp-limb',
        'stroke-width': thick,
      })
      this.#draw(this.svg, [
        ['line', limb(14, 216, 16, 284, 24), `hip_pitch_${side}`],
        ['line', limb(16, 294, 16, 350, 20), `knee_pitch_${side}`],
        ['line', limb(16, 366, 24, 366, 20), `ankle_pitch_${side}`],
      ])
      this.#draw(this.#arms[side], [
        ['line', limb(44, 114, 52, 158, 18), `shoulder_pitch_${side}`],
        ['line', limb(53, 166, 58, 208, 15), `elbow_pitch_${side}`],
        ['circle', { cx: middle + out * 60, cy: 228, r: 11 }, `grasp_${side}`],
      ])
      this.svg.append(this.#arms[side])
    }
    this.#draw(this.#head, [['ellipse', { cx: 140, cy: 176, rx: 76, ry: 100 }]])
    for (const side of ['right', 'left'] as const) {
      const x = eyeOf(side)
      this.#whites[side].setAttribute('cx', String(x))
      this.#head.append(this.#whites[side], this.#pupils[side], this.#brows[side])
      this.#own(this.#whites[side], `eye_yaw_${side}`)
      this.#own(this.#brows[side], 'brows')
    }
    this.#head.append(this.#mouth)
    this.#own(this.#mouth, 'jaw')
    this.svg.append(this.#head, this.#leads)
    this.move([])
  }

  #draw(into: Element, shapes: Shape[]): void {
    for (const [tag, attributes, servo] of shapes) {
      const element = svg(tag, { class: 'pp-shape', ...attributes })
      into.append(element)
      if (servo) this.#own(element, servo)
    }
  }

  #own(element: Element, servo: string): void {
    const part = this.#parts.find((part) => part.servos.some((other) => other.name === servo))
    if (part) this.#shapes.push({ element, part: part.name })
  }

  lead(from: Spot, to: Spot): void {
    this.#leads.append(svg('line', { x1: from.x, y1: from.y, x2: to.x, y2: to.y }))
  }

  mark(part: string): void {
    for (const shape of this.#shapes) shape.element.classList.toggle('pp-chosen', shape.part === part)
  }

  move(positions: number[]): void {
    /** Deviation of a servo from its rest position, as a fraction of its range. */
    const off = (servo: string, rest: number) => (positions[this.#ids.get(servo) ?? -1] ?? rest) - rest
    const set = (element: Element, attributes: Attributes) => {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
    }
    const turn = off('neck_yaw', 0.5) * 40
    const nod = off('neck_pitch', 0.5) * -30
    const tip = off('neck_roll', 0.5) * 40
    set(this.#head, {
      transform: `translate(${turn.toFixed(1)} ${nod.toFixed(1)}) rotate(${tip.toFixed(1)} 140 260)`,
    })
    const open = clamp(16 * (1 + off('eyelids', 0.77) / 0.77), 1, 20)
    const lift = 118 - off('brows', 0.5) * 26
    const tilt = off('brows', 0.5) * 22
    for (const side of ['left', 'right'] as const) {
      const x = eyeOf(side)
      const out = side === 'left' ? 1 : -1
      set(this.#whites[side], { ry: open })
      set(this.#pupils[side], {
        cx: x + off(`eye_yaw_${side}`, 0.5) * 18,
        cy: 150 - off('eyes_pitch', 0.5) * 14,
        r: Math.min(6, open),
      })
      set(this.#brows[side], { d: `M${x - out * 18} ${lift - tilt} L${x + out * 18} ${lift}` })
      const raise = -out * off(`shoulder_roll_${side}`, 0.083) * 60
      set(this.#arms[side], { transform: `rotate(${raise.toFixed(1)} ${middle + out * 42} 110)` })
    }
    const right = 224 - off('smile_right', 0.5) * 26
    const left = 224 - off('smile_left', 0.5) * 26
    const gape = 6 + Math.max(0, off('jaw', 0.05)) * 34
    set(this.#mouth, { d: `M108 ${right} Q140 228 172 ${left} Q140 ${228 + 2 * gape} 108 ${right} Z` })
  }
}

/** Horizontal position of an eye. */
function eyeOf(side: 'left' | 'right'): number {
  return side === 'left' ? 170 : 110
}

/** One element per side. */
function both(tag: string, attributes: Attributes): { left: SVGElement; right: SVGElement } {
  return { left: svg(tag, attributes), right: svg(tag, attributes) }
}

function svg(tag: string, attributes: Attributes): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  if (!(element instanceof SVGElement)) throw new Error(`${tag} is no element of a drawing`)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  return element
}
