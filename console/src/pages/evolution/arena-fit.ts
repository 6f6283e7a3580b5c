// Maps the arena's metres to pixels.

export type Bounds = readonly [number, number, number, number]

export interface Fit {
  /** Pixels per metre. */
  scale: number
  /** Position of the arena's origin, in pixels. */
  left: number
  top: number
}

/** The largest scale that shows the whole arena, centred. Bounds are minimum x and y, then maximum x and y. */
export function fit([x1, y1, x2, y2]: Bounds, width: number, height: number, margin: number): Fit {
  const across = Math.max(1e-9, x2 - x1)
  const up = Math.max(1e-9, y2 - y1)
  const scale = Math.max(1e-9, Math.min((width - 2 * margin) / across, (height - 2 * margin) / up))
  // y points up in the arena and down in the picture
  return { scale, left: width / 2 - ((x1 + x2) / 2) * scale, top: height / 2 + ((y1 + y2) / 2) * scale }
}

/** A round length in m for a scale bar of at most `longest` pixels. */
export function scaleBar(scale: number, longest: number): number {
  const most = longest / scale
  const power = 10 ** Math.floor(Math.log10(most))
  for (const factor of [5, 2, 1]) if (factor * power <= most) return factor * power
  return power
}

/** `50 cm`. */
export function formatLength(metres: number): string {
  if (metres >= 1) return `${Number(metres.toPrecision(3))} m`
  if (metres >= 0.01) return `${Number((metres * 100).toPrecision(3))} cm`
  return `${Number((metres * 1000).toPrecision(3))} mm`
}
