// The list of robots, and details of the selected one.

import type { AgentInfo, Client, Scene } from '../../api'
import type { Connection } from '../../connection'
import { empty, fill, h, setText } from '../../ui'
import { Agent } from './agent'
import { controllers, describeControllers } from './controllers'

export class Agents {
  readonly element: HTMLElement
  /** Called when another robot, or none, is selected. */
  onChoose: ((agent: AgentInfo | null) => void) | null = null
  #connection: Connection
  #cards: AgentInfo[] = []
  #clients: Client[] = []
  #list = h('ul', { class: 'world-agents', 'data-test': 'agents' })
  #detail = h('div', { class: 'stack' })
  #rows = new Map<string, { press: HTMLButtonElement; control: HTMLElement }>()
  #chosen: string | null = null
  #agent: Agent | null = null
  #ends: (() => void)[]

  constructor(connection: Connection) {
    this.#connection = connection
    this.element = h('div', { class: 'stack' }, this.#list, this.#detail)
    this.#ends = [
      connection.on('state', ({ clients }) => this.#setClients(clients)),
      connection.on('agent', (news) => {
        if (news.name === this.#chosen) this.#agent?.hear(news)
      }),
    ]
    fill(this.#detail, empty('Waiting for the world', 'Its robots appear here.'))
  }

  setScene(scene: Scene): void {
    const before = JSON.stringify(this.#cards.find(({ name }) => name === this.#chosen))
    this.#cards = scene.agents
    this.#rows.clear()
    fill(this.#list, ...scene.agents.map((card) => this.#row(card)))
    this.#draw()
    const card = this.#cards.find(({ name }) => name === this.#chosen)
    if (!card) this.choose(null)
    else {
      // its body may have a new index
      if (JSON.stringify(card) !== before) this.#open(card)
      this.onChoose?.(card)
    }
  }

  /** Selects and follows a robot; null for none. */
  choose(name: string | null): void {
    const card = this.#cards.find((card) => card.name === name) ?? null
    const changed = this.#chosen !== (card?.name ?? null)
    this.#chosen = card?.name ?? null
    if (changed) this.#connection.send({ do: 'follow', agent: this.#chosen })
    if (changed || !card) {
      this.#open(card)
      this.onChoose?.(card)
    }
    this.#draw()
  }

  close(): void {
    for (const end of this.#ends) end()
    this.#agent?.close()
    if (this.#chosen !== null) this.#connection.send({ do: 'follow', agent: null })
  }

  #open(card: AgentInfo | null): void {
    this.#agent?.close()
    this.#agent = card ? new Agent(this.#connection, card) : null
    this.#agent?.setControllers(card ? controllers(this.#clients, card.name) : [])
    fill(this.#detail, this.#agent?.element ?? this.#none())
  }

  #none(): HTMLElement {
    return this.#cards.length > 0
      ? empty(
          'Select a robot',
          'Click one in the view or in the list. The camera follows it, and its motors and sensors appear here.',
        )
      : empty(
          'No robots yet',
          'They come with the scenario, or when a soccer client connects. You can start a demo game on the Soccer page.',
        )
  }

  #row(card: AgentInfo): HTMLElement {
    const control = h('span', { class: 'quiet' })
    const press = h(
      'button',
      {
        class: 'world-agent',
        type: 'button',
        'data-test': 'agent',
        onclick: () => this.choose(card.name === this.#chosen ? null : card.name),
      },
      h('strong', null, card.name),
      h('span', { class: 'badge' }, card.robot),
      control,
    )
    this.#rows.set(card.name, { press, control })
    return h('li', null, press)
  }

  #setClients(clients: Client[]): void {
    this.#clients = clients
    if (this.#chosen !== null) this.#agent?.setControllers(controllers(clients, this.#chosen))
    this.#draw()
  }

  #draw(): void {
    for (const [name, { press, control }] of this.#rows) {
      press.setAttribute('aria-pressed', String(name === this.#chosen))
      const words = describeControllers(controllers(this.#clients, name))
      setText(control, words)
      control.title = words
    }
  }
}
