/**
 * Opens the way to the rows of a filter: bounds of heights from numbers, places from identities, the
 * store's index for values it knows; combined for `_and`, merged for `_or`; every stored height where
 * nothing narrows.
 */
import type { TermKind } from '../primitives/index-terms.ts'
import type { Session } from './block-view.ts'
import type { Condition } from './condition.ts'
import type { Entity } from './entity.ts'
import {
  bothCursor,
  eitherCursor,
  emptyCursor,
  type HeightCursor,
  intervalCursor,
  linkedCursor,
  placesCursor,
  termCursor,
  toPlaces,
} from './height-cursor.ts'
import { type Hint, hintOf, type Identity } from './index-hint.ts'
import { everything, type Interval, type Intervals, intersect, union } from './intervals.ts'
import type { Place } from './place.ts'

/** What looking one value up costs, in documents: a page of the index for each span of blocks. */
const lookUpCost = 8

/** What an access path is made with. */
export interface Access {
  readonly session: Session
  /** The heights that count; all others are left out. */
  readonly window: Intervals
  readonly descending: boolean
}

/** A cursor over the heights where rows may match. */
export async function openAccessPath(
  access: Access,
  entity: Entity,
  condition: Condition,
): Promise<HeightCursor> {
  const hint = hintOf(entity, condition)
  await access.session.work.pause()
  const cursor = await cursorOf(access, hint)
  if (cursor !== 'all' && access.window === everything) return cursor
  const inWindow = intervalCursor(access.window, access.descending)
  return cursor === 'all' ? inWindow : bothCursor([inWindow, cursor])
}

async function cursorOf(access: Access, hint: Hint): Promise<HeightCursor | 'all'> {
  switch (hint.type) {
    case 'all':
      return 'all'
    case 'none':
      return emptyCursor
    case 'heights':
      return intervalCursor(hint.heights, access.descending)
    case 'term':
      return await openTerm(access, hint)
    case 'linked': {
      const cursor = await cursorOf(access, hint.part)
      return cursor === 'all' ? cursor : linkedCursor(cursor, hint.section)
    }
    case 'and':
      return await openAnd(access, hint.parts)
    case 'or':
      return await openOr(access, hint.parts)
    default:
      return placesCursor(await findPlaces(access, hint), access.descending)
  }
}

async function openAnd(access: Access, parts: readonly Hint[]): Promise<HeightCursor> {
  const window = parts.reduce<Intervals>(
    (set, part) => (part.type === 'heights' ? intersect(set, part.heights) : set),
    access.window,
  )
  if (window.length === 0) return emptyCursor
  const cursors: HeightCursor[] = [intervalCursor(window, access.descending)]
  for (const part of parts) {
    if (part.type === 'heights') continue
    const cursor = await cursorOf({ ...access, window }, part)
    if (cursor !== 'all') cursors.push(cursor)
  }
  return bothCursor(cursors)
}

/** However many heights and identities are named, they make one cursor each. */
async function openOr(access: Access, parts: readonly Hint[]): Promise<HeightCursor | 'all'> {
  const cursors: HeightCursor[] = []
  const heights: Interval[] = []
  const places: Place[] = []
  for (const part of parts) {
    if (part.type === 'heights') heights.push(...part.heights)
    else if (isIdentity(part))
      for (const place of await findPlaces(access, part)) places.push(place)
    else {
      const cursor = await cursorOf(access, part)
      if (cursor === 'all') return 'all'
      cursors.push(cursor)
    }
  }
  if (heights.length > 0) cursors.push(intervalCursor(union(heights), access.descending))
  if (places.length > 0) cursors.push(placesCursor(places, access.descending))
  return eitherCursor(cursors, access.descending)
}

const isIdentity = (hint: Hint): hint is Identity =>
  hint.type === 'block' || hint.type === 'log' || hint.type === 'unique'

// --- Looking up -----------------------------------------------------------------------------

async function openTerm(
  access: Access,
  hint: { readonly kind: TermKind; readonly value: Uint8Array },
): Promise<HeightCursor> {
  const { session, descending } = access
  const bounds = envelope(access)
  if (bounds === null) return emptyCursor
  await payLookUp(session)
  const cursor = termCursor(session.snapshot, hint, bounds, descending)
  cursor.seek(descending ? bounds[1] : bounds[0])
  return cursor
}

/** All places of something there is only one of. */
async function findPlaces(access: Access, hint: Identity): Promise<readonly Place[]> {
  const { session, descending } = access
  const { snapshot } = session
  await payLookUp(session)
  if (hint.type === 'unique') {
    const bounds = envelope(access)
    if (bounds === null) return []
    const found = snapshot.candidates(hint.kind, hint.value, bounds[0], bounds[1], descending)
    return [...toPlaces(found, hint.kind, hint.value)]
  }
  const height = snapshot.heightOf(hint.hash)
  if (height === undefined) return []
  return hint.type === 'block'
    ? [{ type: 'block', height }]
    : [{ type: 'log', height, logIndex: hint.logIndex }]
}

async function payLookUp({ work }: Session): Promise<void> {
  work.look(lookUpCost)
  if (work.isDue()) await work.turn()
}

/** The lowest and highest height that count and are stored. */
function envelope({ session, window }: Access): readonly [number, number] | null {
  const range = session.snapshot.range()
  if (range === null) return null
  const stored = intersect(window, [[range.tail, range.head]])
  const [first, last] = [stored[0], stored.at(-1)]
  return first === undefined || last === undefined ? null : [first[0], last[1]]
}
