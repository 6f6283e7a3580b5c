// Screenshots of pages in three window sizes, taken after checking the layout.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkLayout, drawn } from './layout.mjs'

const usual = fileURLToPath(new URL('../../target/console-pictures', import.meta.url))
const folder = process.env.ROSSUM_PICTURES ?? usual

/** A desktop, a small notebook in the dark theme, a phone. */
export const WINDOWS = [
  { width: 1440, height: 900, dark: false },
  { width: 1024, height: 768, dark: true },
  { width: 390, height: 844, dark: false },
]

/** Checks the layout in each window and saves `NAME-WIDTHxHEIGHT.png`; `prepare` waits for the content. */
export async function portray(page, name, prepare = async () => {}) {
  await mkdir(folder, { recursive: true })
  for (const { width, height, dark } of WINDOWS) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await tidy(page)
    await prepare({ width, height })
    await drawn(page)
    await checkLayout(page, `${name} at ${width}x${height}`)
    await page.screenshot({ path: join(folder, `${name}-${width}x${height}.png`), animations: 'disabled' })
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Scrolls to the top and removes notices. */
async function tidy(page) {
  await page.evaluate(() => {
    for (const close of document.querySelectorAll('[data-test="notice"] button')) close.click()
    for (const element of document.querySelectorAll('*')) if (element.scrollTop > 0) element.scrollTop = 0
  })
}
