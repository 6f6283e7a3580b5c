// Runs the built program as a user would, in a temporary folder.

import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eventually } from './waiting.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Path of the program: `ROSSUM`, or cargo's debug build. */
const binary = resolve(process.env.ROSSUM ?? join(root, 'target/debug/rossum'))

/** Creates a folder for the program's tokens, runs and recordings. */
export async function newFolder() {
  return mkdtemp(join(tmpdir(), 'rossum-console-'))
}

export async function removeFolder(folder) {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Writes a scenario into a folder; returns its path. */
export async function writeScenario(folder, text) {
  const path = join(folder, 'scenario.toml')
  await writeFile(path, text)
  return path
}

/** A free port. */
export async function freePort() {
  const server = createServer()
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address()
  await new Promise((closed) => server.close(closed))
  return port
}

/** Programs are killed when the tests end, however that happens. */
const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

export class Program {
  /** Links for operators and viewers. */
  operator
  viewer
  #process
  #environment
  #said = ''

  /** Runs `rossum serve` in this folder, and waits until it is listening. */
  static async start(folder, { scenario = 'playground', ports = 'free', options = [] } = {}) {
    const program = new Program()
    const free = ports === 'free' ? ['--free-ports'] : []
    const environment = { ...process.env, ROSSUM_STATE: join(folder, 'state') }
    program.#environment = environment
    // ignore the developer's settings
    delete environment.ROSSUM_LOG
    delete environment.ROSSUM_TOKEN
    delete environment.RUST_BACKTRACE
    // keep its state separate from its output
    const home = join(folder, 'here')
    await mkdir(home, { recursive: true })
    const child = spawn(binary, ['serve', ...free, '--json', '--scenario', scenario, ...options], {
      cwd: home,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    program.#process = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    child.on('error', (error) => (program.#said += `${error.message}\n`))
    child.stderr.on('data', (data) => (program.#said += data))
    let output = ''
    child.stdout.on('data', (data) => (output += data))
    await eventually('the program listens', () => {
      if (child.pid === undefined) throw new Error(`cannot start ${binary}; has it been built?`)
      if (child.exitCode !== null) throw new Error(`the program ended: ${program.#said}`)
      return output.includes('\n')
    })
    const greeting = JSON.parse(output.slice(0, output.indexOf('\n')))
    program.operator = greeting.console
    program.viewer = greeting.viewer
    return program
  }

  /** `http://127.0.0.1:PORT` */
  get origin() {
    return new URL(this.operator).origin
  }

  /** Content of its log. */
  get said() {
    return this.#said
  }

  /** Runs another command of the same user; returns what it prints. */
  async run(...options) {
    return (await promisify(execFile)(binary, options, { env: this.#environment })).stdout
  }

  async stop() {
    const child = this.#process
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
}
