// Keyboard navigation with the Tab key.

import assert from 'node:assert/strict'

/** Number of leading stops that must show their focus. */
const LOOKED_AT = 8

/** Presses Tab through a page. Fails if an element cannot be reached or does not show its focus. */
export async function tabThrough(page, where) {
  await page.evaluate(markStops)
  await page.evaluate(() => {
    document.activeElement?.blur()
    getSelection()?.removeAllRanges()
    scrollTo(0, 0)
  })
  const count = await page.locator('[data-stop]').count()
  assert.ok(count > LOOKED_AT, `${where}: ${count} stops`)
  const most = 2 * count + 40
  const hidden = []
  for (let press = 0; press < most; press++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate(atStop)
    if (press < LOOKED_AT && stop && !stop.shown) hidden.push(stop.name)
    if (!stop || stop.again) break
  }
  assert.deepEqual(hidden, [], `${where}: stops without visible focus`)
  assert.deepEqual(await page.evaluate(leftOut), [], `${where}: not reached by the Tab key`)
}

/** Marks all elements that must be reachable. */
function markStops() {
  const groups = new Set()
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
  for (const element of document.querySelectorAll(usable)) {
    const open = element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled')
    if (!open || element.tabIndex < 0) continue
    // a group of radio buttons is one stop
    if (element.type === 'radio') {
      if (groups.has(element.name)) continue
      groups.add(element.name)
    }
    element.dataset.stop = 'waiting'
  }
}

/** The focused element, and whether its focus is visible; null if nothing is focused. */
function atStop() {
  const element = document.activeElement
  if (!element || element === document.body) return null
  const again = element.dataset.stop === 'reached'
  if (element.dataset.stop) element.dataset.stop = 'reached'
  const outlined = (style) =>
    (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== 'none'
  const box = element.getBoundingClientRect()
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
  return {
    name: element.dataset.test ?? element.textContent?.trim().slice(0, 30) ?? element.tagName,
    shown: inside && element.matches(':focus-visible') && outlined(getComputedStyle(element)),
    again,
  }
}

/** Elements that were not reached. */
function leftOut() {
  const isOpen = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled') && element.tabIndex >= 0
  const words = (element) => element.getAttribute('aria-label') ?? element.textContent?.trim().slice(0, 30)
  return [...document.querySelectorAll('[data-stop="waiting"]')]
    .filter(isOpen)
    .map((element) => `${element.tagName.toLowerCase()} "${element.dataset.test ?? words(element)}"`)
}
