// The word that lets this browser in. It comes in the link that `rossum serve` prints.

const KEY = 'rossum-token'

/** The token of this tab. One in the address is kept for the tab and taken out of the address bar. */
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

/** The token in what somebody pasted: a whole link, or the token alone. */
export function tokenIn(pasted: string): string | null {
  const text = pasted.trim()
  const inLink = /[?&]token=([^&#\s]+)/.exec(text)?.[1]
  if (inLink) return decodeURIComponent(inLink)
  return /^[\w-]+$/.test(text) ? text : null
}
