// The connection to the server: one WebSocket that opens itself again.

import type { Command, Hello, Message, MessageOf, Request, Role, Topic } from './api'
import { NOT_CONNECTED, notice } from './ui'

export type LinkState = 'connecting' | 'open' | 'lost' | 'refused'

/** The server said no; the message is its reason. */
export class Refused extends Error {}

type Heard = (message: Message) => void
type Seen = (frame: DataView<ArrayBuffer>) => void
interface Waiting {
  resolve: () => void
  reject: (error: Error) => void
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 5000

export class Link {
  #token: string
  #socket: WebSocket | null = null
  #state: LinkState = 'connecting'
  #hello: Hello | null = null
  #wait = FIRST_WAIT_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  #next = 1
  #waiting = new Map<number, Waiting>()
  #heard = new Map<string, Set<Heard>>()
  #seen = new Map<number, Set<Seen>>()
  #changed = new Set<(state: LinkState) => void>()
  #topics: Topic[] = []
  #saved = new Map<string, MessageOf<'saved'>>()
  /** What holds until it is said otherwise, and so is said again after a reconnect. */
  #standing = new Map<'follow' | 'observe' | 'run', Command>()

  constructor(token: string) {
    this.#token = token
    document.addEventListener('visibilitychange', () => this.#standAgain())
    this.#connect()
  }

  get role(): Role {
    return this.#hello?.role ?? 'viewer'
  }

  get hello(): Hello | null {
    return this.#hello
  }

  get state(): LinkState {
    return this.#state
  }

  /**
   * Sends a command; resolves with `done`, rejects with Refused (its message is the server's reason) or when the
   * connection is lost.
   */
  ask(command: Command): Promise<void> {
    this.#remember(command)
    const id = this.#next++
    return new Promise((resolve, reject) => {
      if (!this.#send({ ...command, id })) {
        reject(new Error(NOT_CONNECTED))
        return
      }
      this.#waiting.set(id, { resolve, reject })
    })
  }

  /** Sends without waiting; a refusal is shown as a notice. For sliders and drags. */
  tell(command: Command): void {
    this.#remember(command)
    this.#send(command)
  }

  /**
   * Calls back for every message of this type; gives back a function that ends that. What is saved is told once, at
   * first, so a listener that comes later hears it again.
   */
  on<T extends Message['type']>(type: T, heard: (message: MessageOf<T>) => void): () => void {
    const call: Heard = (message) => heard(message as MessageOf<T>)
    if (type === 'saved') queueMicrotask(() => this.#saved.forEach(call))
    return addTo(this.#heard, type, call)
  }

  /** Binary frames of this kind; the view begins at the frame's first byte. */
  onFrame(kind: number, seen: Seen): () => void {
    // a function of its own, so that the same one may listen twice
    return addTo(this.#seen, kind, (frame: DataView<ArrayBuffer>) => seen(frame))
  }

  /** Topics that the page wants. While the tab is hidden the link watches none by itself, and these afterwards. */
  watch(topics: Topic[]): void {
    this.#topics = [...topics]
    this.#send({ do: 'watch', topics: document.hidden ? [] : this.#topics })
  }

  /** Calls back at once with the state, and whenever it changes. */
  onState(changed: (state: LinkState) => void): () => void {
    this.#changed.add(changed)
    changed(this.#state)
    return () => this.#changed.delete(changed)
  }

  #remember(command: Command): void {
    if (command.do === 'follow' || command.do === 'observe' || command.do === 'run') {
      this.#standing.set(command.do, command)
    }
  }

  /** Asks for topics and standing orders again; for none of them while nobody can see it. */
  #standAgain(): void {
    if (document.hidden) {
      this.#send({ do: 'watch', topics: [] })
      if (this.#standing.has('follow')) this.#send({ do: 'follow', agent: null })
      if (this.#standing.has('observe')) this.#send({ do: 'observe', variables: [] })
      return
    }
    this.#send({ do: 'watch', topics: this.#topics })
    for (const command of this.#standing.values()) this.#send(command)
  }

  #send(request: Request): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN || !this.#hello || this.#state !== 'open') return false
    this.#socket.send(JSON.stringify(request))
    return true
  }

  #connect(): void {
    const address = new URL('api', document.baseURI)
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
    address.search = new URLSearchParams({ token: this.#token }).toString()
    const socket = new WebSocket(address)
    socket.binaryType = 'arraybuffer'
    let opened = false
    socket.onopen = () => (opened = true)
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.#receive(event.data)
    socket.onclose = () => void this.#closed(opened)
    this.#socket = socket
  }

  async #closed(opened: boolean): Promise<void> {
    this.#socket = null
    for (const { reject } of this.#waiting.values()) reject(new Error('The connection to the server was lost.'))
    this.#waiting.clear()
    if (this.#state === 'open') this.#become('lost')
    if (!opened && (await this.#tokenIsWrong())) {
      this.#become('refused')
      return
    }
    if (this.#state === 'connecting') this.#become('lost')
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), this.#wait)
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS)
  }

  /** A WebSocket does not say why it was turned away; a plain request to the same place does. */
  async #tokenIsWrong(): Promise<boolean> {
    try {
      const address = new URL('api', document.baseURI)
      address.search = new URLSearchParams({ token: this.#token }).toString()
      return (await fetch(address, { cache: 'no-store' })).status === 403
    } catch {
      return false
    }
  }

  #receive(data: string | ArrayBuffer): void {
    if (typeof data !== 'string') {
      if (data.byteLength === 0) return
      const frame = new DataView(data)
      for (const seen of this.#seen.get(frame.getUint8(0)) ?? []) seen(frame)
      return
    }
    const message = JSON.parse(data) as Message
    if (message.type === 'hello') this.#begin(message)
    if (message.type === 'saved') this.#saved.set(message.key, message)
    if (message.type === 'done' || message.type === 'refused') this.#answer(message)
    for (const heard of this.#heard.get(message.type) ?? []) heard(message)
  }

  #begin(hello: Hello): void {
    this.#hello = hello
    this.#wait = FIRST_WAIT_MS
    this.#become('open')
    this.#standAgain()
  }

  #answer(message: MessageOf<'done' | 'refused'>): void {
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id)
    if (message.id !== undefined) this.#waiting.delete(message.id)
    if (message.type === 'done') waiting?.resolve()
    else if (waiting) waiting.reject(new Refused(message.why))
    else notice(message.why, 'error')
  }

  #become(state: LinkState): void {
    if (this.#state === state) return
    this.#state = state
    for (const changed of this.#changed) changed(state)
  }
}

function addTo<K, V>(map: Map<K, Set<V>>, key: K, value: V): () => void {
  const set = map.get(key) ?? new Set<V>()
  map.set(key, set)
  set.add(value)
  return () => set.delete(value)
}
