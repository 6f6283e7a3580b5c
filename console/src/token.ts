// The access token, taken from the link printed by `rossum serve`.

const KEY = 'rossum-token'

/** The token of this tab. A token in the URL is stored for the tab and removed from the address bar. */
export function takeToken(): string | null {
  const address = new URL(location.href)
  const given = address.searchParams.get('token')
  if (given) {
    keepToken(given)
    address.searchParams.delete('token')
    history.replaceState(null, '', address)
  }
  return sessionStorage.getItem(KEY)
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token)
}

/** Extracts the token from pasted text: a whole link, or the token alone. */
export function tokenIn(pasted: string): string | null {
  const text = pasted.trim()
  const inLink = /[?&]token=([^&#\s]+)/.exec(text)?.[1]
  if (inLink) return decodeURIComponent(inLink)
  return /^[\w-]+$/.test(text) ? text : null
}
