/**
 * Keeps a stream open to each configured Host. It brings the rows of the Views that the Host feeds, and of the others what
 * was signed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../errors.ts'
import { type Backoff, backoffMs } from '../../primitives/backoff.ts'
import type { LinkReport } from '../contract.ts'
import {
  checkFeeders,
  fedBy,
  fillPlaces,
  keepServed,
  leavePlaces,
  serves,
  takePlaces,
} from './feeders.ts'
import { followHost, type StreamEnd, type StreamListener, type Welcome } from './host-stream.ts'
import {
  createLink,
  type Link,
  type LinkOptions,
  type LinkParts,
  type Links,
} from './link-state.ts'

export interface HostLinks {
  reports(): readonly LinkReport[]
  /** Whether rows of a View come. */
  isFed(view: string): boolean
  /** When the last Host was connected that may have rows of a View at a height or below; null where none is. */
  servingSinceMs(view: string, number: number): number | null
  close(): Promise<void>
}

const retry: Backoff = { minMs: 500, maxMs: 30_000 }
/** Each time that a Host is asked in vain for a signature doubles the time to the next, up to so often. */
const maxDoublings = 5

export function openHostLinks(options: LinkOptions, parts: LinkParts): HostLinks {
  const state: Links = {
    options,
    parts,
    links: options.peers.map(createLink),
    closing: new AbortController(),
    feeding: new Map(),
    paused: new Map(),
  }
  const running = state.links.map((link) =>
    keepLink(state, link).catch((error) => {
      if (!state.closing.signal.aborted) parts.onFatal(error)
    }),
  )
  const timer = setInterval(() => {
    try {
      parts.follower.wake()
      checkFeeders(state)
      askAgain(state)
    } catch (error) {
      if (!state.closing.signal.aborted) parts.onFatal(error)
    }
  }, options.patience.checkMs)
  return {
    reports: () => state.links.map((link) => toReport(state, link)),
    isFed: (view) => state.feeding.get(view)?.link.isOpen ?? false,
    servingSinceMs: (view, number) => {
      const since = state.links.flatMap((link) => {
        const mayHave = serves(link, view) && (link.views.get(view)?.tail ?? Infinity) <= number
        return mayHave ? (link.sinceMs ?? []) : []
      })
      return since.length === 0 ? null : Math.max(...since)
    },
    close: async () => {
      clearInterval(timer)
      state.closing.abort(new Error('closed'))
      await Promise.all(running)
    },
  }
}

function toReport(state: Links, link: Link): LinkReport {
  const { peer, identity, isOpen, head, views, error, isRefused } = link
  const role = fedBy(state, link).size > 0 ? 'feeds' : 'votes'
  const dialed = state.parts.p2p.failures().find(({ facts }) => facts?.['peer'] === peer)
  return {
    peer,
    identity,
    role: isOpen ? role : 'away',
    head,
    views: Object.fromEntries([...views].map(([view, { state: how }]) => [view, how])),
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
  takePlaces(state, link)
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
    if (!signal.aborted) {
      link.sinceMs = null
      leavePlaces(state, link)
      fillPlaces(state)
    }
  }
}

async function follow(state: Links, link: Link, signal: AbortSignal): Promise<StreamEnd> {
  const { options, parts } = state
  const { peer, floor } = link
  link.fed = fedBy(state, link)
  const opening = parts.follower.opening({ peer, feeds: link.fed, floor })
  link.hadProgress = false
  const source = {
    peer,
    signal,
    onWelcome: (welcome: Welcome) => noteWelcome(link, welcome),
    onProgress: () => {
      link.failures = 0
      link.hadProgress = true
    },
    onHead: ({ number }: { readonly number: number }) => {
      link.head = number
      parts.onChange()
    },
  }
  const taking = parts.follower.listener(source, opening.views)
  const listener: StreamListener = {
    ...taking,
    onWelcome: async (welcome) => {
      await taking.onWelcome(welcome)
      keepServed(state, link)
      fillPlaces(state)
      const { identity } = welcome
      parts.log.info({ peer, identity, feeds: [...link.fed] }, 'follows a Host')
      parts.onChange()
    },
  }
  return await followHost(
    { ...opening, peer, network: options.network },
    { p2p: parts.p2p, listener, signal },
  )
}

function noteWelcome(link: Link, { identity, views }: Welcome): void {
  link.identity = identity
  link.isOpen = true
  link.openedMs = performance.now()
  link.sinceMs ??= link.openedMs
  link.error = null
  link.isRefused = false
  link.views = new Map(views.map((welcomed) => [welcomed.view, welcomed]))
  link.head = views.reduce<number | null>((top, { head }) => {
    return head === null ? top : Math.max(head, top ?? head)
  }, null)
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
  unknown: 'The Host has none of the Views, or computes their rows for each query.',
  pruned: 'The Host no longer has what comes next; what it has is followed.',
  slow: 'The Host ended the stream, since this application read too slowly.',
  unavailable: 'The Host is stopping.',
}

/**
 * Opens another stream to Hosts of which a block lacks the signature: each begins with all that was signed of what is not
 * stored yet. A stream says everything once, and what a Host withheld then, or has computed again since, it may say now.
 * The same to Hosts that did not have a View which nobody feeds.
 */
function askAgain({ links, options, parts, feeding }: Links): void {
  const { views, patience } = options
  const { unheardMs, askServedMs } = patience
  const nowMs = performance.now()
  for (const link of links) {
    const { isOpen, identity, head, openedMs, changingRole } = link
    if (!isOpen || identity === null) continue
    const isUnheard = (view: string): boolean => {
      if (!serves(link, view)) return false
      const lowest = parts.follower.unheard(view, identity, unheardMs)
      return lowest !== null && (head ?? -1) >= lowest
    }
    const isMissed = (view: string): boolean => !feeding.has(view) && !serves(link, view)
    const openMs = nowMs - openedMs
    const isHeard = !views.some(isUnheard)
    if (isHeard) link.unheardAsks = 0
    const isDue = !isHeard && openMs >= unheardMs * 2 ** Math.min(link.unheardAsks, maxDoublings)
    if (isDue) link.unheardAsks += 1
    if (isDue || (openMs >= askServedMs && views.some(isMissed)))
      changingRole.abort(new Error('it is asked again for what it has and signed'))
  }
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
