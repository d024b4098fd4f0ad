/**
 * One stream of the protocol `views/1` from a Host, to its end: who the Host is, and then frame by frame what it says.
 * What no honest Host sends ends the stream and costs the peer score.
 */
import { ServiceError } from '../../errors.ts'
import { followLimits } from '../../follow/follow-limits.ts'
import {
  decodeHostFrame,
  type FollowError,
  type HostFrame,
  type RowsFrame,
  type WelcomedView,
  type WelcomeFrame,
} from '../../follow/host-frames.ts'
import {
  encodeApplicationFrame,
  type FollowedBlock,
  type FollowedView,
} from '../../follow/open-frames.ts'
import { provenIdentity } from '../../mesh/peer-identity.ts'
import type { P2p } from '../../p2p/p2p.ts'
import type { Channel } from '../../p2p/streams/channels.ts'
import { joinParts } from '../../p2p/streams/join-parts.ts'
import type { Seal } from '../../primitives/seal.ts'
import { malformedMessage } from '../../primitives/wire.ts'

/** A block of a View as a Host sends it. */
export interface ReceivedBlock extends FollowedBlock {
  readonly view: string
  readonly parent: string
  /** Rows as they are packed, not decoded; null where the View failed. */
  readonly rows: { readonly count: number; readonly bytes: Uint8Array } | null
}

/** Who a Host proved to be, and how it has the Views. */
export interface Welcome {
  /** Its public key in hex. */
  readonly identity: string
  readonly genesis: string | null
  /** In the order in which they were asked for. */
  readonly views: readonly WelcomedView[]
}

/**
 * Takes what comes, in its order: the next is read when it has resolved. What it throws ends the stream; a malformed
 * message or row is the Host's fault.
 */
export interface StreamListener {
  onWelcome(welcome: Welcome): Promise<void>
  onBlock(block: ReceivedBlock): Promise<void>
  /** A message of what the Host itself signed. */
  onStatement(excerpt: Uint8Array): Promise<void>
  /** The same of other Hosts. */
  onVotes(excerpts: readonly Uint8Array[]): Promise<void>
  onSeals(place: FollowedBlock, seals: readonly Seal[]): Promise<void>
  onRetract(view: string, place: FollowedBlock | null): void
  onHead(place: FollowedBlock): void
}

interface StreamOptions {
  readonly peer: string
  readonly network: string
  readonly views: readonly FollowedView[]
  /** First height of Views without a cursor. */
  readonly from: number
}

interface StreamParts {
  readonly p2p: Pick<P2p, 'openChannel' | 'penalise'>
  readonly listener: StreamListener
  readonly signal: AbortSignal
}

/** The Host ended the stream. */
export interface StreamEnd {
  readonly error: FollowError
  /** The lowest height that it still has, where it said so. */
  readonly tail: number | null
}

/** Bytes that may be under way. */
const windowBytes: number = 2 * followLimits.frameBytes
/** A Host says something every 15 s. */
const silenceMs = 45_000
/** Packed rows of one block: those that a Host accepts, and what compressing may add. */
const maxRowsBytes: number = 16 * followLimits.frameBytes

/**
 * Follows until the Host ends the stream, and says why it did. Throws P2P_CHANNEL_FAILED, and APP_HOST_REFUSED for a
 * peer that is no Host or breaks the rules; an abort throws the signal's reason.
 */
export async function followHost(options: StreamOptions, parts: StreamParts): Promise<StreamEnd> {
  const { peer, views, from } = options
  const channel = await parts.p2p.openChannel(peer, 'views', { windowBytes }, parts.signal)
  try {
    await channel.write(encodeApplicationFrame({ kind: 'open', views, from, windowBytes }))
    return await readFrames(channel, options, parts.listener)
  } catch (error) {
    throw isMalformed(error) ? refuse(options, parts, error.message) : error
  } finally {
    channel.abort(new Error('no longer followed'))
  }
}

const malformedCodes: ReadonlySet<string> = new Set([
  'PRIMITIVES_MESSAGE_MALFORMED',
  'VIEWS_ROW_MALFORMED',
])

function isMalformed(error: unknown): error is ServiceError {
  return error instanceof ServiceError && malformedCodes.has(error.code)
}

/** The error for a peer that breaks the rules. */
function refuse(
  { peer }: StreamOptions,
  { p2p }: Pick<StreamParts, 'p2p'>,
  why: string,
): ServiceError {
  p2p.penalise(peer, why)
  return new ServiceError('APP_HOST_REFUSED', `a Host breaks the protocol: ${why}`, {
    facts: { peer },
    remedy: 'Another Host is followed meanwhile; check this one if it lasts.',
  })
}

async function readFrames(
  channel: Channel,
  options: StreamOptions,
  listener: StreamListener,
): Promise<StreamEnd> {
  const next = creditedReader(channel)
  const first = await next()
  if (first.kind === 'error') return first
  await listener.onWelcome(await readWelcome(first, next, options))
  const collect = createRowsCollector()
  for (;;) {
    const frame = await next()
    if (frame.kind === 'error') return frame
    if (frame.kind === 'retract') collect.drop(frame.view)
    if (frame.kind === 'rows') {
      const block = collect.add(frame)
      if (block !== null) await listener.onBlock(block)
      continue
    }
    if (!isInTime(frame, collect)) throw malformedMessage('a frame at the wrong time')
    await dispatch(frame, listener)
  }
}

function isInTime(
  frame: Exclude<HostFrame, { kind: 'error' | 'rows' }>,
  collect: RowsCollector,
): frame is OtherFrame {
  return frame.kind !== 'welcome' && (!collect.isOpen() || betweenParts.has(frame.kind))
}

/** What may come between the parts of the rows of a block. */
const betweenParts: ReadonlySet<HostFrame['kind']> = new Set(['head', 'retract'])

type OtherFrame = Exclude<HostFrame, { kind: 'error' | 'rows' | 'welcome' }>

async function dispatch(frame: OtherFrame, listener: StreamListener): Promise<void> {
  switch (frame.kind) {
    case 'failed': {
      const { kind, ...place } = frame
      return await listener.onBlock({ ...place, rows: null })
    }
    case 'statement':
      return await listener.onStatement(frame.excerpt)
    case 'votes':
      return await listener.onVotes(frame.excerpts)
    case 'seals':
      return await listener.onSeals(frame, frame.seals)
    case 'retract':
      return listener.onRetract(frame.view, frame.place)
    case 'head':
      return listener.onHead(frame)
  }
}

/** The first frames: the proof of the Host, and every View that was asked for, in order. */
async function readWelcome(
  first: HostFrame,
  next: () => Promise<HostFrame>,
  options: StreamOptions,
): Promise<Welcome> {
  const { peer, network, views } = options
  const welcome = asWelcome(first)
  const found = provenIdentity(welcome.proof, { network, peer })
  if (found?.role !== 'host') throw malformedMessage('a proof of identity that does not fit')
  const welcomed = [...welcome.views]
  while (welcomed.length < views.length) {
    const more = asWelcome(await next()).views
    if (more.length === 0) throw malformedMessage('a welcome without a View')
    welcomed.push(...more)
  }
  const isAnswer =
    welcomed.length === views.length &&
    welcomed.every(({ view }, index) => view === views[index]?.view)
  if (!isAnswer) throw malformedMessage('other Views than it was asked for')
  return { identity: found.identity, genesis: welcome.genesis, views: welcomed }
}

function asWelcome(frame: HostFrame): WelcomeFrame {
  if (frame.kind !== 'welcome') throw malformedMessage('no welcome first')
  return frame
}

/** Reads frames, and grants new credit for those that were handled once half the window is used up. */
function creditedReader(channel: Channel): () => Promise<HostFrame> {
  let used = 0
  return async () => {
    if (used >= windowBytes / 2) {
      await channel.write(encodeApplicationFrame({ kind: 'credit', bytes: used }))
      used = 0
    }
    const bytes = await channel.read(silenceMs)
    const frame = decodeHostFrame(bytes)
    if (!freeKinds.has(frame.kind)) used += bytes.byteLength
    return frame
  }
}

/** What costs no credit. */
const freeKinds: ReadonlySet<HostFrame['kind']> = new Set(['welcome', 'head', 'error'])

interface RowsCollector {
  /** The block where this was its last part, null before. Throws for a part that does not fit. */
  add(frame: RowsFrame): ReceivedBlock | null
  /** Whether parts of a block are missing. */
  isOpen(): boolean
  /** Drops the parts of a block of a View, which gave way. */
  drop(view: string): void
}

/** Puts the parts of a block together. */
function createRowsCollector(): RowsCollector {
  let parts: RowsFrame[] = []
  let bytes = 0
  return {
    isOpen: () => parts.length > 0,
    drop: (view) => {
      if (parts[0]?.view !== view) return
      parts = []
      bytes = 0
    },
    add: (frame) => {
      const [first = frame] = parts
      const isNext =
        frame.part === parts.length &&
        frame.view === first.view &&
        frame.hash === first.hash &&
        frame.number === first.number &&
        frame.count === first.count
      bytes += frame.bytes.length
      if (!isNext || bytes > maxRowsBytes) throw malformedMessage('parts of rows that do not fit')
      parts.push(frame)
      if (!frame.last) return null
      const { view, number, hash, parent, count } = first
      const rows = { count, bytes: joinParts(parts.map((part) => part.bytes)) }
      parts = []
      bytes = 0
      return { view, number, hash, parent, rows }
    },
  }
}
