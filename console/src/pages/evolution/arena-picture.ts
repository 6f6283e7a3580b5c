// The arena from above, on a canvas: ground, obstacles, the robot, its beams and its path.

import type { Replay, ReplayRobot, TrialPath } from '../../api'
import { fit, formatLength, scaleBar } from './arena-fit'

const MARGIN = 10
/** Height of the scale bar's area, below the arena. */
const FOOT = 26
/** The arena has the same colours in the light and the dark theme. */
const INK = '#20252c'
const PAST = '#7a3c00'
const AHEAD = 'rgb(122 60 0 / 0.28)'
const BEAM = 'rgb(28 95 196 / 0.75)'
const ROBOT = '#f2a33a'
const BLOCKED = '#c21f1f'

/** Colours come from world files; invalid ones are drawn grey. */
function colourOf(colour: string): string {
  return /^#[0-9a-f]{3,8}$/i.test(colour) ? colour : '#9aa3ad'
}

interface Colours {
  robot: string
  past: string
  ahead: string
}

/** Several robots have the colours of their kinds. */
function coloursOf({ colour }: ReplayRobot, robots: number): Colours {
  if (robots < 2) return { robot: ROBOT, past: PAST, ahead: AHEAD }
  const own = colourOf(colour)
  return { robot: own, past: own, ahead: `color-mix(in srgb, ${own} 35%, transparent)` }
}

function outline(points: readonly (readonly [number, number])[]): Path2D {
  const path = new Path2D()
  // the first `lineTo` of an empty path moves there
  for (const [x, y] of points) path.lineTo(x, y)
  path.closePath()
  return path
}

export class ArenaPicture {
  #canvas: HTMLCanvasElement
  #replay: Replay | null = null
  #polygons: { path: Path2D; colour: string; kind: string }[] = []
  #robots: { robot: ReplayRobot; shape: Path2D }[] = []
  #trial = 0
  #step = 0
  #resized: ResizeObserver

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas
    this.#resized = new ResizeObserver(() => this.#draw())
    this.#resized.observe(canvas)
  }

  setReplay(replay: Replay | null): void {
    this.#replay = replay
    this.#polygons = (replay?.arena.polygons ?? []).map(({ points, colour, kind }) => ({
      path: outline(points),
      colour: colourOf(colour),
      kind,
    }))
    this.#robots = (replay?.robots ?? []).map((robot) => ({ robot, shape: outline(robot.shape) }))
    this.#trial = 0
  }

  /** Shows a step of a trial. */
  show(trial: number, step: number): void {
    this.#trial = trial
    this.#step = step
    this.#draw()
  }

  close(): void {
    this.#resized.disconnect()
  }

  #draw(): void {
    const canvas = this.#canvas
    const ctx = canvas.getContext('2d')
    const { clientWidth: width, clientHeight: height } = canvas
    if (!ctx || width === 0 || height === 0) return
    const dense = Math.min(2, devicePixelRatio)
    // setting a size clears the canvas, so only when it differs
    // where it faces=>// heading
    if (canvas.width !== Math.round(width * dense)) canvas.width = Math.round(width * dense)
    if (canvas.height !== Math.round(height * dense)) canvas.height = Math.round(height * dense)
    ctx.setTransform(dense, 0, 0, dense, 0, 0)
    ctx.clearRect(0, 0, width, height)
    const replay = this.#replay
    if (!replay) return

    const { scale, left, top } = fit(replay.arena.bounds, width, height - FOOT, MARGIN)
    ctx.save()
    ctx.transform(scale, 0, 0, -scale, left, top)
    const pixel = 1 / scale
    this.#drawGround(ctx, replay, pixel)
    const trials = this.#robots.flatMap(({ robot, shape }) => {
      const trial = robot.trials[this.#trial]
      return trial ? [{ trial, shape, colours: coloursOf(robot, this.#robots.length) }] : []
    })
    for (const { trial, colours } of trials) this.#drawPath(ctx, trial, colours, pixel)
    for (const { trial, shape, colours } of trials) {
      this.#drawRobot(ctx, trial, shape, colours, pixel)
      const end = trial.steps.at(-1)
      if (end && trial.died) cross(ctx, end[0], end[1], 8 * pixel)
    }
    ctx.restore()
    drawScale(ctx, scale, left + replay.arena.bounds[0] * scale, height)
  }

  #drawGround(ctx: CanvasRenderingContext2D, replay: Replay, pixel: number): void {
    const [x1, y1, x2, y2] = replay.arena.bounds
    ctx.fillStyle = '#eceae4'
    ctx.fillRect(x1, y1, x2 - x1, y2 - y1)
    ctx.lineJoin = 'round'
    for (const { path, colour, kind } of this.#polygons) {
      ctx.fillStyle = colour
      ctx.fill(path)
      if (kind === 'ground') continue
      ctx.strokeStyle = kind === 'deadly' ? BLOCKED : INK
      ctx.lineWidth = (kind === 'deadly' ? 2.5 : 0.8) * pixel
      ctx.setLineDash(kind === 'deadly' ? [6 * pixel, 3 * pixel] : [])
      ctx.stroke(path)
    }
    ctx.setLineDash([])
    ctx.strokeStyle = INK
    ctx.lineWidth = 1.5 * pixel
    ctx.strokeRect(x1, y1, x2 - x1, y2 - y1)
  }

  #drawPath(ctx: CanvasRenderingContext2D, { steps }: TrialPath, colours: Colours, pixel: number): void {
    const line = (from: number, to: number, colour: string, width: number) => {
      ctx.beginPath()
      for (let at = from; at <= to; at++) {
        const step = steps[at]
        if (step) ctx.lineTo(step[0], step[1])
      }
      ctx.strokeStyle = colour
      ctx.lineWidth = width * pixel
      ctx.stroke()
    }
    line(this.#step, steps.length - 1, colours.ahead, 1.5)
    line(0, this.#step, colours.past, 2)
    ctx.fillStyle = BLOCKED
    for (const [x, y, , blocked] of steps.slice(0, this.#step + 1)) if (blocked) disc(ctx, x, y, 2.4 * pixel)
    const start = steps[0]
    if (start) {
      ctx.beginPath()
      ctx.arc(start[0], start[1], 5 * pixel, 0, 2 * Math.PI)
      ctx.fillStyle = '#fff'
      ctx.fill()
      ctx.strokeStyle = colours.past
      ctx.lineWidth = 2.5 * pixel
      ctx.stroke()
    }
  }

  #drawRobot(
    ctx: CanvasRenderingContext2D,
    { steps, beams }: TrialPath,
    shape: Path2D,
    colours: Colours,
    pixel: number,
  ): void {
    const at = steps[Math.min(this.#step, steps.length - 1)]
    if (!at) return
    ctx.strokeStyle = BEAM
    ctx.lineWidth = 1.4 * pixel
    ctx.beginPath()
    for (const [x1, y1, x2, y2] of beams[this.#step] ?? []) {
      ctx.moveTo(x1, y1)
      ctx.lineTo(x2, y2)
    }
    ctx.stroke()
    const [x, y, direction, blocked] = at
    ctx.save()
    ctx.translate(x, y)
    ctx.rotate(direction)
    ctx.fillStyle = colours.robot
    ctx.globalAlpha = 0.9
    ctx.fill(shape)
    ctx.globalAlpha = 1
    ctx.strokeStyle = blocked ? BLOCKED : INK
    ctx.lineWidth = (blocked ? 3 : 1.5) * pixel
    ctx.stroke(shape)
    ctx.restore()
    // where it faces
    ctx.strokeStyle = INK
    ctx.lineWidth = 2 * pixel
    ctx.beginPath()
    ctx.moveTo(x, y)
    ctx.lineTo(x + Math.cos(direction) * 12 * pixel, y + Math.sin(direction) * 12 * pixel)
    ctx.stroke()
  }
}

function disc(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  ctx.beginPath()
  ctx.arc(x, y, radius, 0, 2 * Math.PI)
  ctx.fill()
}

/** Marks where the robot died. */
function cross(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.beginPath()
  ctx.moveTo(x - size, y - size)
  ctx.lineTo(x + size, y + size)
  ctx.moveTo(x - size, y + size)
  ctx.lineTo(x + size, y - size)
  // a white rim makes it visible on any colour
  for (const [colour, width] of [
    ['#fff', 0.75],
    [BLOCKED, 0.4],
  ] as const) {
    ctx.strokeStyle = colour
    ctx.lineWidth = size * width
    ctx.stroke()
  }
}

function drawScale(ctx: CanvasRenderingContext2D, scale: number, left: number, height: number): void {
  const metres = scaleBar(scale, 110)
  const end = left + metres * scale
  const line = height - FOOT / 2 - 2
  ctx.strokeStyle = ctx.fillStyle = INK
  ctx.lineWidth = 2
  ctx.beginPath()
  ctx.moveTo(left, line)
  ctx.lineTo(end, line)
  ctx.stroke()
  ctx.font = '12px system-ui, sans-serif'
  ctx.fillText(formatLength(metres), end + 8, line + 4)
}
