// Addresses of Robot Simulators, as people write them.

/** One a line, or with commas or blanks between them. */
export function splitAddresses(text: string): string[] {
  return text.split(/[\s,;]+/).filter((address) => address !== '')
}

/** Why an address is none, or null: `host`, `host:port`, `1.2.3.4:7720` or `[::1]:7720`. */
export function addressFault(address: string): string | null {
  const parts = /^(\[[0-9a-f:.%]+\]|[^:[\]/\s]+)(?::(\d{1,5}))?$/i.exec(address)
  if (!parts) return `${address} is no address like 127.0.0.1:7720`
  const port = parts[2]
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65535)) return `${address}: ports are from 1 to 65535`
  return null
}
