// The robot's camera picture, with faces as buttons.

import { type FaceBox, Frame, type Puppet } from '../../api'
import { button, card, h, setText } from '../../ui'
import { type Faces, faces } from './faces'
import type { OperatorPanel, Widget } from './operator-panel'
import { controls } from './widgets'

/** Time without a picture after which a message is shown, in ms. */
const timeoutMs = 3000

export function eyes(panel: OperatorPanel): Widget {
  return new Eyes(panel)
}

class Eyes implements Widget {
  readonly element: HTMLElement
  readonly #panel: OperatorPanel
  readonly #naming: Faces
  readonly #canvas = h('canvas', {
    width: 640,
    height: 480,
    role: 'img',
    'aria-label': 'What the robot sees',
    'data-test': 'eye-video',
  })
  readonly #context = this.#canvas.getContext('2d')
  readonly #boxes = h('div', { class: 'pp-faces' })
  readonly #words = h('span', null, 'Waiting for the first picture.')
  readonly #lacking = h('div', { class: 'pp-lacking' }, this.#words, h('a', { href: '#health' }, 'See the Health page'))
  readonly #state = h('span', { class: 'pp-quiet', 'data-test': 'eye-state' }, 'No picture')
  readonly #shown = new Map<number, HTMLButtonElement>()
  readonly #unsubscribe: () => void
  readonly #timer: ReturnType<typeof setInterval>
  #decoding = false
  #waiting: Blob | null = null
  #last = -Infinity
  #pictures = 0
  #closed = false

  constructor(panel: OperatorPanel) {
    this.#panel = panel
    this.#naming = faces(panel)
    this.#unsubscribe = panel.connection.onFrame(Frame.video, (frame) => this.#receive(frame))
    this.#timer = setInterval(() => this.#showRate(), 1000)
    const names = button('Names', () => this.#naming.open(null), { title: 'Names of known faces', test: 'names' })
    this.element = card(
      'Camera',
      controls(
        h('div', { class: 'pp-eye' }, this.#canvas, this.#lacking, this.#boxes),
        h('div', { class: 'pp-line' }, this.#state, names),
        this.#naming.element,
      ),
    )
  }

  show(puppet: Puppet): void {
    for (const face of puppet.faces) this.#place(face)
    for (const [id, spot] of this.#shown) {
      if (puppet.faces.some((face) => face.id === id)) continue
      spot.remove()
      this.#shown.delete(id)
    }
    this.#naming.show(puppet)
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
    clearInterval(this.#timer)
  }

  /** Decodes one picture at a time, and queues only the latest: slow machines show fewer pictures, not older ones. */
  #receive(frame: DataView<ArrayBuffer>): void {
    const jpeg = new Uint8Array(frame.buffer, frame.byteOffset + 8, frame.byteLength - 8)
    const picture = new Blob([jpeg], { type: 'image/jpeg' })
    if (this.#decoding) this.#waiting = picture
    else void this.#decode(picture)
  }

  async #decode(picture: Blob): Promise<void> {
    this.#decoding = true
    try {
      const bitmap = await createImageBitmap(picture)
      if (!this.#closed) this.#draw(bitmap)
      bitmap.close()
    } catch {
      this.#words.textContent = 'Failed to decode a picture.'
      this.#lacking.hidden = false
    }
    this.#decoding = false
    const next = this.#waiting
    this.#waiting = null
    if (next && !this.#closed) void this.#decode(next)
  }

  #draw(bitmap: ImageBitmap): void {
    if (this.#canvas.width !== bitmap.width || this.#canvas.height !== bitmap.height) {
      this.#canvas.width = bitmap.width
      this.#canvas.height = bitmap.height
    }
    this.#context?.drawImage(bitmap, 0, 0)
    if (this.#lacking.hidden === false) setText(this.#state, 'Receiving pictures')
    this.#last = performance.now()
    this.#pictures += 1
    this.#lacking.hidden = true
  }

  #showRate(): void {
    const late = performance.now() - this.#last > timeoutMs
    setText(this.#state, late ? 'No picture' : `${this.#pictures} pictures per second`)
    this.#pictures = 0
    if (!late) return
    this.#lacking.hidden = false
    const seen = this.#last > 0
    const why = this.#panel.faults.of('camera') ?? (seen ? '' : 'The camera may be off, or still starting.')
    setText(this.#words, `${seen ? 'No more pictures.' : 'No picture yet.'} ${why}`.trim())
  }

  #place(face: FaceBox): void {
    let spot = this.#shown.get(face.id)
    if (!spot) {
      spot = h('button', { type: 'button', class: 'pp-face', 'data-test': 'face-box' }, h('span'))
      this.#boxes.append(spot)
      this.#shown.set(face.id, spot)
    }
    const called = face.name === '' ? 'Name?' : face.name
    const label = spot.firstElementChild
    if (label) setText(label, called)
    spot.setAttribute('aria-label', face.name === '' ? 'Unknown face: name it' : `${called}: rename`)
    spot.title = `${Math.round(face.confidence * 100)} % confidence that this is a face`
    spot.onclick = () => this.#naming.open(face)
    // keep names inside the picture
    const middle = face.x + face.width / 2
    spot.dataset.edge = middle < 0.2 ? 'left' : middle > 0.8 ? 'right' : 'none'
    spot.style.left = `${face.x * 100}%`
    spot.style.top = `${face.y * 100}%`
    spot.style.width = `${face.width * 100}%`
    spot.style.height = `${face.height * 100}%`
  }
}
