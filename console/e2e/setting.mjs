// Fixture of a test file: a folder, the program running in it, and a browser.

import { after, before } from 'node:test'
import { openBrowser } from './browser.mjs'
import { newFolder, Program, removeFolder } from './program.mjs'

/** Set up before the first test, torn down after the last. `start` runs the program in the folder, or returns null. */
export function setting(start = Program.start) {
  const here = { folder: null, program: null, browser: null }
  before(async () => {
    here.folder = await newFolder()
    ;[here.program, here.browser] = await Promise.all([start(here.folder), openBrowser()])
  })
  after(async () => {
    await here.browser?.close()
    await here.program?.stop()
    await removeFolder(here.folder)
  })
  return here
}
