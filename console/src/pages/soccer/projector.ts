// Shows a film in the view: fetches frames, keeps the playhead, plays.

import { Frame, type PlaybackState, type Scene } from '../../api'
import type { Link } from '../../link'
import { notice, reason } from '../../ui'
import type { View } from '../../view/view'
import { Reel } from './reel'
import { advanced, type Mark, merged, sceneAt } from './timeline'
import { sentence } from './words'

/** Bytes of a film frame before its poses. */
const HEAD = 8
/** Before the same frames are asked for again, if they did not come. */
const PATIENCE_MS = 1000

/** What the time line shows. */
export interface Showing {
  name: string
  frame: number
  ready: number
  complete: boolean
  trouble: string | null
  rate: number
  marks: readonly Mark[]
  playing: boolean
  /** Whether the frame at the playhead is still on its way. */
  waiting: boolean
  speed: number
}

export class Projector {
  /** Called when anything of `showing` changed. */
  onChange: (() => void) | null = null
  /** Called when the film goes on with another scene. */
  onScene: ((scene: Scene) => void) | null = null
  #link: Link
  #view: View
  #name: string | null = null
  #film: PlaybackState | null = null
  #scenes: PlaybackState['scenes'] = []
  #marks: Mark[] = []
  #reel = new Reel<DataView>()
  /** In frames, with a fraction while it plays. */
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

  constructor(link: Link, view: View) {
    this.#link = link
    this.#view = view
    this.#ends = [
      link.on('film', (film) => this.#grow(film)),
      link.onFrame(Frame.playback, (frame) => this.#keep(frame)),
      // a server that we lost does not know which film we watch
      link.on('hello', () => {
        if (this.#name !== null) void this.open(this.#name, this.#playhead)
      }),
    ]
  }

  /** The film that is open, or null. */
  get showing(): Showing | null {
    if (this.#name === null) return null
    const frame = Math.floor(this.#playhead)
    return {
      name: this.#name,
      frame,
      ready: this.#film?.ready ?? 0,
      complete: this.#film?.complete ?? false,
      trouble: this.#film?.trouble ?? null,
      rate: this.#film?.rate ?? 1,
      marks: this.#marks,
      playing: this.#playing,
      waiting: this.#reel.frame(frame) === undefined,
      speed: this.#speed,
    }
  }

  async open(name: string, at = 0): Promise<void> {
    this.#forget()
    this.#name = name
    this.#playhead = at
    this.onChange?.()
    try {
      await this.#link.ask({ do: 'open-film', name })
    } catch (error) {
      notice(reason(error), 'error')
      if (this.#name === name && !this.#film) this.leave()
    }
  }

  /** Back to the live game. */
  leave(): void {
    if (this.#name === null) return
    this.#forget()
    this.#name = null
    this.#link.tell({ do: 'close-film' })
    this.onChange?.()
  }

  play(on: boolean): void {
    const film = this.#film
    if (this.#playing === on || !film) return
    // from the start again, after the end
    if (on && film.complete && this.#playhead >= film.ready - 1) this.#playhead = 0
    this.#playing = on
    cancelAnimationFrame(this.#tick)
    this.#last = performance.now()
    if (on) this.#tick = requestAnimationFrame((now) => this.#advance(now))
    this.#project()
  }

  speed(factor: number): void {
    this.#speed = factor
    this.onChange?.()
  }

  seek(frame: number): void {
    const last = Math.max(0, (this.#film?.ready ?? 1) - 1)
    this.#playhead = Math.max(0, Math.min(last, frame))
    this.#project()
  }

  close(): void {
    for (const end of this.#ends) end()
    this.onChange = this.onScene = null
    this.leave()
  }

  #forget(): void {
    cancelAnimationFrame(this.#tick)
    clearTimeout(this.#timer)
    this.#reel.clear()
    this.#film = null
    this.#scenes = []
    this.#marks = []
    this.#playhead = 0
    this.#playing = false
    this.#shown = null
    this.#scene = null
  }

  #grow(film: PlaybackState): void {
    if (film.name !== this.#name) return
    this.#film = film
    this.#scenes = merged(
      this.#scenes,
      film.scenes,
      ({ from }) => String(from),
      ({ from }) => from,
    )
    const marks = film.marks.map(({ frame, text }) => ({ frame, text: sentence(text) }))
    this.#marks = merged(
      this.#marks,
      marks,
      ({ frame, text }) => `${frame} ${text}`,
      ({ frame }) => frame,
    )
    this.#project()
  }

  #keep(frame: DataView<ArrayBuffer>): void {
    if (this.#name === null || frame.byteLength < HEAD) return
    const number = frame.getUint32(4, true)
    this.#reel.put(number, new DataView(frame.buffer, frame.byteOffset + HEAD), this.#playhead)
    if (number === Math.floor(this.#playhead)) this.#project()
  }

  #advance(now: number): void {
    const film = this.#film
    if (!film || !this.#playing) return
    // a tab that was hidden does not catch up
    const seconds = Math.min(0.25, (now - this.#last) / 1000)
    this.#last = now
    this.#playhead = advanced(
      this.#playhead,
      seconds,
      this.#speed,
      film.rate,
      film.ready,
      (frame) => this.#reel.frame(frame) !== undefined,
    )
    if (film.complete && this.#playhead >= film.ready - 1) this.#playing = false
    else this.#tick = requestAnimationFrame((next) => this.#advance(next))
    this.#project()
  }

  /** Puts the frame at the playhead on the view, and asks for those that follow. */
  #project(): void {
    const number = Math.floor(this.#playhead)
    const frame = this.#reel.frame(number)
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
    const wanted = this.#film && this.#reel.wanted(Math.floor(this.#playhead), this.#film.ready)
    if (!wanted || this.#asking) return
    this.#asking = true
    const name = this.#name
    try {
      await this.#link.ask({ do: 'frames', ...wanted })
    } catch (error) {
      if (this.#name === name) notice(reason(error), 'error')
    } finally {
      this.#asking = false
    }
    if (this.#name === null) return
    const came = this.#name !== name || this.#reel.frame(wanted.from) !== undefined
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#fetch(), came ? 0 : PATIENCE_MS)
  }
}
