// Plays the robot's voice in the browser: chunks of sound, back to back.

/** Delay of the first chunk, in s: slightly late chunks then leave no gap. */
const headStart = 0.08

export class Voice {
  #context: AudioContext | null = null
  #gain: GainNode | null = null
  readonly #playing = new Set<AudioBufferSourceNode>()
  /** When the last chunk ends, on the context's clock. */
  #end = 0
  #loudness = 1

  get on(): boolean {
    return this.#context !== null
  }

  /** Must be called from a user gesture: browsers block sound until then. */
  async turnOn(): Promise<void> {
    if (this.#context) return
    const context = new AudioContext()
    this.#gain = context.createGain()
    this.#gain.gain.value = this.#loudness
    this.#gain.connect(context.destination)
    this.#context = context
    await context.resume()
  }

  turnOff(): void {
    this.#cut()
    void this.#context?.close()
    this.#context = null
    this.#gain = null
  }

  /** 0 to 1. */
  set volume(volume: number) {
    this.#loudness = volume
    if (this.#gain) this.#gain.gain.value = volume
  }

  /** Plays a sound frame. */
  hear(frame: DataView<ArrayBuffer>): void {
    const [context, gain] = [this.#context, this.#gain]
    if (!context || !gain || frame.byteLength < 8) return
    if (frame.getUint8(1) === 1) this.#cut()
    const rate = frame.getUint32(4, true)
    const samples = Math.floor((frame.byteLength - 8) / 2)
    // rates that every browser supports
    if (samples === 0 || rate < 8000 || rate > 96_000) return
    const buffer = context.createBuffer(1, samples, rate)
    const channel = buffer.getChannelData(0)
    for (let at = 0; at < samples; at += 1) channel[at] = frame.getInt16(8 + 2 * at, true) / 32_768
    const source = context.createBufferSource()
    source.buffer = buffer
    source.connect(gain)
    if (this.#end < context.currentTime) this.#end = context.currentTime + headStart
    source.start(this.#end)
    this.#end += buffer.duration
    this.#playing.add(source)
    source.onended = () => this.#playing.delete(source)
  }

  #cut(): void {
    for (const source of this.#playing) source.stop()
    this.#playing.clear()
    this.#end = 0
  }
}
