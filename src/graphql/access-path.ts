/**
 * Chooses how to reach the rows of a filter: bounds of heights from numbers and hashes, the store's
 * index for values it knows, both combined for `_and`, merged for `_or`; every stored height where
 * nothing narrows.
 */
import type { TermKind } from '../primitives/index-terms.ts'
import type { Candidate } from '../store/store.ts'
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
} from './height-cursor.ts'
import { type Hint, hintOf } from './index-hint.ts'
import { everything, type Intervals, intersect } from './intervals.ts'
import { logCursor } from './log-cursor.ts'

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
  const cursor = await cursorOf(access, hintOf(entity, condition, access.session.snapshot))
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
    case 'log':
      return logCursor(hint.height, hint.logIndex, access.descending)
    case 'term':
      return await termHint(access, hint)
    case 'linked': {
      const cursor = await cursorOf(access, hint.part)
      return cursor === 'all' ? cursor : linkedCursor(cursor, hint.section)
    }
    case 'and':
      return await andHint(access, hint.parts)
    case 'or':
      return await orHint(access, hint.parts)
  }
}

async function andHint(access: Access, parts: readonly Hint[]): Promise<HeightCursor> {
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

async function orHint(access: Access, parts: readonly Hint[]): Promise<HeightCursor | 'all'> {
  const cursors: HeightCursor[] = []
  for (const part of parts) {
    const cursor = await cursorOf(access, part)
    if (cursor === 'all') return 'all'
    cursors.push(cursor)
  }
  return eitherCursor(cursors, access.descending)
}

interface TermHint {
  readonly kind: TermKind
  readonly value: Uint8Array
}

/** Values that one document has; all their places are known after one look. */
const unique: ReadonlySet<TermKind> = new Set(['transactionHash', 'cid', 'blockHash'])

async function termHint(access: Access, { kind, value }: TermHint): Promise<HeightCursor> {
  const { session, descending } = access
  const bounds = envelope(access)
  if (bounds === null) return emptyCursor
  session.work.look(lookUpCost)
  if (session.work.isDue()) await session.work.turn()
  if (!unique.has(kind)) {
    const cursor = termCursor(session.snapshot, { kind, value }, bounds, descending)
    cursor.seek(descending ? bounds[1] : bounds[0])
    return cursor
  }
  const places: Candidate[] = [
    ...session.snapshot.candidates(kind, value, bounds[0], bounds[1], descending),
  ]
  const needle = kind === 'cid' ? null : value
  return places.length === 0 ? emptyCursor : placesCursor(places, needle, descending)
}

/** The lowest and highest height that count and are stored. */
function envelope({ session, window }: Access): readonly [number, number] | null {
  const range = session.snapshot.range()
  if (range === null) return null
  const stored = intersect(window, [[range.tail, range.head]])
  const [first, last] = [stored[0], stored.at(-1)]
  return first === undefined || last === undefined ? null : [first[0], last[1]]
}
