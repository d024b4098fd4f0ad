/**
 * Keeps a stream open to each configured Host. It brings the rows of the Views that the Host feeds, and of the others what
 * was signed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../errors.ts'
import { type Backoff, backoffMs } from '../../primitives/backoff.ts'
import type { LinkReport } from '../contract.ts'
import { askAgain } from './ask-again.ts'
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
  noteEnd,
  noteWelcome,
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
    return noteEnd(link, await follow(state, link, signal))
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
