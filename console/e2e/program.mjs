// The built program, run as a user runs it, in a folder of its own.

import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from './waiting.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The program: `ROSSUM`, or what cargo built last for tests. */
const binary = resolve(process.env.ROSSUM ?? join(root, 'target/debug/rossum'))

/** A new folder, in which the program keeps its tokens, runs and recordings. */
export async function newFolder() {
  return mkdtemp(join(tmpdir(), 'rossum-console-'))
}

export async function removeFolder(folder) {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Writes a scenario into a folder; gives back its path. */
export async function writeScenario(folder, text) {
  const path = join(folder, 'scenario.toml')
  await writeFile(path, text)
  return path
}

/** A port that nobody has just now. */
export async function freePort() {
  const server = createServer()
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address()
  await new Promise((closed) => server.close(closed))
  return port
}

/** Programs do not outlive their test, however that ends. */
const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

export class Program {
  /** Link of an operator, and of a viewer. */
  operator
  viewer
  #process
  #said = ''

  /** Runs `rossum serve` in this folder, until it has said where it listens. */
  static async start(folder, { scenario = 'playground', ports = 'free', options = [] } = {}) {
    const program = new Program()
    const free = ports === 'free' ? ['--free-ports'] : []
    const environment = { ...process.env, ROSSUM_STATE: join(folder, 'state') }
    // a developer's own settings are not for tests
    delete environment.ROSSUM_LOG
    delete environment.RUST_BACKTRACE
    // what it leaves in its folder is not mixed with what it keeps
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
    await eventually('the program says where it listens', () => {
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

  /** What it wrote into its log. */
  get said() {
    return this.#said
  }

  async stop() {
    const child = this.#process
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
}
