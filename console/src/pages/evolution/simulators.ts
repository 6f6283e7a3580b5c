// The server's own simulators: where they listen, and which world the robots use.

import type { SimulatorPort, SimulatorSettings, SimulatorsInfo } from '../../api'
import type { Connection } from '../../connection'
import { button, card, field, h, notice, select } from '../../ui'
import { addressFault } from './addresses'

const OWN = 'own'
const OTHER = 'other'

export interface SimulatorsCard {
  element: HTMLElement
  show(info: SimulatorsInfo): void
}

export function simulatorsCard(connection: Connection, folder: string): SimulatorsCard {
  return new Card(connection, folder)
}

class Card implements SimulatorsCard {
  readonly element: HTMLElement
  readonly #connection: Connection
  readonly #addresses = h('dl', { class: 'own', 'data-test': 'simulators' })
  readonly #ports = h('div', { class: 'numbers' })
  readonly #where = select(
    [
      { value: OWN, label: 'in this server’s process' },
      { value: OTHER, label: 'a World Simulator' },
    ],
    OWN,
    () => this.#describe(),
  )
  readonly #world = h('input', {
    type: 'text',
    spellcheck: false,
    autocomplete: 'off',
    placeholder: '127.0.0.1:7770',
    'data-test': 'robot-world-address',
    oninput: () => this.#world.setCustomValidity(this.#worldFault()),
  })
  readonly #worldField = field('Address of the World Simulator', this.#world)
  readonly #whereField = field('World of the robots', this.#where)
  readonly #form: HTMLElement
  #inputs: HTMLInputElement[] = []
  #shown = ''
  #info: SimulatorsInfo | null = null

  constructor(connection: Connection, folder: string) {
    this.#connection = connection
    this.#where.dataset.test = 'robot-world'
    const apply = button('Apply', () => this.#apply(), { test: 'simulators-apply' })
    const hint = h('p', { class: 'hint' }, 'A change disconnects the programs that use the simulator.')
    this.#form = h(
      'details',
      { class: 'simulator-settings', 'data-test': 'simulator-settings' },
      h('summary', null, 'Change ports and world'),
      h(
        'fieldset',
        { class: 'bare-fieldset', disabled: connection.role !== 'operator' },
        this.#ports,
        this.#whereField,
        this.#worldField,
        hint,
        h('div', { class: 'row' }, apply),
      ),
    )
    const where = h(
      'dl',
      { class: 'own' },
      h('dt', null, 'Folder of runs'),
      folder === '' ? h('dd', { class: 'quiet' }, 'hidden') : h('dd', { class: 'mono' }, folder),
    )
    this.element = card('This server', this.#addresses, where, this.#form)
  }

  show(info: SimulatorsInfo): void {
    // unchanged settings must not replace what the user is typing
    if (JSON.stringify(info) === this.#shown) return
    this.#shown = JSON.stringify(info)
    this.#info = info
    const ports = [...(info.robot ? [info.robot] : []), ...info.world]
    const missing = [
      ...(info.robot ? [] : entry('Robot Simulator', ['not running'], 'robot-simulator')),
      ...(info.world.length > 0 ? [] : entry('World Simulator', ['not running'], 'world-simulator')),
    ]
    const world = info.robot ? entry('World of the robots', [info.robot_world ?? 'in this process'], 'robots-use') : []
    this.#addresses.replaceChildren(...ports.flatMap((port) => portEntry(port, info)), ...missing, ...world)
    this.#inputs = ports.map((port) => portInput(port, info))
    this.#ports.replaceChildren(
      ...ports.map((port, at) => field(`Port: ${port.title}`, this.#inputs[at] as HTMLElement)),
    )
    this.#where.value = info.robot_world === null ? OWN : OTHER
    // without a world of its own, the server's robots need another
    for (const option of this.#where.options) option.disabled = option.value === OWN && info.world.length === 0
    this.#world.value = info.robot_world ?? ''
    this.#whereField.hidden = info.robot === null
    this.#form.hidden = ports.length === 0
    this.#describe()
  }

  #describe(): void {
    this.#worldField.hidden = this.#info?.robot === null || this.#where.value === OWN
    this.#world.setCustomValidity(this.#worldFault())
  }

  #worldFault(): string {
    const address = this.#world.value.trim()
    return this.#where.value === OWN || address === '' ? '' : (addressFault(address) ?? '')
  }

  #read(): SimulatorSettings {
    const ports = this.#inputs.map((input) => input.valueAsNumber)
    const has = this.#info?.robot !== null
    return {
      robot_port: has ? (ports[0] ?? null) : null,
      world_ports: has ? ports.slice(1) : ports,
      robot_world: has && this.#where.value === OTHER ? this.#world.value.trim() : null,
    }
  }

  async #apply(): Promise<void> {
    if (![...this.#inputs, this.#world].every((input) => input.reportValidity())) return
    await this.#connection.request({ do: 'change-simulators', settings: this.#read() })
    notice('Simulators changed.')
  }
}

function isRobot(port: SimulatorPort, info: SimulatorsInfo): boolean {
  return port === info.robot
}

function testOf(port: SimulatorPort, info: SimulatorsInfo): string {
  return isRobot(port, info) ? 'robot-simulator' : 'world-simulator'
}

function portEntry(port: SimulatorPort, info: SimulatorsInfo): HTMLElement[] {
  return entry(port.title, port.addresses, testOf(port, info))
}

/** A title with one or more lines. */
function entry(title: string, lines: string[], test: string): HTMLElement[] {
  const shown = lines.map((line) => h('div', null, line))
  return [h('dt', null, title), h('dd', { class: 'mono', 'data-test': test }, ...shown)]
}

function portInput(port: SimulatorPort, info: SimulatorsInfo): HTMLInputElement {
  return h('input', {
    type: 'number',
    inputMode: 'numeric',
    step: '1',
    min: '1',
    max: '65535',
    required: true,
    value: String(port.port),
    'data-test': `${testOf(port, info)}-port`,
  })
}
