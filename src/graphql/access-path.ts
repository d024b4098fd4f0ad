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
import { everything, type Intervals, intersect, union } from './intervals.ts'
import { maxHeldRows } from './limits.ts'
import { type Bounds, isScanCheaper, lookUpCost } from './look-up-cost.ts'
import type { Place } from './place.ts'

/** Values looked up one after the other without asking whether going through all documents takes less. */
const fewLookUps = 256
/** Values whose places are followed as they come; those of more are found first and then sorted. */
const fewTerms = 64

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
  let { window } = access
  for (const part of parts) {
    if (part.type === 'heights') window = intersect(window, part.heights)
    await access.session.work.pause()
  }
  if (window.length === 0) return emptyCursor
  const cursors: HeightCursor[] = [intervalCursor(window, access.descending)]
  for (const part of parts) {
    if (part.type === 'heights') continue
    const cursor = await cursorOf({ ...access, window }, part)
    if (cursor !== 'all') cursors.push(cursor)
  }
  return bothCursor(cursors)
}

/** However many heights and identities are named, they make one cursor each, and so do many values. */
async function openOr(access: Access, parts: readonly Hint[]): Promise<HeightCursor | 'all'> {
  const { session, descending } = access
  const bounds = envelope(access)
  if (bounds === null) return emptyCursor
  const lookUps = parts.filter(isLookUp).length
  if (lookUps > fewLookUps && (await isScanCheaper(session, bounds, lookUps))) return 'all'
  const isPlaced = (hint: Hint): hint is Identity | LookUp =>
    isIdentity(hint) || (lookUps > fewTerms && isLookUp(hint))
  const heights = parts.flatMap((part) => (part.type === 'heights' ? part.heights : []))
  const placed = parts.filter(isPlaced)
  const places = await allPlaces(access, placed)
  if (places === null) return 'all'
  const cursors: HeightCursor[] = []
  for (const part of parts) {
    if (part.type === 'heights' || isPlaced(part)) continue
    const cursor = await cursorOf(access, part)
    if (cursor === 'all') return 'all'
    cursors.push(cursor)
  }
  if (heights.length > 0) cursors.push(intervalCursor(union(heights), descending))
  if (places.length > 0) cursors.push(placesCursor(places, descending))
  return eitherCursor(cursors, descending)
}

/** The places that hints name; null where they are more than may be held. */
async function allPlaces(
  access: Access,
  hints: readonly (Identity | LookUp)[],
): Promise<Place[] | null> {
  const places: Place[] = []
  for (const hint of hints) {
    for (const place of await findPlaces(access, hint)) places.push(place)
    if (places.length > maxHeldRows) return null
  }
  return places
}

const isIdentity = (hint: Hint): hint is Identity =>
  hint.type === 'block' || hint.type === 'log' || hint.type === 'unique'

/** What the index is asked for, rather than the block that a hash names. */
type LookUp = Extract<Hint, { readonly type: 'unique' | 'term' }>

const isLookUp = (hint: Hint): hint is LookUp => hint.type === 'unique' || hint.type === 'term'

// --- Looking up -----------------------------------------------------------------------------

async function openTerm(
  access: Access,
  hint: { readonly kind: TermKind; readonly value: Uint8Array },
): Promise<HeightCursor> {
  const { session, descending } = access
  const bounds = envelope(access)
  if (bounds === null) return emptyCursor
  await pay(session, lookUpCost(bounds))
  const cursor = termCursor(session.snapshot, hint, bounds, descending)
  cursor.seek(descending ? bounds[1] : bounds[0])
  return cursor
}

/** All places that a hint names. */
async function findPlaces(access: Access, hint: Identity | LookUp): Promise<readonly Place[]> {
  const { session, descending } = access
  const { snapshot } = session
  if (isLookUp(hint)) {
    const bounds = envelope(access)
    if (bounds === null) return []
    await pay(session, lookUpCost(bounds))
    const found = snapshot.candidates(hint.kind, hint.value, bounds[0], bounds[1], descending)
    return [...toPlaces(found, hint.kind, hint.value)]
  }
  await pay(session, hashCost)
  const height = snapshot.heightOf(hint.hash)
  if (height === undefined) return []
  return hint.type === 'block'
    ? [{ type: 'block', height }]
    : [{ type: 'log', height, logIndex: hint.logIndex }]
}

/** What finding a block by its hash takes, in documents. */
const hashCost = 8

async function pay({ work }: Session, documents: number): Promise<void> {
  work.look(documents)
  if (work.isDue()) await work.turn()
}

/** The lowest and highest height that count and are stored. */
function envelope({ session, window }: Access): Bounds | null {
  const range = session.snapshot.range()
  if (range === null) return null
  const stored = intersect(window, [[range.tail, range.head]])
  const [first, last] = [stored[0], stored.at(-1)]
  return first === undefined || last === undefined ? null : [first[0], last[1]]
}
