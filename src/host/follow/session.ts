/**
 * One application that follows Views: what it asked for, what it may be sent, and the loop that sends it. The store is
 * read for it when it may be sent something, and never ahead of that.
 */
import { followLimits } from '../../follow/follow-limits.ts'
import { encodeHostFrame, type FollowError, type HostFrame } from '../../follow/host-frames.ts'
import {
  type ApplicationFrame,
  decodeApplicationFrame,
  type OpenFrame,
} from '../../follow/open-frames.ts'
import type { Channel } from '../../p2p/streams/channels.ts'
import { streamFailure } from '../../p2p/streams/frame-stream.ts'
import type { HostedView } from '../views/hosted-view.ts'
import { type Bell, createBell } from './bell.ts'
import type { Following } from './following.ts'
import type { FollowEnd, FollowMetrics } from './metrics.ts'
import type { Moment, Moments } from './moments.ts'
import { nextFrame, prepare } from './next-frame.ts'
import { openPosition } from './position.ts'
import { createVoteBook, noteCursor, noteNewVotes, noteSigned } from './vote-book.ts'
import { notServed, welcomed, welcomeFrames } from './welcome.ts'

/** How long what takes. */
export interface FollowTimes {
  /** How long something waits for credit before the follower is too slow. */
  readonly slowMs: number
  /** How long a gap in the chain that does not change is waited for. */
  readonly gapMs: number
  /** How often the head is sent. */
  readonly headMs: number
  /** How often seals and statements of others are checked for, and whether the Views are still served. */
  readonly checkMs: number
}

interface SessionParts {
  readonly moments: Moments
  readonly metrics: FollowMetrics
  /** The message of this Host's identity proof. */
  readonly proof: Uint8Array
  /** Identity of this Host. */
  readonly own: string
  readonly genesis: () => string | null
  /** See `FillBounds`. */
  readonly fillsFrom: () => number
  /** A View whose rows are stored here. */
  readonly viewOf: (id: string) => HostedView | undefined
  /** How it stands, as in `/health`. */
  readonly stateOf: (id: string) => string
  /** Aborted when the Host stops. */
  readonly stopping: AbortSignal
}

export interface FollowSession {
  /** Something was stored. */
  ring(): void
  /** This Host has signed the rows of a block. */
  onSigned(height: number): void
  /** Serves the follower to its end, and returns why that was; throws what it is to blame for, and what failed here. */
  run(): Promise<FollowEnd>
}

interface Live {
  readonly channel: Channel
  readonly times: FollowTimes
  readonly parts: SessionParts
  readonly bell: Bell
  readonly following: Following
  /** Bytes that may be sent before credit arrives; below zero by less than a frame. */
  credit: number
  headAtMs: number
  checkAtMs: number
  /** Since when something waits for credit. */
  waitsSinceMs: number | null
  /** Whether there is more than was sent in one turn. */
  isBehind: boolean
  isOver: boolean
}

interface Sending {
  readonly kind: HostFrame['kind']
  readonly bytes: Uint8Array
}

/** What is sent next. */
interface Plan {
  readonly frames: readonly Sending[]
  /** Whether more can follow. */
  readonly isMore: boolean
  readonly end: End | null
}

/** What a follower is sent when it cannot go on. */
interface End {
  readonly error: Exclude<FollowError, 'busy'>
  readonly tail: number | null
}

/** Longest time that is spent for one follower before others get the thread. */
const pieceMs = 3
/** Bytes that are read for one follower before they are sent. */
const pieceBytes = 512 * 1024

export function createFollowSession(
  channel: Channel,
  times: FollowTimes,
  parts: SessionParts,
): FollowSession {
  const bell = createBell()
  let following: Following | null = null
  parts.stopping.addEventListener('abort', bell.ring)
  return {
    ring: bell.ring,
    onSigned: (height) => {
      if (following !== null) noteSigned(following.book, height)
      bell.ring()
    },
    run: async () => {
      try {
        const open = toOpen(decode(await channel.read()))
        if (!open.views.some(({ view }) => parts.viewOf(view) !== undefined)) {
          await send(channel, parts, toSending({ kind: 'error', error: 'unknown', tail: null }))
          return 'unknown'
        }
        following = await begin(channel, parts, open)
        const nowMs = performance.now()
        return await follow({
          channel,
          times,
          parts,
          bell,
          following,
          credit: open.windowBytes,
          headAtMs: nowMs,
          checkAtMs: nowMs,
          waitsSinceMs: null,
          isBehind: false,
          isOver: false,
        })
      } catch (error) {
        if (!isStreamEnd(error)) throw error
        return 'left'
      } finally {
        parts.stopping.removeEventListener('abort', bell.ring)
      }
    },
  }
}

/** Whether the stream has just ended, which nobody is to blame for. */
function isStreamEnd(error: unknown): boolean {
  return error instanceof Error && 'fault' in error && error.fault === null
}

/** Welcomes the follower, and finds out where it is. Views that are not served are left out from then on. */
async function begin(
  channel: Channel,
  parts: SessionParts,
  { views, from }: OpenFrame,
): Promise<Following> {
  const { proof, own, genesis, stateOf, moments, viewOf } = parts
  const fillsFrom = parts.fillsFrom()
  const { following, welcomes } = await moments.soon((moment) => {
    const { snapshot } = moment
    const book = createVoteBook(own)
    const positions = views.flatMap((followed) => {
      const view = viewOf(followed.view)
      if (view === undefined) return []
      const position = openPosition(moment, view, { ...followed, from })
      if (followed.cursor.length > 0) noteCursor(book, snapshot, position.next)
      return [position]
    })
    return {
      following: { positions, book, epoch: snapshot.epoch },
      welcomes: views.map(({ view: id }) => {
        const view = viewOf(id)
        if (view === undefined) return notServed(id)
        return welcomed(moment, view, { state: stateOf(id), fillsFrom })
      }),
    }
  })
  for (const frame of welcomeFrames({ proof, genesis: genesis() }, welcomes))
    await send(channel, parts, toSending(frame))
  return following
}

/** Sends until one side ends. */
async function follow(live: Live): Promise<FollowEnd> {
  try {
    return await Promise.race([readCredit(live), sendAll(live)])
  } finally {
    live.isOver = true
    live.bell.ring()
  }
}

/** Takes credit; never resolves. */
async function readCredit(live: Live): Promise<never> {
  const { channel, bell } = live
  for (;;) {
    const frame = decode(await channel.read(null))
    if (frame.kind !== 'credit')
      throw streamFailure('a follower opened its stream twice', 'protocol violation')
    if (live.credit + frame.bytes > followLimits.windowBytes)
      throw streamFailure('a follower gave more credit than it may', 'protocol violation')
    live.credit += frame.bytes
    bell.ring()
  }
}

async function sendAll(live: Live): Promise<FollowEnd> {
  const { channel, parts, bell } = live
  while (!live.isOver) {
    const end = endOf(live) ?? (await sendSome(live))
    if (end !== null) {
      await send(channel, parts, toSending({ kind: 'error', ...end }))
      return end.error
    }
    if (live.isBehind) continue
    await bell.heard(Math.max(1, nextTurnMs(live) - performance.now()))
    if (live.credit > 0) live.waitsSinceMs = null
  }
  return 'left'
}

/** Whether it is time to end the follower, whatever is stored. */
function endOf({ parts, times, waitsSinceMs }: Live): End | null {
  if (parts.stopping.aborted) return { error: 'unavailable', tail: null }
  const isSlow = waitsSinceMs !== null && performance.now() - waitsSinceMs >= times.slowMs
  return isSlow ? { error: 'slow', tail: null } : null
}

/** Sends what there is, as far as credit and a turn allow; returns why the follower cannot go on. */
async function sendSome(live: Live): Promise<End | null> {
  const { channel, parts } = live
  const isStuck = live.waitsSinceMs !== null && live.credit <= 0
  if (isStuck && performance.now() < Math.min(live.checkAtMs, live.headAtMs)) return null
  const planNext = (moment: Moment): Plan => plan(live, moment)
  const { frames, isMore, end } = await (live.isBehind
    ? parts.moments.inTurn(planNext)
    : parts.moments.soon(planNext))
  for (const frame of frames) await send(channel, parts, frame)
  live.isBehind = isMore && live.credit > 0
  if (!live.isBehind) live.waitsSinceMs = isMore ? (live.waitsSinceMs ?? performance.now()) : null
  return end
}

function nextTurnMs({ headAtMs, checkAtMs, waitsSinceMs, times }: Live): number {
  return Math.min(headAtMs, checkAtMs, (waitsSinceMs ?? Infinity) + times.slowMs)
}

/** What is sent next: as much as credit and a few milliseconds allow. */
function plan(live: Live, moment: Moment): Plan {
  const { following, parts, times } = live
  const startedMs = performance.now()
  const frames: Sending[] = headIfDue(live, moment, startedMs)
  if (startedMs >= live.checkAtMs) {
    live.checkAtMs = startedMs + times.checkMs
    const isServed = following.positions.every(
      ({ view }) => parts.viewOf(view.id)?.slot === view.slot,
    )
    if (!isServed) return { frames, isMore: false, end: { error: 'unknown', tail: null } }
    noteNewVotes(following.book, moment.snapshot)
  }
  const bounds = { fillsFrom: parts.fillsFrom(), nowMs: startedMs, gapMs: times.gapMs }
  const pruned = prepare(following, moment, bounds)
  if (pruned !== null) return { frames, isMore: false, end: { error: 'pruned', ...pruned } }
  for (let bytes = 0; performance.now() - startedMs < pieceMs; ) {
    const due = nextFrame(following, moment)
    if (due === null) return { frames, isMore: false, end: null }
    if (due.frame === null) {
      due.done()
      continue
    }
    if (live.credit <= 0 || bytes >= pieceBytes) break
    const sending = toSending(due.frame())
    due.done()
    live.credit -= sending.bytes.length
    bytes += sending.bytes.length
    frames.push(sending)
  }
  return { frames, isMore: true, end: null }
}

function headIfDue(live: Live, { snapshot }: Moment, nowMs: number): Sending[] {
  if (nowMs < live.headAtMs) return []
  live.headAtMs = nowMs + live.times.headMs
  const { rowBlocks } = snapshot
  const header = rowBlocks.header(rowBlocks.range()?.head ?? -1)
  if (header === undefined) return []
  return [toSending({ kind: 'head', number: header.number, hash: header.hash })]
}

async function send(
  channel: Channel,
  { metrics }: Pick<SessionParts, 'metrics'>,
  { kind, bytes }: Sending,
): Promise<void> {
  await channel.write(bytes)
  metrics.sent(kind, bytes.length)
}

function toSending(frame: HostFrame): Sending {
  return { kind: frame.kind, bytes: encodeHostFrame(frame) }
}

function toOpen(frame: ApplicationFrame): OpenFrame {
  if (frame.kind === 'open') return frame
  throw streamFailure('a follower did not open its stream', 'protocol violation')
}

function decode(bytes: Uint8Array): ApplicationFrame {
  try {
    return decodeApplicationFrame(bytes)
  } catch {
    throw streamFailure('a frame of a follower is malformed', 'malformed frame')
  }
}
