// Names of variables: paths such as /Sim/Rover1/Motor/Angle.

/** Without a slash at its end; the root is empty. */
export function trimmed(path: string): string {
  return path.replace(/\/+$/, '')
}

/** A folder's full path, whether the server names it by itself or by its whole path. */
export function inside(path: string, name: string): string {
  const parent = trimmed(path)
  const child = trimmed(name)
  return child.startsWith(`${parent}/`) ? child : `${parent}/${child}`
}

/** The last part of a path. */
export function leaf(path: string): string {
  const whole = trimmed(path)
  return whole.slice(whole.lastIndexOf('/') + 1)
}
