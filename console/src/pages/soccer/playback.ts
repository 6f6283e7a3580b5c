// Plays a recording or log in the view: fetches frames and moves the playhead.

import { Frame, type PlaybackScene, type PlaybackState, type Scene, type TimelineMark } from '../../api'
import type { Connection } from '../../connection'
import { errorMessage, notice } from '../../ui'
import type { View } from '../../view/view'
import { FrameBuffer } from './frame-buffer'
import { sentence } from './labels'
import { advanced, merged, sceneAt } from './timeline'

/** Size of a playback frame's header. */
const HEADER_BYTES = 8
/** Delay before missing frames are requested again. */
const RETRY_MS = 1000

/** State of the playback controls. */
export interface PlaybackStatus {
  name: string
  frame: number
  ready: number
  complete: boolean
  trouble: string | null
  rate: number
  marks: readonly TimelineMark[]
  playing: boolean
  /** Whether the frame at the playhead has not arrived yet. */
  waiting: boolean
  speed: number
}

export class Playback {
  /** Called when `status` changes. */
  onChange: (() => void) | null = null
  /** Called when the scene changes. */
  onScene: ((scene: Scene) => void) | null = null
  #connection: Connection
  #view: View
  #name: string | null = null
  #state: PlaybackState | null = null
  #scenes: PlaybackScene[] = []
  #marks: TimelineMark[] = []
  #buffer = new FrameBuffer<DataView>()
  /** In frames, with a fraction while playing. */
  #playhead = 0
  #playing = false
  #speed = 1
  #shown: DataView | null = null
  #scene: Scene | null = null
  #asking = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #tick = 0
  #last = 0
  #ends: (() => void)[]

  constructor(connection: Connection, view: View) {
    this.#connection = connection
    this.#view = view
    this.#ends = [
      connection.on('film', (state) => this.#update(state)),
      connection.onFrame(Frame.playback, (frame) => this.#store(frame)),
      // after a reconnect, the server does not know the open file
      connection.on('hello', () => {
        if (this.#name !== null) void this.open(this.#name, this.#playhead)
      }),
    ]
  }

  /** Status of the open playback; null if none is open. */
  get status(): PlaybackStatus | null {
    if (this.#name === null) return null
    const frame = Math.floor(this.#playhead)
    return {
      name: this.#name,
      frame,
      ready: this.#state?.ready ?? 0,
      complete: this.#state?.complete ?? false,
      trouble: this.#state?.trouble ?? null,
      rate: this.#state?.rate ?? 1,
      marks: this.#marks,
      playing: this.#playing,
      waiting: this.#buffer.frame(frame) === undefined,
      speed: this.#speed,
    }
  }

  async open(name: string, at = 0): Promise<void> {
    this.#reset()
    this.#name = name
    this.#playhead = at
    this.onChange?.()
    try {
      await this.#connection.request({ do: 'open-film', name })
    } catch (error) {
      notice(errorMessage(error), 'error')
      if (this.#name === name && !this.#state) this.leave()
    }
  }

  /** Back to the live game. */
  leave(): void {
    if (this.#name === null) return
    this.#reset()
    this.#name = null
    this.#connection.send({ do: 'close-film' })
    this.onChange?.()
  }

  play(on: boolean): void {
    const state = this.#state
    if (this.#playing === on || !state) return
    // at the end, restart
    if (on && state.complete && this.#playhead >= state.ready - 1) this.#playhead = 0
    this.#playing = on
    cancelAnimationFrame(this.#tick)
    this.#last = performance.now()
    if (on) this.#tick = requestAnimationFrame((now) => this.#advance(now))
    this.#showFrame()
  }

  speed(factor: number): void {
    this.#speed = factor
    this.onChange?.()
  }

  seek(frame: number): void {
    const last = Math.max(0, (this.#state?.ready ?? 1) - 1)
    this.#playhead = Math.max(0, Math.min(last, frame))
    this.#showFrame()
  }

  close(): void {
    for (const end of this.#ends) end()
    this.onChange = this.onScene = null
    this.leave()
  }

  #reset(): void {
    cancelAnimationFrame(this.#tick)
    clearTimeout(this.#timer)
    this.#buffer.clear()
    this.#state = null
    this.#scenes = []
    this.#marks = []
    this.#playhead = 0
    this.#playing = false
    this.#shown = null
    this.#scene = null
  }

  #update(state: PlaybackState): void {
    if (state.name !== this.#name) return
    this.#state = state
    this.#scenes = merged(
      this.#scenes,
      state.scenes,
      ({ from }) => String(from),
      ({ from }) => from,
    )
    const marks = state.marks.map(({ frame, text }) => ({ frame, text: sentence(text) }))
    this.#marks = merged(
      this.#marks,
      marks,
      ({ frame, text }) => `${frame} ${text}`,
      ({ frame }) => frame,
    )
    this.#showFrame()
  }

  #store(frame: DataView<ArrayBuffer>): void {
    if (this.#name === null || frame.byteLength < HEADER_BYTES) return
    const number = frame.getUint32(4, true)
    this.#buffer.put(number, new DataView(frame.buffer, frame.byteOffset + HEADER_BYTES), this.#playhead)
    if (number === Math.floor(this.#playhead)) this.#showFrame()
  }

  #advance(now: number): void {
    const state = this.#state
    if (!state || !this.#playing) return
    // do not catch up after the tab was hidden
    const seconds = Math.min(0.25, (now - this.#last) / 1000)
    this.#last = now
    this.#playhead = advanced(
      this.#playhead,
      seconds,
      this.#speed,
      state.rate,
      state.ready,
      (frame) => this.#buffer.frame(frame) !== undefined,
    )
    if (state.complete && this.#playhead >= state.ready - 1) this.#playing = false
    else this.#tick = requestAnimationFrame((next) => this.#advance(next))
    this.#showFrame()
  }

  /** Shows the frame at the playhead, and requests those that follow. */
  #showFrame(): void {
    const number = Math.floor(this.#playhead)
    const frame = this.#buffer.frame(number)
    if (frame && frame !== this.#shown) {
      const scene = sceneAt(this.#scenes, number)
      if (scene && scene !== this.#scene) {
        this.#scene = scene
        this.#view.setScene(scene)
        this.onScene?.(scene)
      }
      this.#shown = frame
      this.#view.show(frame)
    }
    this.onChange?.()
    void this.#fetch()
  }

  async #fetch(): Promise<void> {
    const wanted = this.#state && this.#buffer.wanted(Math.floor(this.#playhead), this.#state.ready)
    if (!wanted || this.#asking) return
    this.#asking = true
    const name = this.#name
    try {
      await this.#connection.request({ do: 'frames', ...wanted })
    } catch (error) {
      if (this.#name === name) notice(errorMessage(error), 'error')
    } finally {
      this.#asking = false
    }
    if (this.#name === null) return
    const came = this.#name !== name || this.#buffer.frame(wanted.from) !== undefined
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#fetch(), came ? 0 : RETRY_MS)
  }
}
