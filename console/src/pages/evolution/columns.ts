// Columns of a plot.

export interface Curve {
  x: readonly number[]
  y: readonly number[]
}

/** Puts curves over one axis, with null where a curve has no value. */
export function joined(curves: readonly Curve[]): { x: number[]; columns: (number | null)[][] } {
  const x = [...new Set(curves.flatMap((curve) => [...curve.x]))].sort((a, b) => a - b)
  const column = (curve: Curve) => {
    const values = new Map(curve.x.map((at, index) => [at, curve.y[index] ?? null]))
    return x.map((at) => values.get(at) ?? null)
  }
  return { x, columns: curves.map(column) }
}
