// Columns of a plot.

/** Pads columns to the same length with null. */
export function padded(columns: readonly (readonly number[])[]): { x: number[]; columns: (number | null)[][] } {
  const length = columns.reduce((most, column) => Math.max(most, column.length), 0)
  const places = Array.from({ length }, (_, at) => at)
  return { x: places.map((at) => at + 1), columns: columns.map((column) => places.map((at) => column[at] ?? null)) }
}
