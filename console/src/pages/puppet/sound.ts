// The voice: how the robot speaks, and whether this browser plays it.

import { Frame } from '../../api'
import { button, card, h, slider } from '../../ui'
import type { OperatorPanel, Widget } from './operator-panel'
import { tuner } from './tuner'
import { Voice } from './voice'
import { controls } from './widgets'

export function sound(panel: OperatorPanel): Widget {
  const voice = new Voice()
  const volume = tuner(panel, {
    label: 'Volume',
    min: 0,
    max: 1,
    step: 0.01,
    value: 1,
    test: 'volume',
    order: (value) => ({ volume: value }),
  })
  const pitch = tuner(panel, {
    label: 'Pitch',
    min: 0.5,
    max: 2,
    step: 0.01,
    value: 1,
    test: 'pitch',
    order: (value) => ({ pitch: value }),
  })
  const here = slider({
    label: 'Volume here',
    min: 0,
    max: 1,
    step: 0.01,
    value: 1,
    oninput: (value) => {
      voice.volume = value
    },
  })
  const words = h('p', { class: 'pp-quiet' })
  const toggle = button(
    '',
    async () => {
      if (voice.on) voice.turnOff()
      else await voice.turnOn()
      draw()
    },
    { test: 'sound' },
  )
  toggle.classList.add('pp-toggle')

  function draw(): void {
    toggle.textContent = voice.on ? 'Sound is on here' : 'Sound is off here'
    toggle.setAttribute('aria-pressed', String(voice.on))
    words.textContent = voice.on
      ? 'This browser plays the robot’s voice.'
      : 'Browsers stay silent until you click: switch it on to hear the robot’s voice.'
  }
  draw()
  const unsubscribe = panel.connection.onFrame(Frame.sound, (frame) => voice.hear(frame))

  return {
    element: card(
      'Voice',
      controls(h('div', { class: 'pp-sliders' }, volume.element, pitch.element)),
      h('div', { class: 'pp-sliders' }, toggle, here.element),
      words,
    ),
    show(puppet) {
      volume.show(puppet.volume)
      pitch.show(puppet.pitch)
    },
    close() {
      unsubscribe()
      voice.turnOff()
    },
  }
}
