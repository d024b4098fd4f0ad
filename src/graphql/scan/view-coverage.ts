/**
 * Whether a View has the rows of all blocks that a condition may be about. Who names blocks that it has not is
 * refused, as an empty answer would say that those blocks have no rows. Answers about ranges say what they lack.
 */
import {
  allHeights,
  countHeights,
  type HeightRanges,
  intersectHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import { decodeFailure } from '../../views/rows/block-rows.ts'
import { refusal } from '../budget/limits.ts'
import type { Entity, ViewSource } from '../catalog/entity.ts'
import type { FilterCondition, ValueCondition } from '../filter/condition.ts'
import type { Session } from '../rows/block-view.ts'
import type { ViewQuarantine } from '../rows/missing-rows.ts'
import type { ViewRows } from '../rows/view-rows.ts'
import { type Hint, hintOf } from './index-hint.ts'
import { charge, hashCost } from './lookup-cost.ts'

/** The blocks that a condition may be about. */
interface Reach {
  readonly heights: HeightRanges
  /** By number or docID, rather than by a range. */
  readonly isNamed: boolean
}

/**
 * Throws GraphQLError where the condition names stored blocks of which the View has no rows; notes in the session
 * which blocks it may be about where it names none.
 */
export async function checkCoverage(
  session: Session,
  entity: Entity,
  view: ViewSource,
  condition: FilterCondition,
): Promise<void> {
  if (session.missing === null) return
  const { help } = session.missing
  const missing = session.missing.of(view.slot)
  const ranges = missing.notDone.length + missing.failed.length + missing.lost.length
  if (ranges === 0) return
  await charge(session, Math.ceil(ranges / rangesPerDocument))
  const { heights, isNamed } = await reachOf(session, entity, condition)
  if (!isNamed && countHeights(heights) !== 1) {
    session.missing.note(view, heights)
    return
  }
  const [failed] = intersectHeights(missing.failed, heights)
  const [notDone] = intersectHeights(missing.notDone, heights)
  if (failed !== undefined) throw failedBlock(session, view, failed[0], help)
  const [lost] = intersectHeights(missing.lost, heights)
  if (notDone !== undefined) {
    const quarantine = session.missing.quarantineOf(view)
    if (quarantine !== null) throw leftAlone(view, notDone[0], quarantine, help)
    throw notStored(view.name, notDone[0], help)
  }
  if (lost !== undefined) throw notKept(view.name, lost[0], help)
}

/** Ranges of heights that are compared in the time that a document takes. */
const rangesPerDocument = 64

/** Says why, and so which lens it was. */
function failedBlock(
  { snapshot }: Session,
  { name, slot }: ViewRows,
  height: number,
  help: string,
): Error {
  const stored = snapshot.viewFailure(slot, height)
  const why = stored === undefined ? 'it is tried again' : decodeFailure(stored).message
  return refusal(
    'GRAPHQL_VIEW_FAILED',
    `The View ${name} failed at block ${height}, so that it has no rows of it: ${why}.`,
    help,
  )
}

/** Such rows do not come by themselves, so that nobody is told to wait for them. */
function leftAlone(
  { id, name }: ViewSource,
  height: number,
  { message, block, remedy = 'Mend the View and deploy it anew.' }: ViewQuarantine,
  help: string,
): Error {
  const where = block === null ? '' : ` at block ${block}`
  const retry = `POST /api/v0/views/${id}/retry with the admin token of the Host ends the quarantine.`
  return refusal(
    'GRAPHQL_VIEW_FAILED',
    `The View ${name} has no rows of block ${height}, as it is quarantined since it failed${where}: ${message}.`,
    `${remedy} ${retry} ${help}`,
  )
}

const notStored = (view: string, height: number, help: string): Error =>
  refusal(
    'GRAPHQL_VIEW_NOT_COMPUTED',
    `The rows of the View ${view} at block ${height} are not stored yet.`,
    `Ask again later. ${help}`,
  )

const notKept = (view: string, height: number, help: string): Error =>
  refusal(
    'GRAPHQL_VIEW_NOT_COMPUTED',
    `There are no rows of the View ${view} at block ${height}: they went because the View took too much of the store, or were not computed before the block was pruned.`,
    `Ask a Host that keeps more. ${help}`,
  )

// --- Which blocks ---------------------------------------------------------------------------

const everywhere: Reach = { heights: allHeights, isNamed: false }

async function reachOf(
  session: Session,
  entity: Entity,
  condition: FilterCondition,
): Promise<Reach> {
  if (condition.op === 'value') return await reachOfValue(session, entity, condition)
  if (condition.op !== 'and' && condition.op !== 'or') return everywhere
  const parts: Reach[] = []
  for (const part of condition.parts) parts.push(await reachOf(session, entity, part))
  if (condition.op === 'or') {
    const isNamed = parts.every((part) => part.isNamed)
    return { heights: uniteHeights(parts.flatMap(({ heights }) => heights)), isNamed }
  }
  let heights = allHeights
  for (const part of parts) heights = intersectHeights(heights, part.heights)
  return { heights, isNamed: parts.some((part) => part.isNamed) }
}

async function reachOfValue(
  session: Session,
  entity: Entity,
  condition: ValueCondition,
): Promise<Reach> {
  const { attribute, operator } = condition
  if (attribute.course !== 'height' && attribute.name !== '_docID') return everywhere
  const heights = await heightsOf(session, hintOf(entity, condition))
  if (heights === null) return everywhere
  return { heights, isNamed: operator === '_eq' || operator === '_in' }
}

/** The heights of numbers and docIDs; null where they may be any. */
async function heightsOf(session: Session, hint: Hint): Promise<HeightRanges | null> {
  switch (hint.type) {
    case 'none':
      return []
    case 'heights':
      return hint.heights
    case 'block': {
      await charge(session, hashCost)
      const height = session.snapshot.rowBlocks.heightOf(hint.hash)
      return height === undefined ? [] : [[height, height]]
    }
    case 'or': {
      const found: HeightRanges[] = []
      for (const part of hint.parts) found.push((await heightsOf(session, part)) ?? allHeights)
      return uniteHeights(found.flat())
    }
    default:
      return null
  }
}
