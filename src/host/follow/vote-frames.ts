/** Seals of a block, what this Host signed of it, and what others did, as frames for one follower. */
import { invariant } from '../../errors.ts'
import { followLimits } from '../../follow/follow-limits.ts'
import { runtimeVersion } from '../../lens/program/run-limits.ts'
import { hasHeight } from '../../primitives/height-ranges.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import { encodeStatementExcerpt, excerptOf } from '../../row-votes/statement-excerpt.ts'
import type { BlockHeader } from '../../store/store.ts'
import type { Due, Following } from './following.ts'
import type { Moment } from './moments.ts'
import { type Sent, settle, shownSeals, signedKey } from './vote-book.ts'

/** Seals of a block that were not sent; `begin` makes the place where it is noted that they were. */
export function nextSeals(
  { snapshot }: Moment,
  { number, hash }: Pick<BlockHeader, 'number' | 'hash'>,
  sent: Sent | null,
  begin: () => Sent,
): Due | null {
  const shown = shownSeals(snapshot, number, hash)
  const start = sent?.seals.of === shown.length ? sent.seals.sent : 0
  const seals = shown.slice(start, start + followLimits.seals)
  if (seals.length === 0) return null
  return {
    frame: () => ({ kind: 'seals', number, hash, seals }),
    done: () => {
      begin().seals = { sent: start + seals.length, of: shown.length }
    },
  }
}

/** What is to be said of a block that the follower has. */
interface Said {
  readonly height: number
  readonly sent: Sent | null
  /** Views of which the follower has the block. */
  readonly views: ReadonlySet<string>
  /** How many of these this Host can sign. */
  readonly signable: number
  /** What counts of it, and was not sent. */
  readonly unsent: readonly RowStatement[]
}

/** The next frame about a height of which there may be something to send; without one where there is nothing. */
export function nextVotes(following: Following, moment: Moment, height: number): Due {
  const { book } = following
  const header = moment.snapshot.rowBlocks.header(height)
  const sent = book.sent.get(height) ?? null
  if (header === undefined || (sent !== null && sent.hash !== header.hash)) {
    const forget = (): void => {
      book.sent.delete(height)
      settle(book, height, true)
    }
    return { frame: null, done: forget }
  }
  const said = whatIsSaid(following, moment, height, header.hash)
  return (
    (sent && nextSeals(moment, header, sent, () => sent)) ??
    nextOwn(following, said) ??
    nextOfOthers(following, said) ?? { frame: null, done: () => noteAll(following, said, moment) }
  )
}

function whatIsSaid(
  { positions, book }: Following,
  moment: Moment,
  height: number,
  hash: string,
): Said {
  const sent = book.sent.get(height) ?? null
  const having = positions.filter(({ next }) => next > height)
  const views = new Set(having.map(({ view }) => view.id))
  const signable = having.filter(({ view }) => hasHeight(moment.standing(view).done, height)).length
  const unsent = moment
    .statements(height)
    .filter(({ blockHash, runtime }) => blockHash === hash && runtime === runtimeVersion)
    .filter((each) => leavesOf(each, views) > (sent?.leaves.get(signedKey(book, each)) ?? 0))
  return { height, sent, views, signable, unsent }
}

function leavesOf({ leaves }: RowStatement, views: ReadonlySet<string>): number {
  return leaves.filter(({ view }) => views.has(view)).length
}

function nextOwn({ book }: Following, { height, sent, views, signable, unsent }: Said): Due | null {
  const [statement] = unsent
    .filter(({ signatureIdentity }) => signatureIdentity === book.own)
    .toSorted((a, b) => leavesOf(b, views) - leavesOf(a, views))
  if (statement === undefined) return null
  const leaves = leavesOf(statement, views)
  return {
    frame: () => ({ kind: 'statement', excerpt: excerptBytes(statement, views) }),
    done: () => {
      if (sent === null) settle(book, height, leaves >= signable)
      else sent.leaves.set('own', leaves)
    },
  }
}

/** After all that this Host signed: as many as a frame holds, of which each takes a small part. */
function nextOfOthers({ book }: Following, { sent, views, unsent }: Said): Due | null {
  // Of older blocks only what this Host signs is sent later.
  if (sent === null || unsent.length === 0) return null
  const excerpts: Uint8Array[] = []
  return {
    frame: () => {
      let bytes = 0
      for (const statement of unsent.slice(0, followLimits.votes)) {
        const excerpt = excerptBytes(statement, views)
        bytes += excerpt.length
        if (bytes > followLimits.partBytes / 2) break
        excerpts.push(excerpt)
      }
      return { kind: 'votes', excerpts }
    },
    done: () => {
      for (const each of unsent.slice(0, excerpts.length))
        sent.leaves.set(signedKey(book, each), leavesOf(each, views))
    },
  }
}

function excerptBytes(statement: RowStatement, views: ReadonlySet<string>): Uint8Array {
  const excerpt = excerptOf(statement, views)
  invariant(excerpt !== null, 'what is sent says something of these Views')
  return encodeStatementExcerpt(excerpt)
}

/** Notes that there is nothing left to send. */
function noteAll({ book }: Following, { height, sent, signable }: Said, moment: Moment): void {
  if (sent !== null) {
    const shown = shownSeals(moment.snapshot, height, sent.hash).length
    sent.seals = { sent: shown, of: shown }
    for (const each of moment.statements(height)) {
      const key = signedKey(book, each)
      if (!sent.leaves.has(key)) sent.leaves.set(key, 0)
    }
  }
  settle(book, height, (sent?.leaves.get('own') ?? 0) >= signable)
}
