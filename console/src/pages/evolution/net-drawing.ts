// Drawing of the best individual's network.

import type { Net } from '../../api'
import { fill, format, h } from '../../ui'
import { type Layout, layOut, RADIUS, shortName } from './net-layout'

const SVG = 'http://www.w3.org/2000/svg'

export interface NetDrawing {
  element: HTMLElement
  show(net: Net | null): void
}

export function netDrawing(): NetDrawing {
  const words = h('p', { class: 'quiet', 'data-test': 'net-words' }, '')
  const legend = h('div', { class: 'net-legend' })
  // focusable, so that the keyboard can scroll it
  const holder = h('div', {
    class: 'net-holder',
    tabIndex: 0,
    role: 'group',
    'aria-label': 'The network; arrow keys scroll',
  })
  let shown = ''
  return {
    element: h('div', { class: 'net' }, words, holder, legend),
    show(net) {
      const now = JSON.stringify(net)
      if (now === shown) return
      shown = now
      legend.hidden = holder.hidden = net === null
      if (!net) {
        words.textContent = 'The network appears after the first generation.'
        holder.replaceChildren()
        return
      }
      const layout = layOut(net)
      words.textContent =
        `Individual ${net.individual} of generation ${net.generation}, fitness ${format(net.fitness, 4)}: ` +
        `${net.inputs.length} inputs, ${net.hidden} hidden, ${net.outputs.length} outputs, ` +
        `${net.weights.length} connections.`
      holder.replaceChildren(draw(layout))
      fill(
        legend,
        h('span', null, h('i', { class: 'stroke plus' }), 'excites (+)'),
        h('span', null, h('i', { class: 'stroke minus' }), 'inhibits (−, dashed)'),
        h('span', null, `thickest line: weight ${format(layout.strongest, 2)}`),
        h('span', null, 'Point at a neuron to highlight its connections.'),
      )
    },
  }
}

function draw(layout: Layout): SVGElement {
  const root = svg('svg', {
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    width: layout.width,
    height: layout.height,
    role: 'img',
    'aria-label': 'Network of the best individual',
    'data-test': 'net',
  })
  const names = layout.neurons.map(({ name }) => name)
  const lines = layout.connections.map((connection) => {
    const line = svg('path', {
      d: connection.path,
      class: connection.weight < 0 ? 'minus' : 'plus',
      'stroke-width': connection.width.toFixed(2),
    })
    line.append(
      title(`${names[connection.from] ?? ''} → ${names[connection.to] ?? ''}: ${format(connection.weight, 3)}`),
    )
    return line
  })
  /** Highlights the connections of one neuron; all with null. */
  const alone = (neuron: number | null) => {
    for (const [at, { from, to }] of layout.connections.entries()) {
      lines[at]?.classList.toggle('dim', neuron !== null && from !== neuron && to !== neuron)
    }
  }
  root.append(...lines)
  for (const { number, layer, name, x, y } of layout.neurons) {
    const group = svg('g', { class: 'neuron', 'data-layer': layer })
    group.append(svg('circle', { cx: x, cy: y, r: RADIUS }), title(name))
    if (layer !== 'hidden') {
      const isInput = layer === 'input'
      const label = svg('text', {
        x: isInput ? x - RADIUS - 5 : x + RADIUS + 5,
        y: y + 4,
        'text-anchor': isInput ? 'end' : 'start',
      })
      label.textContent = shortName(name)
      group.append(label)
    }
    group.addEventListener('pointerenter', () => alone(number))
    group.addEventListener('pointerleave', () => alone(null))
    root.append(group)
  }
  return root
}

function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  return element
}

function title(text: string): SVGElement {
  const element = svg('title', {})
  element.textContent = text
  return element
}
