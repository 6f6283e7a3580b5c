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

/** The developer's settings must not matter. */
function ownEnvironment(more = {}) {
  const environment = { ...process.env, ...more }
  for (const name of ['ROSSUM_LOG', 'ROSSUM_TOKEN', 'RUST_BACKTRACE']) delete environment[name]
  return environment
}

/** A command that serves, such as `rossum world`. */
export class Server {
  /** Its first line: what it serves, and where. */
  greeting
  #process
  #said = ''

  /** Runs the command with `--json`, and waits until it is listening. */
  static async start(command, { cwd, environment = ownEnvironment() } = {}) {
    const server = new Server()
    const child = spawn(binary, [...command, '--json'], { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    server.#process = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    child.on('error', (error) => (server.#said += `${error.message}\n`))
    child.stderr.on('data', (data) => (server.#said += data))
    let output = ''
    child.stdout.on('data', (data) => (output += data))
    await eventually('the program listens', () => {
      if (child.pid === undefined) throw new Error(`cannot start ${binary}; has it been built?`)
      if (child.exitCode !== null) throw new Error(`the program ended: ${server.#said}`)
      return output.includes('\n')
    })
    server.greeting = JSON.parse(output.slice(0, output.indexOf('\n')))
    return server
  }

  /** Address of the endpoint with this title. */
  address(title) {
    return this.greeting.addresses.find((address) => address.title === title).address
  }

  /** Content of its log. */
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

export class Program {
  /** Links for operators and viewers. */
  operator
  viewer
  #server
  #environment

  /** Runs `rossum serve` in this folder, and waits until it is listening. */
  static async start(folder, { scenario = 'playground', ports = 'free', options = [] } = {}) {
    const program = new Program()
    const free = ports === 'free' ? ['--free-ports'] : []
    const environment = ownEnvironment({ ROSSUM_STATE: join(folder, 'state') })
    program.#environment = environment
    // keep its state separate from its output
    const home = join(folder, 'here')
    await mkdir(home, { recursive: true })
    const command = ['serve', ...free, '--scenario', scenario, ...options]
    program.#server = await Server.start(command, { cwd: home, environment })
    const { greeting } = program.#server
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
    return this.#server.said
  }

  /** Runs another command of the same user; returns what it prints. */
  async run(...options) {
    return (await promisify(execFile)(binary, options, { env: this.#environment })).stdout
  }

  async stop() {
    await this.#server.stop()
  }
}
