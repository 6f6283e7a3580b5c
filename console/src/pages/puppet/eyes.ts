// The robot's camera picture, with faces as buttons.

import { Frame, type Puppet } from '../../api'
import { button, card, h, setText } from '../../ui'
import { faces } from './faces'
import type { OperatorPanel, Widget } from './operator-panel'
import { controls } from './widgets'

/** Time without a picture after which a message is shown, in ms. */
const timeoutMs = 3000

export function eyes(panel: OperatorPanel): Widget {
  const canvas = h('canvas', {
    width: 640,
    height: 480,
    role: 'img',
    'aria-label': 'Camera',
    'data-test': 'eye-video',
  })
  const context = canvas.getContext('2d')
  const boxes = h('div', { class: 'pp-faces' })
  const words = h('span', null, 'Waiting for the first picture.')
  const lacking = h('div', { class: 'pp-lacking' }, words, h('a', { href: '#health' }, 'See the Health page'))
  const state = h('span', { class: 'pp-quiet', 'data-test': 'eye-state' }, 'No picture')
  const naming = faces(panel)
  const shown = new Map<number, HTMLButtonElement>()

  let decoding = false
  let waiting: Blob | null = null
  let last = -Infinity
  let pictures = 0
  let closed = false

  // decode one picture at a time, and queue only the latest: slow machines show fewer pictures, not older ones
  async function draw(picture: Blob): Promise<void> {
    decoding = true
    try {
      const bitmap = await createImageBitmap(picture)
      if (!closed) {
        if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
          canvas.width = bitmap.width
          canvas.height = bitmap.height
        }
        context?.drawImage(bitmap, 0, 0)
        if (lacking.hidden === false) setText(state, 'Receiving pictures')
        last = performance.now()
        pictures += 1
        lacking.hidden = true
      }
      bitmap.close()
    } catch {
      words.textContent = 'Failed to decode a picture.'
      lacking.hidden = false
    }
    decoding = false
    const next = waiting
    waiting = null
    if (next && !closed) void draw(next)
  }

  const unsubscribe = panel.connection.onFrame(Frame.video, (frame) => {
    const jpeg = new Uint8Array(frame.buffer, frame.byteOffset + 8, frame.byteLength - 8)
    const picture = new Blob([jpeg], { type: 'image/jpeg' })
    if (decoding) waiting = picture
    else void draw(picture)
  })

  const timer = setInterval(() => {
    const late = performance.now() - last > timeoutMs
    setText(state, late ? 'No picture' : `${pictures} pictures per second`)
    pictures = 0
    if (!late) return
    lacking.hidden = false
    const why = panel.faults.of('camera') ?? (last > 0 ? '' : 'The camera may be off, or still starting.')
    setText(words, `${last > 0 ? 'No more pictures.' : 'No picture yet.'} ${why}`.trim())
  }, 1000)

  function place(face: Puppet['faces'][number]): void {
    let spot = shown.get(face.id)
    if (!spot) {
      spot = h('button', { type: 'button', class: 'pp-face', 'data-test': 'face-box' }, h('span'))
      boxes.append(spot)
      shown.set(face.id, spot)
    }
    const called = face.name === '' ? 'Name?' : face.name
    const label = spot.firstElementChild
    if (label) setText(label, called)
    const todo = face.name === '' ? 'Unknown face: name it' : `${called}: rename`
    spot.setAttribute('aria-label', todo)
    spot.title = `${Math.round(face.confidence * 100)} % confidence that this is a face`
    spot.onclick = () => naming.open(face)
    // keep names inside the picture
    const middle = face.x + face.width / 2
    spot.dataset.edge = middle < 0.2 ? 'left' : middle > 0.8 ? 'right' : 'none'
    spot.style.left = `${face.x * 100}%`
    spot.style.top = `${face.y * 100}%`
    spot.style.width = `${face.width * 100}%`
    spot.style.height = `${face.height * 100}%`
  }

  const names = button('Names', () => naming.open(null), { title: 'Names of known faces', test: 'names' })
  const element = card(
    'Camera',
    controls(
      h('div', { class: 'pp-eye' }, canvas, lacking, boxes),
      h('div', { class: 'pp-line' }, state, names),
      naming.element,
    ),
  )
  return {
    element,
    show(puppet) {
      for (const face of puppet.faces) place(face)
      for (const [id, spot] of shown) {
        if (puppet.faces.some((face) => face.id === id)) continue
        spot.remove()
        shown.delete(id)
      }
      naming.show(puppet)
    },
    close() {
      closed = true
      unsubscribe()
      clearInterval(timer)
    },
  }
}
