/** The registered Views that a Host knows of, of which it keeps no bytes; bounded, whatever the chain lists. */
import type { ListedView } from '../../registry/listed-view.ts'

interface Catalogue {
  /** Returns how many of these were not known. A listed height replaces one of an event. */
  add(views: readonly ListedView[]): number
  get(id: string): ListedView | undefined
  list(): readonly ListedView[]
}

/** Views that are remembered; there may be twice as many in between. */
const maxKnown = 2_000

/** `classOf` says which Views are forgotten first: those with higher numbers, of equal ones the later registered. */
export function createCatalogue(
  classOf: (view: ListedView) => number,
  most: number = maxKnown,
): Catalogue {
  let known = new Map<string, ListedView>()
  return {
    add(views) {
      const added = views.filter(({ id }) => !known.has(id)).length
      for (const view of views) known.set(view.id, view)
      if (known.size > 2 * most) {
        const classed = [...known.values()].map((view) => ({ view, class: classOf(view) }))
        classed.sort((a, b) => a.class - b.class || a.view.registeredAt - b.view.registeredAt)
        known = new Map(classed.slice(0, most).map(({ view }) => [view.id, view]))
      }
      return added
    },
    get: (id) => known.get(id),
    list: () => [...known.values()],
  }
}
