/**
 * Opens the access path to the rows of a filter: bounds of heights from numbers, locations from unique
 * values, the store's index for values it has; combined for `_and`, merged for `_or`; every stored
 * height where nothing narrows it.
 */
import {
  allHeights,
  clipHeights,
  type HeightRanges,
  intersectHeights,
  rangeOfHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import type { SeenBlocks } from '../../store/store.ts'
import { maxHeldRows } from '../budget/limits.ts'
import { type Entity, followsView } from '../catalog/entity.ts'
import type { FilterCondition } from '../filter/condition.ts'
import type { Session } from '../rows/block-view.ts'
import type { ViewRows } from '../rows/view-rows.ts'
import {
  bothCursor,
  candidateLocations,
  eitherCursor,
  emptyCursor,
  type HeightCursor,
  type IndexedValue,
  linkedCursor,
  locationsCursor,
  rangesCursor,
  termCursor,
  viewCursor,
} from './height-cursor.ts'
import { type Hint, hintOf, type UniqueHint } from './index-hint.ts'
import { type Bounds, charge, hashCost, isScanCheaper, lookupCost } from './lookup-cost.ts'
import type { MatchLocation } from './spans.ts'
import { checkCoverage } from './view-coverage.ts'

/** Values looked up one after the other without checking whether a full scan is cheaper. */
const fewLookups = 256
/** Values whose locations are followed as they come; those of more are found first and then sorted. */
const fewTerms = 64

/** What an access path is made with. */
interface Access {
  readonly session: Session
  /** The blocks that rows of the entity can be in. */
  readonly blocks: SeenBlocks
  /** The heights that count; all others are left out. */
  readonly window: HeightRanges
  readonly descending: boolean
}

/** A cursor over the heights where rows may match. */
export async function openAccessPath(
  asked: Omit<Access, 'blocks'>,
  entity: Entity,
  condition: FilterCondition,
): Promise<HeightCursor> {
  const access = { ...asked, blocks: seenBlocks(asked.session, entity) }
  const hint = hintOf(entity, condition)
  const { view } = entity
  if (view !== undefined) await checkCoverage(access.session, entity, view, condition)
  await access.session.budget.yieldIfDue()
  const cursor = await cursorOf(access, hint)
  const isNarrow = cursor !== 'all' && access.window === allHeights
  const parts = isNarrow ? [] : [rangesCursor(access.window, access.descending)]
  if (view !== undefined && !isOfRows(hint)) parts.push(await openView(access, view))
  if (cursor !== 'all') parts.push(cursor)
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : bothCursor(parts)
}

/** Whether a hint on rows of a View names those blocks alone of which it has any. */
function isOfRows(hint: Hint): boolean {
  return hint.type === 'rows' || (hint.type === 'and' && hint.parts.some(isOfRows))
}

/** Blocks of which a View has no row are not read. */
async function openView(access: Access, view: ViewRows) {
  const { session, descending } = access
  const bounds = storedBounds(access)
  if (bounds === null) return emptyCursor
  await charge(session, lookupCost(bounds))
  return viewCursor(session.snapshot, view, bounds, descending)
}

async function cursorOf(access: Access, hint: Hint): Promise<HeightCursor | 'all'> {
  switch (hint.type) {
    case 'all':
      return 'all'
    case 'none':
      return emptyCursor
    case 'heights':
      return rangesCursor(hint.heights, access.descending)
    case 'term':
    case 'rows':
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
      return locationsCursor(await findLocations(access, hint), access.descending)
  }
}

async function openAnd(access: Access, parts: readonly Hint[]): Promise<HeightCursor> {
  let { window } = access
  for (const part of parts) {
    if (part.type === 'heights') window = intersectHeights(window, part.heights)
    await access.session.budget.yieldIfDue()
  }
  if (window.length === 0) return emptyCursor
  const cursors: HeightCursor[] = [rangesCursor(window, access.descending)]
  for (const part of parts) {
    if (part.type === 'heights') continue
    const cursor = await cursorOf({ ...access, window }, part)
    if (cursor !== 'all') cursors.push(cursor)
  }
  return bothCursor(cursors)
}

/** All heights make one cursor, and so do all unique values, and values beyond `fewTerms`. */
async function openOr(access: Access, parts: readonly Hint[]): Promise<HeightCursor | 'all'> {
  const { descending } = access
  const bounds = storedBounds(access)
  if (bounds === null) return emptyCursor
  const lookups = parts.filter(isLookup).length
  if (lookups > fewLookups && (await isScanCheaper(access, bounds, lookups))) return 'all'
  const isLocated = (hint: Hint): hint is UniqueHint | LookupHint =>
    isIdentity(hint) || (lookups > fewTerms && isLookup(hint))
  const heights = parts.flatMap((part) => (part.type === 'heights' ? part.heights : []))
  const located = parts.filter(isLocated)
  const locations = await allLocations(access, located)
  if (locations === null) return 'all'
  const cursors: HeightCursor[] = []
  for (const part of parts) {
    if (part.type === 'heights' || isLocated(part)) continue
    const cursor = await cursorOf(access, part)
    if (cursor === 'all') return 'all'
    cursors.push(cursor)
  }
  if (heights.length > 0) cursors.push(rangesCursor(uniteHeights(heights), descending))
  if (locations.length > 0) cursors.push(locationsCursor(locations, descending))
  return eitherCursor(cursors, descending)
}

/** The locations that hints name; null where they are more than may be held. */
async function allLocations(
  access: Access,
  hints: readonly (UniqueHint | LookupHint)[],
): Promise<MatchLocation[] | null> {
  const locations: MatchLocation[] = []
  for (const hint of hints) {
    for (const location of await findLocations(access, hint)) locations.push(location)
    if (locations.length > maxHeldRows) return null
  }
  return locations
}

const isIdentity = (hint: Hint): hint is UniqueHint =>
  hint.type === 'block' || hint.type === 'log' || hint.type === 'unique'

/** Hints that the index resolves, rather than the hash of a block. */
type LookupHint = Extract<Hint, { readonly type: 'unique' | 'term' | 'rows' }>

const isLookup = (hint: Hint): hint is LookupHint =>
  hint.type === 'unique' || hint.type === 'term' || hint.type === 'rows'

// --- Lookups --------------------------------------------------------------------------------

async function openTerm(access: Access, hint: IndexedValue): Promise<HeightCursor> {
  const { session, descending } = access
  const bounds = storedBounds(access)
  if (bounds === null) return emptyCursor
  await charge(session, lookupCost(bounds))
  const cursor = termCursor(session.snapshot, hint, bounds, descending)
  cursor.seek(descending ? bounds[1] : bounds[0])
  return cursor
}

/** All locations that a hint names. */
async function findLocations(
  access: Access,
  hint: UniqueHint | LookupHint,
): Promise<readonly MatchLocation[]> {
  const { session, blocks, descending } = access
  if (isLookup(hint)) {
    const bounds = storedBounds(access)
    if (bounds === null) return []
    await charge(session, lookupCost(bounds))
    return [...candidateLocations(session.snapshot, hint, bounds, descending)]
  }
  await charge(session, hashCost)
  const height = blocks.heightOf(hint.hash)
  if (height === undefined) return []
  return hint.type === 'block'
    ? [{ type: 'block', height }]
    : [{ type: 'log', height, logIndex: hint.logIndex }]
}

/** The blocks that rows of an entity can be in: those of Views may outlive the documents of their block. */
export function seenBlocks({ snapshot }: Session, entity: Entity): SeenBlocks {
  return followsView(entity) ? snapshot.rowBlocks : snapshot
}

/** The lowest and highest height that count and are there; null where there is none. */
export function storedBounds({ blocks, window }: Pick<Access, 'blocks' | 'window'>): Bounds | null {
  const range = blocks.range()
  if (range === null) return null
  const stored = rangeOfHeights(clipHeights(window, range.tail, range.head))
  return stored === null ? null : [stored.tail, stored.head]
}
