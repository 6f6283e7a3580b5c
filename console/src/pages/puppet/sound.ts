// The robot's voice settings, and its sound in this browser.

import { Frame } from '../../api'
import { button, card, h, slider } from '../../ui'
import type { OperatorPanel, Widget } from './operator-panel'
import { tuner } from './tuner'
import { Voice } from './voice'
import { controls } from './widgets'

export function sound(panel: OperatorPanel): Widget {
  const volume = tuner(panel, {
    label: 'Volume',
    min: 0,
    max: 1,
    step: 0.01,
    value: 1,
    test: 'volume',
    command: (value) => ({ volume: value }),
  })
  const pitch = tuner(panel, {
    label: 'Pitch',
    min: 0.5,
    max: 2,
    step: 0.01,
    value: 1,
    test: 'pitch',
    command: (value) => ({ pitch: value }),
  })
  const local = localSound(panel)
  return {
    element: card(
      'Voice',
      controls(h('div', { class: 'pp-sliders' }, volume.element, pitch.element)),
      ...local.elements,
    ),
    show(puppet) {
      volume.show(puppet.volume)
      pitch.show(puppet.pitch)
    },
    close: local.close,
  }
}

/** Plays the robot's voice in this browser: a switch, and a volume of its own. */
function localSound(panel: OperatorPanel): { elements: HTMLElement[]; close(): void } {
  const voice = new Voice()
  const volume = slider({
    label: 'Local volume',
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
    toggle.textContent = voice.on ? 'Sound on' : 'Sound off'
    toggle.setAttribute('aria-pressed', String(voice.on))
    words.textContent = voice.on
      ? 'This browser plays the robot’s voice.'
      : 'Click to hear the robot’s voice in this browser.'
  }
  draw()
  const unsubscribe = panel.connection.onFrame(Frame.sound, (frame) => voice.hear(frame))

  return {
    elements: [h('div', { class: 'pp-sliders' }, toggle, volume.element), words],
    close() {
      unsubscribe()
      voice.turnOff()
    },
  }
}
