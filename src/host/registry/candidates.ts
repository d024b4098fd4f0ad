/**
 * The registered Views that a Host knows of: how each stands in the lists, which of them may have a place, and what is
 * shown of the others.
 */
import type { ListedView, RefusedView } from '../../registry/listed-view.ts'
import type { OtherView } from '../other-view.ts'
import { isLocal } from '../views/hosted-view.ts'
import { createCatalogue } from './catalogue.ts'
import { toOther, toUnreadable } from './not-served.ts'
import type { Outcomes } from './outcomes.ts'
import type { Candidate } from './places.ts'
import type { FilteredView, Standing } from './view-filter.ts'
import { hostedOf, type ViewOfHost } from './views-of-host.ts'

interface CandidateParts {
  readonly outcomes: Pick<Outcomes, 'of'>
  /** How a View stands in the lists of this moment. */
  readonly filter: (view: FilteredView) => Standing
}

export interface Candidates {
  /** Views that were listed or registered. Returns how many of them were not known. */
  add(views: readonly ListedView[]): number
  /** One of the chain's Views that cannot be read. */
  addUnreadable(view: RefusedView): void
  /** Forgets what could not be read before the list that has ended began. */
  listEnded(): void
  /** As the chain lists it. */
  get(id: string): ListedView | undefined
  /** By what its bytes have proven, where they were fetched before: the chain reports one ID, and maybe another name. */
  standing(view: ListedView): Standing
  /** All that may have a place: of those that the Host has, and of the others. */
  list(views: readonly ViewOfHost[]): Candidate[]
  /** What is known besides those that the Host has. */
  others(views: readonly ViewOfHost[]): OtherView[]
}

/** Unreadable Views that are listed. */
const maxUnreadable = 100
/** Others that are shown; there may be more that nobody remembers. */
const maxOthers = 1_000

export function createCandidates(parts: CandidateParts): Candidates {
  const catalogue = createCatalogue((view) => classOf(parts, view))
  /** What cannot be read since the last list ended, by what stands where its ID should; and of the list before. */
  let unreadable = new Map<string, RefusedView>()
  let unreadableBefore: ReadonlyMap<string, RefusedView> = new Map()
  const listBeyond = (views: readonly ViewOfHost[]): ListedView[] => {
    const ids = idsOf(views)
    return catalogue.list().filter(({ id }) => !ids.has(id))
  }
  return {
    add: catalogue.add,
    addUnreadable: (view) => {
      if (unreadable.size < maxUnreadable) unreadable.set(view.id, view)
    },
    listEnded: () => {
      unreadableBefore = unreadable
      unreadable = new Map()
    },
    get: catalogue.get,
    standing: (view) => standingOf(parts, view),
    list: (views) => [
      ...servedCandidates(parts, views),
      ...listBeyond(views).flatMap((view) => newCandidate(parts, view)),
    ],
    others: (views) => {
      const ids = idsOf(views)
      const broken = [...new Map([...unreadableBefore, ...unreadable]).values()]
      return [
        // A broken message about a View that was read elsewhere says nothing of that View.
        ...broken
          .filter(({ id }) => !ids.has(id) && catalogue.get(id) === undefined)
          .map(toUnreadable),
        ...listBeyond(views).map((view) => toOtherView(parts, view)),
      ].slice(0, maxOthers)
    },
  }
}

/** Both IDs of each. */
function idsOf(views: readonly ViewOfHost[]): ReadonlySet<string> {
  return new Set(views.flatMap(({ id, address }) => [id, address]))
}

function standingOf(
  { outcomes, filter }: CandidateParts,
  { id, sender, name }: ListedView,
): Standing {
  return filter(outcomes.of(id)?.proven ?? { ids: [id], sender, name })
}

/** Allowed Views are remembered longest; those that cannot be served anyway are forgotten first. */
function classOf(parts: CandidateParts, view: ListedView): number {
  if (!mayTry(parts, view)) return 2
  return standingOf(parts, view) === 'allowed' ? 0 : 1
}

function mayTry(parts: CandidateParts, view: ListedView): boolean {
  const outcome = parts.outcomes.of(view.id)
  return (outcome === null || outcome.state === 'overLimit') && standingOf(parts, view) !== 'denied'
}

/** Registered Views that have a place now, in the order in which they came. */
function servedCandidates({ filter }: CandidateParts, views: readonly ViewOfHost[]): Candidate[] {
  const registered = hostedOf(views).filter((view) => !isLocal(view))
  return registered.flatMap(
    ({ id, address, creator: sender, type, bytes, fields }, order): Candidate[] => {
      const standing = filter({ ids: [id, address], sender, name: type })
      if (standing === 'denied') return []
      return [{ id, isAllowed: standing === 'allowed', isServed: true, order, bytes, fields }]
    },
  )
}

/** None where it is not to be tried. */
function newCandidate(parts: CandidateParts, view: ListedView): Candidate[] {
  if (!mayTry(parts, view)) return []
  const { id, registeredAt: order } = view
  const isAllowed = standingOf(parts, view) === 'allowed'
  const { bytes = 0, fields = 0 } = parts.outcomes.of(id) ?? {}
  return [{ id, isAllowed, isServed: false, order, bytes, fields }]
}

function toOtherView(parts: CandidateParts, view: ListedView): OtherView {
  return toOther(view, parts.outcomes.of(view.id), standingOf(parts, view) === 'denied')
}
