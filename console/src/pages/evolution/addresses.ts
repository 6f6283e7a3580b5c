// Addresses of Robot Simulators, as users type them.

/** Splits at whitespace, commas and semicolons. */
export function splitAddresses(text: string): string[] {
  return text.split(/[\s,;]+/).filter((address) => address !== '')
}

/** Why an address is invalid; null if it is `host`, `host:port`, `1.2.3.4:7720` or `[::1]:7720`. */
export function addressFault(address: string): string | null {
  const parts = /^(\[[0-9a-f:.%]+\]|[^:[\]/\s]+)(?::(\d{1,5}))?$/i.exec(address)
  if (!parts) return `${address} is not an address such as 127.0.0.1:7720`
  const port = parts[2]
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65535)) return `${address}: the port must be 1 to 65535`
  return null
}
