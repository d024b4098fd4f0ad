/**
 * What an application makes of what Hosts send: it checks rows and signatures, lets blocks wait for their votes, and
 * stores them in order. One Host at a time feeds a View; all of them vote.
 */
import type { FollowedBlock, FollowedView } from '../../follow/open-frames.ts'
import type { KnownView } from '../followed-views.ts'
import { followCursor } from './cursor.ts'
import {
  createFollowerState,
  type FollowerOptions,
  type FollowerParts,
  type FollowerState,
  noteChange,
  type StreamSource,
} from './follow-state.ts'
import type { StreamListener } from './host-stream.ts'
import { hasRoom, listen } from './incoming.ts'
import { unheardBlocks } from './reported-heights.ts'
import { evaluateRows, firstMissing, leaving, lowestWanted, wake } from './storing.ts'

/** Where following a View stands. */
interface FollowProgress {
  /** Whether it is known what its rows look like, without which they cannot be read. */
  readonly isKnown: boolean
  /** Heights of the hole of which no rows can be had. */
  readonly passed: number
  /** Blocks that wait for votes. */
  readonly pending: number
  /** Whether there is no room for more of them, which holds up the stream that brings them. */
  readonly isFull: boolean
  /** The highest height that is stored, of a hole that up to which it is filled; -1 for none. */
  readonly stored: number
  /** Whether the View failed at the lowest of those that wait. */
  readonly isFailed: boolean
  /** Hosts that signed other rows of the lowest of those that wait. */
  readonly differing: readonly string[]
  /** Hosts that say that what the next block would stand on gave way. */
  readonly leaving: readonly string[]
}

/** What a Host is followed for. */
interface HostRole {
  /** Its peer ID. */
  readonly peer: string
  /** Views that it feeds. */
  readonly feeds: ReadonlySet<string>
  /** It has nothing below this height: a View whose cursor ends there begins again. */
  readonly floor: number
}

export interface RowFollower {
  /** What to ask a Host for. */
  opening(role: HostRole): { readonly views: readonly FollowedView[]; readonly from: number }
  /** Takes what a stream brings that was opened with these; for the Views that it feeds it replaces the one before. */
  listener(source: StreamSource, opened: readonly FollowedView[]): StreamListener
  progress(view: string): FollowProgress
  /** The highest height of which a Host signed rows of a View on its own stream; -1 for none. */
  signedUpTo(host: string, view: string): number
  /**
   * The height of the lowest block of a View that waits, where it has done so for a while and nothing is known of what a
   * Host signed of it; else null.
   */
  unheard(view: string, host: string, sinceMs: number): number | null
  /** Checks again what waits, since time passed or a stream ended. */
  wake(): void
  close(): Promise<void>
}

/** Follows nobody yet. */
export function openRowFollower(options: FollowerOptions, parts: FollowerParts): RowFollower {
  const state = createFollowerState(options, parts)
  return {
    opening: (role) => opening(state, role),
    listener: (source, opened) => listen(state, source, opened),
    progress: (view) => {
      const pending = state.pending.get(view)
      return {
        isKnown: parts.views.find(view) !== undefined,
        passed: state.passed.size,
        pending: pending?.list().length ?? 0,
        isFull: !hasRoom(state, view),
        stored: storedUpTo(state, view),
        isFailed: pending?.list()[0]?.rows === null,
        differing: state.differing.get(view) ?? [],
        leaving: leaving(state, view),
      }
    },
    signedUpTo: state.votes.highest,
    unheard: (view, host, sinceMs) => unheard(state, view, host, sinceMs),
    wake: () => wake(state),
    close: async () => {
      state.isClosed = true
      noteChange(state)
      await state.running
      state.reported.save()
    },
  }
}

function unheard(state: FollowerState, id: string, host: string, sinceMs: number): number | null {
  const view = state.parts.views.find(id)
  const [lowest] = state.pending.get(id)?.list() ?? []
  if (view === undefined || lowest === undefined) return null
  if (performance.now() - lowest.sinceMs < sinceMs) return null
  const { agreeing, differing } = evaluateRows(state, view, lowest)
  return agreeing.includes(host) || differing.includes(host) ? null : lowest.number
}

function storedUpTo(state: FollowerState, id: string): number {
  const { parts, blocks, options } = state
  const view = parts.views.find(id)
  if (view === undefined) return -1
  if (options.hole !== undefined) return firstMissing(state, view, options.hole) - 1
  return blocks.read((snapshot) =>
    Math.max(
      snapshot.viewRanges(view.slot).at(-1)?.[1] ?? -1,
      snapshot.viewFailures(view.slot).at(-1)?.[1] ?? -1,
    ),
  )
}

function opening(
  state: FollowerState,
  { feeds, ...host }: HostRole,
): { readonly views: readonly FollowedView[]; readonly from: number } {
  const { parts } = state
  const views = parts.views.ids.map((view) => {
    const known = parts.views.find(view)
    const cursor = known === undefined ? [] : cursorFor(state, known, host)
    return { view, cursor, withRows: feeds.has(view) }
  })
  return { views, from: lowestWanted(state) }
}

/** Where a Host is to go on: where it has not said yet what it has, unless it no longer has what comes there. */
function cursorFor(
  state: FollowerState,
  { slot }: KnownView,
  { peer, floor }: Omit<HostRole, 'feeds'>,
): readonly FollowedBlock[] {
  const { blocks, options } = state
  const cursorBelow = (height: number | undefined): readonly FollowedBlock[] | null => {
    const cursor = blocks.read((snapshot) => followCursor(snapshot, slot, height))
    return (cursor[0]?.number ?? -1) + 1 >= floor ? cursor : null
  }
  const asked = options.hole?.from ?? Math.max(unreported(state, peer), floor)
  return cursorBelow(asked) ?? cursorBelow(options.hole?.from) ?? []
}

/** The first height of which a Host has not said itself what it has; of one that does not count that is of no use. */
function unreported({ reported, blocks, parts }: FollowerState, peer: string): number {
  const known = reported.of(peer)
  if (known === undefined) return blocks.head() + 1 - unheardBlocks
  return parts.accepted.isAccepted(known.host) ? known.to + 1 : Number.MAX_SAFE_INTEGER
}
