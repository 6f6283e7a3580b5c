// Menus of names with titles, in which some options may be unsuitable.

import { select, setText } from '../../ui'
import { reasonsOf } from './combinations'

/** A menu whose options have a name and a title. */
export function menuOf(
  choices: { name: string; title: string }[],
  chosen: string,
  test: string,
  onchange: () => void,
): HTMLSelectElement {
  const element = select(choices.map(option), chosen, () => {
    element.title = element.selectedOptions[0]?.textContent ?? ''
    onchange()
  })
  element.title = element.selectedOptions[0]?.textContent ?? ''
  element.dataset.test = test
  return element
}

function option({ name, title }: { name: string; title: string }): { value: string; label: string } {
  // titles often start with the name in different case
  return { value: name, label: title.toLowerCase().startsWith(name.toLowerCase()) ? title : `${name}: ${title}` }
}

/** Disables the unsuitable options, and says why. */
export function offer(menu: HTMLSelectElement, hint: HTMLElement, objectionTo: (name: string) => string | null): void {
  const objections = [...menu.options].map((option) => ({ name: option.value, reason: objectionTo(option.value) }))
  for (const [at, option] of [...menu.options].entries()) option.disabled = objections[at]?.reason !== null
  setText(hint, reasonsOf(objections))
  hint.hidden = hint.textContent === ''
  menu.title = menu.selectedOptions[0]?.textContent ?? ''
}
