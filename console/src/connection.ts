// The connection to the server: one WebSocket that reconnects.

import type { Command, Hello, Message, MessageOf, Request, Role, Topic } from './api'
import { NOT_CONNECTED, notice } from './ui'

export type ConnectionState = 'connecting' | 'open' | 'lost' | 'refused'

/** The server refused a command; the message is its reason. */
export class Refused extends Error {}

type MessageListener = (message: Message) => void
type FrameListener = (frame: DataView<ArrayBuffer>) => void
interface PendingRequest {
  resolve: () => void
  reject: (error: Error) => void
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 5000

export class Connection {
  #token: string
  #socket: WebSocket | null = null
  #state: ConnectionState = 'connecting'
  #hello: Hello | null = null
  #retryMs = FIRST_WAIT_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  #nextId = 1
  #pending = new Map<number, PendingRequest>()
  #messageListeners = new Map<string, Set<MessageListener>>()
  #frameListeners = new Map<number, Set<FrameListener>>()
  #stateListeners = new Set<(state: ConnectionState) => void>()
  #topics: Topic[] = []
  #saved = new Map<string, MessageOf<'saved'>>()
  /** Commands that stay in effect, and are repeated after a reconnect. */
  #subscriptions = new Map<'follow' | 'observe' | 'run', Command>()

  constructor(token: string) {
    this.#token = token
    document.addEventListener('visibilitychange', () => this.#resubscribe())
    this.#connect()
  }

  get role(): Role {
    return this.#hello?.role ?? 'viewer'
  }

  get hello(): Hello | null {
    return this.#hello
  }

  get state(): ConnectionState {
    return this.#state
  }

  /**
   * Sends a command; resolves with `done`, rejects with Refused (its message is the server's reason) or when the
   * connection is lost.
   */
  request(command: Command): Promise<void> {
    this.#trackSubscription(command)
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      if (!this.#transmit({ ...command, id })) {
        reject(new Error(NOT_CONNECTED))
        return
      }
      this.#pending.set(id, { resolve, reject })
    })
  }

  /** Sends without waiting; a refusal is shown as a notice. For sliders and drags. */
  send(command: Command): void {
    this.#trackSubscription(command)
    this.#transmit(command)
  }

  /**
   * Calls back for every message of this type; returns a function that unsubscribes. Saved items arrive once per
   * connection, so they are replayed to late listeners.
   */
  on<T extends Message['type']>(type: T, messageListeners: (message: MessageOf<T>) => void): () => void {
    const call: MessageListener = (message) => messageListeners(message as MessageOf<T>)
    if (type === 'saved') queueMicrotask(() => this.#saved.forEach(call))
    return addTo(this.#messageListeners, type, call)
  }

  /** Fetches a page of the server as text, with the token that it needs. */
  async fetchText(path: string): Promise<string> {
    const headers = { Authorization: `Bearer ${this.#token}` }
    const response = await fetch(new URL(path, document.baseURI), { cache: 'no-store', headers })
    if (!response.ok) throw new Error(`The server answered: ${response.status} ${response.statusText}`)
    return response.text()
  }

  /** Calls back for binary frames of this kind. The DataView starts at the frame's first byte. */
  onFrame(kind: number, frameListeners: FrameListener): () => void {
    // wrapped, so that the same function can be registered twice
    return addTo(this.#frameListeners, kind, (frame: DataView<ArrayBuffer>) => frameListeners(frame))
  }

  /** Sets the page's topics. They are suspended while the tab is hidden. */
  watch(topics: Topic[]): void {
    this.#topics = [...topics]
    this.#transmit({ do: 'watch', topics: document.hidden ? [] : this.#topics })
  }

  /** Calls back immediately with the state, and whenever it changes. */
  onState(stateListeners: (state: ConnectionState) => void): () => void {
    this.#stateListeners.add(stateListeners)
    stateListeners(this.#state)
    return () => this.#stateListeners.delete(stateListeners)
  }

  #trackSubscription(command: Command): void {
    if (command.do === 'follow' || command.do === 'observe' || command.do === 'run') {
      this.#subscriptions.set(command.do, command)
    }
  }

  /** Restores topics and subscriptions, or suspends them while the tab is hidden. */
  #resubscribe(): void {
    if (document.hidden) {
      this.#transmit({ do: 'watch', topics: [] })
      if (this.#subscriptions.has('follow')) this.#transmit({ do: 'follow', agent: null })
      if (this.#subscriptions.has('observe')) this.#transmit({ do: 'observe', variables: [] })
      return
    }
    this.#transmit({ do: 'watch', topics: this.#topics })
    for (const command of this.#subscriptions.values()) this.#transmit(command)
  }

  #transmit(request: Request): boolean {
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
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.#handleFrame(event.data)
    socket.onclose = () => void this.#handleClose(opened)
    this.#socket = socket
  }

  async #handleClose(opened: boolean): Promise<void> {
    this.#socket = null
    for (const { reject } of this.#pending.values()) reject(new Error('Lost the connection to the server.'))
    this.#pending.clear()
    if (this.#state === 'open') this.#setState('lost')
    if (!opened && (await this.#isTokenRejected())) {
      this.#setState('refused')
      return
    }
    if (this.#state === 'connecting') this.#setState('lost')
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_WAIT_MS)
  }

  /** A WebSocket does not report why it was rejected; a plain request to the same URL does. */
  async #isTokenRejected(): Promise<boolean> {
    try {
      const address = new URL('api', document.baseURI)
      address.search = new URLSearchParams({ token: this.#token }).toString()
      return (await fetch(address, { cache: 'no-store' })).status === 403
    } catch {
      return false
    }
  }

  #handleFrame(data: string | ArrayBuffer): void {
    if (typeof data !== 'string') {
      if (data.byteLength === 0) return
      const frame = new DataView(data)
      for (const frameListeners of this.#frameListeners.get(frame.getUint8(0)) ?? []) frameListeners(frame)
      return
    }
    const message = JSON.parse(data) as Message
    if (message.type === 'hello') this.#handleHello(message)
    if (message.type === 'saved') this.#saved.set(message.key, message)
    if (message.type === 'done' || message.type === 'refused') this.#settle(message)
    for (const messageListeners of this.#messageListeners.get(message.type) ?? []) messageListeners(message)
  }

  #handleHello(hello: Hello): void {
    this.#hello = hello
    this.#retryMs = FIRST_WAIT_MS
    this.#setState('open')
    this.#resubscribe()
  }

  #settle(message: MessageOf<'done' | 'refused'>): void {
    const pending = message.id === undefined ? undefined : this.#pending.get(message.id)
    if (message.id !== undefined) this.#pending.delete(message.id)
    if (message.type === 'done') pending?.resolve()
    else if (pending) pending.reject(new Refused(message.why))
    else notice(message.why, 'error')
  }

  #setState(state: ConnectionState): void {
    if (this.#state === state) return
    this.#state = state
    for (const stateListeners of this.#stateListeners) stateListeners(state)
  }
}

function addTo<K, V>(map: Map<K, Set<V>>, key: K, value: V): () => void {
  const set = map.get(key) ?? new Set<V>()
  map.set(key, set)
  set.add(value)
  return () => set.delete(value)
}
