// Layout checks: nothing outside the window, nothing cut off, nothing overlapping.

import assert from 'node:assert/strict'

/** Waits for two frames, so that pending changes are visible. */
export async function drawn(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/** Fails with a list of all faults of the current layout. */
export async function checkLayout(page, where) {
  const faults = await page.evaluate(faultsOf)
  assert.deepEqual(faults, [], where)
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it runs in the browser, so it must be self-contained
function faultsOf() {
  const slack = 1.5
  const faults = []
  const page = document.documentElement
  if (page.scrollWidth > page.clientWidth) faults.push(`scrolls sideways: ${page.scrollWidth} px wide`)

  const nameOf = (element) => {
    const name = element.dataset.test ?? element.getAttribute('aria-label') ?? element.textContent?.trim().slice(0, 30)
    return `${element.tagName.toLowerCase()}.${element.className} "${name}"`
  }

  /** Layer that others may scroll under: fixed bars, notices and open dialogs. */
  const layerOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (at.tagName === 'DIALOG') return at
      if (['fixed', 'sticky'].includes(getComputedStyle(at).position)) return at
    }
    return null
  }

  /** The visible part of an element, and whether it is cut off without a way to scroll. */
  const seen = (element, box) => {
    let { left, top, right, bottom } = box
    let cut = false
    for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at)
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue
      const frame = at.getBoundingClientRect()
      const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY)
      if (!scrolls && (left < frame.left - slack || right > frame.right + slack)) cut = true
      left = Math.max(left, frame.left)
      right = Math.min(right, frame.right)
      top = Math.max(top, frame.top)
      bottom = Math.min(bottom, frame.bottom)
    }
    return { left, top, right, bottom, cut }
  }
  const isThere = ({ left, top, right, bottom }) => right - left > slack && bottom - top > slack

  // except views, which may have buttons on top
  const interactive = 'a[href], button, input, select, textarea, summary, [tabindex="0"]:not(canvas)'
  const spots = [...document.querySelectorAll(interactive)].flatMap((element) => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return []
    const spot = { element, layer: layerOf(element), ...seen(element, element.getBoundingClientRect()) }
    return isThere(spot) ? [spot] : []
  })
  for (const { element, right, left, cut } of spots) {
    if (right > innerWidth + slack || left < -slack) faults.push(`beside the window: ${nameOf(element)}`)
    if (cut) faults.push(`cut off: ${nameOf(element)}`)
  }

  /** Faces may overlap each other; the content of a label or button belongs to it. */
  const isFace = (element) => element.dataset.test === 'face-box'
  const belongs = (a, b) => a.contains(b) || b.contains(a) || (isFace(a) && isFace(b))
  const across = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left)
  const along = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
  const overlap = (a, b) => across(a, b) > 2 && along(a, b) > 2
  spots.forEach((a, at) => {
    for (const b of spots.slice(at + 1)) {
      if (a.layer === b.layer && overlap(a, b) && !belongs(a.element, b.element)) {
        faults.push(`overlap: ${nameOf(a.element)} and ${nameOf(b.element)}`)
      }
    }
  })

  // texts: no overlap, and none cut off without an ellipsis
  const texts = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    const element = node.parentElement
    if (!element || !node.data.trim() || element.closest('option, script, style, svg')) continue
    // for screen readers only
    if (getComputedStyle(element).clipPath !== 'none') continue
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const box of range.getClientRects()) {
      const spot = { element, layer: layerOf(element), text: node.data.trim(), ...seen(element, box) }
      const own = getComputedStyle(element)
      // it may be clipped by its own box
      if (own.overflowX !== 'visible') {
        const frame = element.getBoundingClientRect()
        spot.right = Math.min(spot.right, frame.right)
        spot.bottom = Math.min(spot.bottom, frame.bottom)
      }
      if (isThere(spot)) texts.push(spot)
    }
    const style = getComputedStyle(element)
    const hides = ['hidden', 'clip'].includes(style.overflowX) && style.textOverflow !== 'ellipsis'
    const unread = element.clientWidth > 2 && element.scrollWidth > element.clientWidth + slack
    if (hides && unread && element.offsetWidth > 2) faults.push(`words cut off: ${nameOf(element)}`)
  }
  texts.forEach((a, at) => {
    if (a.right > innerWidth + slack && !a.layer) faults.push(`words beside the window: ${a.text.slice(0, 40)}`)
    for (const b of texts.slice(at + 1)) {
      if (a.layer !== b.layer || a.element.contains(b.element) || b.element.contains(a.element)) continue
      // adjacent lines touch at their descenders
      if (across(a, b) <= 2 || along(a, b) <= 5) continue
      faults.push(`words on words: "${a.text.slice(0, 40)}" and "${b.text.slice(0, 40)}"`)
    }
  })
  return [...new Set(faults)].slice(0, 20)
}
