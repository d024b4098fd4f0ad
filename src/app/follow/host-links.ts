/**
 * Keeps a stream open to each configured Host. The first to be reached feeds; it gives its place to another one when
 * its stream ends, when nothing can be stored of what it sends, and when most others sign other rows than it sends. All
 * others send only what was signed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { P2p } from '../../p2p/p2p.ts'
import { type Backoff, backoffMs } from '../../primitives/backoff.ts'
import type { LinkReport } from '../contract.ts'
import type { RowFollower } from './follower.ts'
import { followHost, type StreamEnd, type Welcome } from './host-stream.ts'

interface LinkOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Peer IDs of the Hosts. */
  readonly peers: readonly string[]
  /** Long IDs of the Views. */
  readonly views: readonly string[]
  /** Hosts that have to agree on rows. */
  readonly minimumHosts: number
  /** How long nothing may be stored while enough Hosts signed more. Default 5 s. */
  readonly stallMs?: number
}

interface LinkParts {
  readonly p2p: Pick<P2p, 'openChannel' | 'penalise' | 'peers' | 'onPeer' | 'failures'>
  readonly follower: RowFollower
  readonly log: Logger
  /** How a Host stands changed. */
  readonly onChange: () => void
  /** The store failed. */
  readonly onFatal: (error: unknown) => void
}

export interface HostLinks {
  reports(): readonly LinkReport[]
  close(): Promise<void>
}

interface Link {
  readonly peer: string
  identity: string | null
  isOpen: boolean
  head: number | null
  views: Readonly<Record<string, string>>
  error: string | null
  /** Whether it broke the protocol, which is more than that it cannot be reached. */
  isRefused: boolean
  /** Streams in a row that ended before anything of use came. */
  failures: number
  /** Whether anything of use came on its stream. */
  hadProgress: boolean
  /** The lowest height that it has, where it said that a cursor lies below. */
  floor: number
  /** When its stream was opened. */
  openedMs: number
  /** Until when it does not feed again where another one can. */
  avoidedUntilMs: number
  /** Ends its stream, so that one of another role follows. */
  changingRole: AbortController
}

interface Links {
  readonly options: LinkOptions
  readonly parts: LinkParts
  readonly links: readonly Link[]
  readonly closing: AbortController
  feeder: Link | null
  feedsSinceMs: number
  /** Up to where Views are stored, and since when. */
  readonly stored: Map<string, { readonly number: number; readonly sinceMs: number }>
}

const retry: Backoff = { minMs: 500, maxMs: 30_000 }
const defaultStallMs = 5_000
/** How long a Host does not feed again after it stalled or sent what others did not sign. */
const avoidMs = 60_000
const checkMs = 1_000
/** How long a block may wait for the signature of a Host that has it before the Host is asked again. */
const unheardMs = 10_000

export function openHostLinks(options: LinkOptions, parts: LinkParts): HostLinks {
  const state: Links = {
    options,
    parts,
    links: options.peers.map((peer) => ({
      peer,
      identity: null,
      isOpen: false,
      head: null,
      views: {},
      error: null,
      isRefused: false,
      failures: 0,
      hadProgress: false,
      floor: 0,
      openedMs: 0,
      avoidedUntilMs: 0,
      changingRole: new AbortController(),
    })),
    closing: new AbortController(),
    feeder: null,
    feedsSinceMs: 0,
    stored: new Map(),
  }
  const running = state.links.map((link) =>
    keepLink(state, link).catch((error) => {
      if (!state.closing.signal.aborted) parts.onFatal(error)
    }),
  )
  const timer = setInterval(() => {
    try {
      checkFeeder(state)
      askAgain(state)
    } catch (error) {
      if (!state.closing.signal.aborted) parts.onFatal(error)
    }
  }, checkMs)
  return {
    reports: () => state.links.map((link) => toReport(state, link)),
    close: async () => {
      clearInterval(timer)
      state.closing.abort(new Error('closed'))
      await Promise.all(running)
    },
  }
}

function toReport({ feeder, parts }: Links, link: Link): LinkReport {
  const { peer, identity, isOpen, head, views, error, isRefused } = link
  const votes = isOpen ? 'votes' : 'away'
  const dialed = parts.p2p.failures().find(({ facts }) => facts?.['peer'] === peer)
  return {
    peer,
    identity,
    role: isOpen && feeder === link ? 'feeds' : votes,
    head,
    views,
    error: isOpen ? null : ((isRefused ? error : dialed?.message) ?? error),
  }
}

/** Opens one stream after the other until everything is closed. */
async function keepLink(state: Links, link: Link): Promise<void> {
  const { closing, parts } = state
  while (!closing.signal.aborted) {
    await untilConnected(state, link)
    if (closing.signal.aborted) return
    const isAgain = await runStream(state, link)
    parts.onChange()
    if (isAgain || closing.signal.aborted) continue
    const waitMs = backoffMs(retry, Math.max(1, link.failures), Math.random())
    await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined)
  }
}

/** Runs a stream to its end; true where the next one is opened at once. */
async function runStream(state: Links, link: Link): Promise<boolean> {
  const { closing, parts } = state
  link.changingRole = new AbortController()
  if (state.feeder === null && mayFeed(state, link)) setFeeder(state, link)
  const signal = AbortSignal.any([closing.signal, link.changingRole.signal])
  try {
    return onEnd(link, await follow(state, link, signal))
  } catch (error) {
    if (signal.aborted) return true
    if (!(error instanceof ServiceError) || error.code.startsWith('STORE_')) throw error
    link.failures += 1
    link.error = error.message
    link.isRefused = error.code === 'APP_HOST_REFUSED'
    parts.log.debug({ err: error, peer: link.peer }, 'the stream of a Host ended')
    return false
  } finally {
    link.isOpen = false
    if (state.feeder === link && !signal.aborted) {
      state.feeder = null
      chooseFeeder(state)
    }
  }
}

async function follow(state: Links, link: Link, signal: AbortSignal): Promise<StreamEnd> {
  const { options, parts } = state
  const { peer, floor } = link
  const feeds = state.feeder === link
  const opening = parts.follower.opening(floor)
  link.hadProgress = false
  const source = {
    peer,
    feeds,
    signal,
    onWelcome: (welcome: Welcome) => onWelcome(state, link, welcome),
    onProgress: () => {
      link.failures = 0
      link.hadProgress = true
    },
    onHead: ({ number }: { readonly number: number }) => {
      link.head = number
      parts.onChange()
    },
  }
  const listener = parts.follower.listener(source, opening.views)
  const stream = { ...opening, peer, network: options.network, withRows: feeds }
  return await followHost(stream, { p2p: parts.p2p, listener, signal })
}

function onWelcome(state: Links, link: Link, { identity, views }: Welcome): void {
  link.identity = identity
  link.isOpen = true
  link.openedMs = performance.now()
  link.error = null
  link.isRefused = false
  link.views = Object.fromEntries(views.map(({ view, state: how }) => [view, how]))
  link.head = views.reduce<number | null>((top, { head }) => {
    return head === null ? top : Math.max(head, top ?? head)
  }, null)
  state.parts.log.info(
    { peer: link.peer, identity, feeds: state.feeder === link },
    'follows a Host',
  )
  state.parts.onChange()
}

/** What follows from the last word of a Host; true where a new stream may go well at once. */
function onEnd(link: Link, { error, tail }: StreamEnd): boolean {
  link.error = endTexts[error]
  const isPruned = error === 'pruned' && tail !== null && tail > link.floor
  const isSoon =
    (isPruned && (link.floor === 0 || link.hadProgress)) || (error === 'slow' && link.hadProgress)
  if (isPruned) link.floor = tail
  if (!isSoon) link.failures += 1
  return isSoon
}

const endTexts: Readonly<Record<StreamEnd['error'], string>> = {
  busy: 'The Host serves as many applications as it can.',
  unknown: 'The Host does not have one of the Views, or computes its rows for each query.',
  pruned: 'The Host no longer has what comes next; what it has is followed.',
  slow: 'The Host ended the stream, since this application read too slowly.',
  unavailable: 'The Host is stopping.',
}

// --- Who feeds ---

function mayFeed({ links }: Links, link: Link): boolean {
  const nowMs = performance.now()
  const isAvoided = ({ avoidedUntilMs }: Link): boolean => nowMs < avoidedUntilMs
  return (
    !isAvoided(link) || links.every((other) => other === link || isAvoided(other) || !other.isOpen)
  )
}

function setFeeder(state: Links, link: Link): void {
  state.feeder = link
  state.feedsSinceMs = performance.now()
}

/** The open stream that is best becomes the one that feeds; where none is open the next one that is opened. */
function chooseFeeder(state: Links): void {
  if (state.closing.signal.aborted) return
  const [best] = state.links
    .filter((link) => link.isOpen && mayFeed(state, link))
    .sort((a, b) => a.floor - b.floor)
  if (best === undefined) return
  setFeeder(state, best)
  best.changingRole.abort(new Error('it feeds from now on'))
}

/**
 * Lets another Host feed where nothing was stored for a while although enough Hosts signed more, and where what this one
 * sends is not what most others signed.
 */
function checkFeeder(state: Links): void {
  const { feeder, parts } = state
  parts.follower.wake()
  if (feeder === null) chooseFeeder(state)
  if (feeder === null) return
  const others = state.links.filter((link) => link !== feeder && link.isOpen)
  if (others.length === 0) return
  const signed = new Map(
    state.links.flatMap(({ identity }) =>
      identity === null ? [] : [[identity, parts.follower.signedUpTo(identity)] as const],
    ),
  )
  if (!state.options.views.some((view) => isBetterElsewhere(state, view, signed))) return
  parts.log.warn({ peer: feeder.peer }, 'another Host feeds, since this one is behind or alone')
  feeder.avoidedUntilMs = performance.now() + avoidMs
  state.feeder = null
  feeder.changingRole.abort(new Error('it feeds no more'))
  chooseFeeder(state)
}

/**
 * Opens another stream to Hosts of which a block lacks the signature: each begins with all that was signed of what is not
 * stored yet. A stream says everything once, and what a Host withheld then, or has computed again since, it may say now.
 */
function askAgain({ links, options, parts }: Links): void {
  const nowMs = performance.now()
  for (const { isOpen, identity, head, openedMs, changingRole } of links) {
    if (!isOpen || identity === null || nowMs - openedMs < unheardMs) continue
    const isUnheard = options.views.some((view) => {
      const lowest = parts.follower.unheard(view, identity, unheardMs)
      return lowest !== null && (head ?? -1) >= lowest
    })
    if (isUnheard) changingRole.abort(new Error('it is asked again for what it signed'))
  }
}

function isBetterElsewhere(
  state: Links,
  view: string,
  signed: ReadonlyMap<string, ReadonlyMap<string, number>>,
): boolean {
  const { links, options, parts } = state
  const { stored, differing, isFailed } = parts.follower.progress(view)
  const nowMs = performance.now()
  const before = state.stored.get(view)
  if (before?.number !== stored) state.stored.set(view, { number: stored, sinceMs: nowMs })
  const standsMs = before?.number === stored ? before.sinceMs : nowMs
  const isOpen = (identity: string): boolean =>
    links.some((link) => link.isOpen && link.identity === identity && link !== state.feeder)
  if (differing.some(isOpen)) return true
  const ahead = new Set(
    links.flatMap(({ identity }) =>
      identity !== null && (signed.get(identity)?.get(view) ?? -1) > stored ? [identity] : [],
    ),
  )
  const isStalled =
    nowMs - Math.max(state.feedsSinceMs, standsMs) > (options.stallMs ?? defaultStallMs)
  return isStalled && !isFailed && ahead.size >= options.minimumHosts && [...ahead].some(isOpen)
}

// --- Connections ---

/** Resolves once the peer is connected, or everything is closed. */
async function untilConnected({ parts, closing }: Links, { peer }: Link): Promise<void> {
  const isConnected = (): boolean => parts.p2p.peers().some(({ id }) => id === peer)
  if (closing.signal.aborted || isConnected()) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      stop()
      closing.signal.removeEventListener('abort', end)
      resolve()
    }
    const stop = parts.p2p.onPeer((event) => {
      if (event.type === 'connected' && event.peer === peer) end()
    })
    closing.signal.addEventListener('abort', end)
  })
}
