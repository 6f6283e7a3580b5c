// Runs all browser tests with one browser: `node e2e/run.mjs [FILE...]`. One file runs with `node --test FILE`, too.

import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { CHROMIUM } from './browser.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const named = process.argv.slice(2)
const all = (await readdir(here))
  .filter((name) => name.endsWith('.test.mjs'))
  .sort()
  .map((name) => join(here, name))

const browser = await chromium.launchServer(CHROMIUM)
try {
  const files = named.length > 0 ? named : all
  // one file at a time: each starts a world, and all share one browser
  const options = ['--test', '--test-concurrency=1', '--test-timeout=300000', '--test-reporter=spec']
  const tests = spawn(process.execPath, [...options, ...files], {
    stdio: 'inherit',
    env: { ...process.env, ROSSUM_BROWSER: browser.wsEndpoint() },
  })
  process.exitCode = await new Promise((resolve) => tests.on('exit', (code) => resolve(code ?? 1)))
} finally {
  await browser.close()
}
