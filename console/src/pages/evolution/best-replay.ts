// Replays the best individual of a run or of one generation in its arena.

import type { Replay, RunDetail, RunSummary } from '../../api'
import type { Connection } from '../../connection'
import { errorMessage, format, h, notice, select, setText } from '../../ui'
import { arenaPlayer } from './arena-player'

const EVALUATING = 'Evaluating …'
const OF_ALL = 'Best of all generations'
/** Of two populations, as a fitness that depends on the other one is no measure over generations. */
const OF_LAST = 'Best of the last generation'

export class BestReplay {
  readonly element: HTMLElement
  readonly #connection: Connection
  readonly #player = arenaPlayer()
  readonly #generation = h('input', {
    type: 'number',
    min: '1',
    step: '1',
    value: '1',
    inputMode: 'numeric',
    required: true,
    'aria-label': 'Generation',
    disabled: true,
    'data-test': 'replay-generation',
  })
  readonly #which = select(
    [
      { value: 'all', label: OF_ALL },
      { value: 'one', label: 'Best of generation' },
    ],
    'all',
    (value) => this.#selectWhich(value),
  )
  readonly #show = h('button', { class: 'plain', type: 'submit', 'data-test': 'replay-show' }, 'Show')
  readonly #news = h('p', { class: 'hint watch-news', role: 'status', 'data-test': 'replay-news' }, '')
  readonly #choices: HTMLElement
  #run: RunSummary | null = null
  #shown: Replay | null = null
  #asked = false

  constructor(connection: Connection) {
    this.#connection = connection
    this.#which.setAttribute('aria-label', 'Which individual')
    this.#which.dataset.test = 'replay-which'
    const onsubmit = (event: SubmitEvent) => {
      event.preventDefault()
      void this.#ask()
    }
    this.#choices = h('form', { class: 'watch-choices', onsubmit }, this.#which, this.#generation, this.#show)
    this.element = h(
      'section',
      { class: 'card watch', 'aria-label': 'In the arena' },
      h('h2', null, 'In the arena'),
      this.#choices,
      this.#news,
      this.#player.element,
    )
  }

  /** Updates the summary, or switches to another run. */
  summary(run: RunSummary): void {
    const another = this.#run?.name !== run.name
    this.#run = run
    if (another) this.#clear(run)
    this.#generation.max = String(Math.max(1, run.generation))
    this.#show.disabled = this.#which.disabled = run.generation === 0
    if (!run.here) {
      setText(this.#news, `This run is evaluated elsewhere (${run.place}), so it cannot be replayed here.`)
    } else if (run.generation === 0) {
      setText(this.#news, 'The best individual can be replayed after the first generation.')
    } else if (!this.#asked) void this.#ask()
  }

  /** Reports a better individual than the one shown, or later ones. */
  detail({ populations }: RunDetail): void {
    const [best] = this.#which.options
    if (best) setText(best, populations.length > 1 ? OF_LAST : OF_ALL)
    const net = populations[0]?.net
    if (!this.#shown || !net || this.#which.value !== 'all') return
    if (populations.length > 1) {
      const { generation } = this.#shown
      if (net.generation > generation) setText(this.#news, `Generation ${net.generation} is finished: press Show.`)
    } else if (net.fitness > (this.#shown.robots[0]?.fitness ?? net.fitness)) {
      const fitness = format(net.fitness, 4)
      setText(this.#news, `Generation ${net.generation} has a better individual (${fitness}): press Show.`)
    }
  }

  replay(replay: Replay): void {
    if (replay.run !== this.#run?.name) return
    this.#shown = replay
    setText(this.#news, '')
    this.#player.show(replay)
  }

  close(): void {
    this.#player.close()
  }

  #selectWhich(value: string): void {
    this.#generation.disabled = value === 'all'
    if (value === 'all') void this.#ask()
    else this.#generation.focus()
  }

  #clear(run: RunSummary): void {
    this.#shown = null
    this.#asked = false
    this.#which.value = 'all'
    this.#generation.value = '1'
    this.#generation.disabled = true
    this.#player.show(null)
    setText(this.#news, '')
    this.#player.element.hidden = this.#choices.hidden = !run.here
  }

  async #ask(): Promise<void> {
    const run = this.#run
    if (!run?.here || run.generation === 0) return
    this.#asked = true
    const generation = this.#which.value === 'one' ? { generation: this.#generation.valueAsNumber } : {}
    try {
      setText(this.#news, EVALUATING)
      await this.#connection.request({ do: 'replay', run: run.name, ...generation })
      if (this.#news.textContent === EVALUATING) setText(this.#news, '')
    } catch (error) {
      setText(this.#news, '')
      notice(errorMessage(error), 'error')
    }
  }
}
