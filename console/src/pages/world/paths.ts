// Paths of variables, such as /Sim/Rover1/Motor/Angle.

/** Removes trailing slashes; the root becomes empty. */
export function trimmed(path: string): string {
  return path.replace(/\/+$/, '')
}

/** Full path of a folder, given by its name or by its full path. */
export function inside(path: string, name: string): string {
  const parent = trimmed(path)
  const child = trimmed(name)
  return child.startsWith(`${parent}/`) ? child : `${parent}/${child}`
}

/** Last component of a path. */
export function leaf(path: string): string {
  const whole = trimmed(path)
  return whole.slice(whole.lastIndexOf('/') + 1)
}
