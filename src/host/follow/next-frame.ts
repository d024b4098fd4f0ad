/**
 * What a follower gets next, from what it has and what is stored: what gave way first; then, height by height, seals and
 * rows of the Views that are done with it, and what Hosts signed of these.
 */
import { followLimits } from '../../follow/follow-limits.ts'
import { hasHeight } from '../../primitives/height-ranges.ts'
import type { BlockHeader } from '../../store/store.ts'
import type { Due, Following } from './following.ts'
import type { Moment } from './moments.ts'
import { type FillBounds, followChain, type Position, passBlock, passGap } from './position.ts'
import { forgetAbove, lowestDirty, noteBlock, sentOf } from './vote-book.ts'
import { nextSeals, nextVotes } from './vote-frames.ts'

/** Blocks below the head within which a View goes before others that lag. */
const liveBlocks = 64

/** A View with a block that can be sent. */
interface Ready {
  readonly position: Position
  readonly header: BlockHeader
  readonly isFailed: boolean
}

/** Goes to where the chain is now; returns what the follower is sent where it cannot go on. */
export function prepare(
  following: Following,
  moment: Moment,
  bounds: FillBounds,
): { readonly tail: number } | null {
  const { snapshot } = moment
  if (following.epoch !== snapshot.epoch) {
    following.epoch = snapshot.epoch
    for (const position of following.positions) {
      followChain(snapshot, position)
      const { retract } = position
      if (retract !== null) forgetAbove(following.book, retract.place?.number ?? -1)
    }
  }
  const pruned = following.positions.flatMap((position) => passGap(moment, position, bounds) ?? [])
  return pruned.length === 0 ? null : { tail: Math.max(...pruned.map(({ tail }) => tail)) }
}

/** Null where everything was sent. */
export function nextFrame(following: Following, moment: Moment): Due | null {
  for (const position of following.positions) {
    const { view, retract } = position
    if (retract === null) continue
    return {
      frame: () => ({ kind: 'retract', view: view.id, place: retract.place }),
      done: () => {
        position.retract = null
      },
    }
  }
  const ready = readyPositions(following, moment)
  const [first] = ready
  if (first !== undefined && first.position.part !== null) return rowsOf(following, moment, first)
  const waits = new Set(ready.map(({ position }) => position.next))
  const dirty = lowestDirty(following.book, waits)
  if (dirty !== null) return nextVotes(following, moment, dirty)
  if (first === undefined) return null
  return sealsBefore(following, moment, first) ?? rowsOf(following, moment, first)
}

/** Those of which rows were sent in part first, then those near the head, then by height. */
function readyPositions({ positions }: Following, moment: Moment): Ready[] {
  const { rowBlocks } = moment.snapshot
  const liveFrom = (rowBlocks.range()?.head ?? 0) - liveBlocks
  const rank = ({ next, part }: Position): number => {
    if (part !== null) return 0
    return next > liveFrom ? 1 : 2
  }
  return positions
    .flatMap((position): Ready[] => {
      const header = rowBlocks.header(position.next)
      if (header === undefined) return []
      const { done, failed } = moment.standing(position.view)
      const isFailed = hasHeight(failed, position.next)
      return isFailed || hasHeight(done, position.next) ? [{ position, header, isFailed }] : []
    })
    .sort((a, b) => rank(a.position) - rank(b.position) || a.position.next - b.position.next)
}

function sealsBefore({ book }: Following, moment: Moment, { header }: Ready): Due | null {
  const { number, hash } = header
  const known = book.sent.get(number)
  const sent = known?.hash === hash ? known : null
  return nextSeals(moment, header, sent, () => sentOf(book, number, hash))
}

function rowsOf(following: Following, { snapshot }: Moment, ready: Ready): Due | null {
  const { position, header, isFailed } = ready
  const { number, hash, parentHash: parent } = header
  const place = { view: position.view.id, number, hash, parent }
  const pass = (): void => {
    passBlock(position, header)
    sentOf(following.book, number, hash)
    noteBlock(following.book, number)
  }
  if (!position.withRows) return { frame: null, done: pass }
  if (isFailed) return { frame: () => ({ kind: 'failed', ...place }), done: pass }
  const rows = snapshot.viewRows(position.view.slot, number)
  if (rows === undefined) return null
  const part = position.part?.count ?? 0
  const start = part * followLimits.partBytes
  const length = Math.min(followLimits.partBytes, rows.byteLength - start)
  const last = start + length >= rows.byteLength
  const { count } = rows
  return {
    frame: () => {
      return { kind: 'rows', ...place, count, part, last, bytes: rows.copy(start, length) }
    },
    done: () => {
      if (last) pass()
      else position.part = { hash, count: part + 1 }
    },
  }
}
