/**
 * Keeps the configured peers connected for ever: dials each at once, again after every disconnect,
 * and after failures with growing pauses. A connection that ends soon counts as a failure. libp2p's own
 * reconnecting stops after some attempts, also dials addresses that the peer announced itself (its container's, say, where somebody else
 * may answer) and says nothing; here each new reason is logged once, in the documented words.
 */
import type { PeerId } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Logger } from 'pino'
import type { ServiceError } from '../../errors.ts'
import { backoffMs } from '../../primitives/backoff.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import type { DialAddress } from './address.ts'
import { closedCause, type DialCause, dialCause, dialError } from './dial-error.ts'

interface BootstrapParts {
  readonly log: Logger
  readonly metrics: Pick<P2pMetrics, 'dialFailures'>
  /** Connects to whom the address names at its end, as its handshake proves, and to nobody else. */
  dial(address: Multiaddr, signal: AbortSignal): Promise<unknown>
  isConnected(id: PeerId): boolean
  isBanned(peer: string): boolean
}

export interface Bootstrap {
  /** Replaces the list: new peers are dialled at once, dropped ones are left alone from now on. */
  set(addresses: readonly DialAddress[]): void
  has(peer: string): boolean
  /**
   * Why peers that are not connected cannot be reached: P2P_PEER_ID_MISMATCH for each in whose place
   * somebody else answered when it was dialled last, and P2P_ALL_DIALS_FAILED for each that has not been
   * connected for `lastingMs`.
   */
  unreachable(): readonly ServiceError[]
  disconnected(peer: string): void
  close(): void
}

interface Target {
  readonly id: PeerId
  addresses: readonly Multiaddr[]
  failures: number
  loggedText: string
  /** Why the last attempt failed; null after one that did not, and before the first. */
  error: ServiceError | null
  /** When a connection that lasted ended, or when it was named. */
  missingSince: number
  connectedAt: number
  timer: NodeJS.Timeout | undefined
  dialling: boolean
}

type BootstrapLimits = Pick<
  P2pLimits,
  'dialTimeoutMs' | 'redialMinMs' | 'redialMaxMs' | 'lastingMs'
>

export function createBootstrap(
  self: string,
  limits: BootstrapLimits,
  parts: BootstrapParts,
): Bootstrap {
  const targets = new Map<string, Target>()
  const stopped = new AbortController()

  /** Looks at a peer after so long, and dials it unless it is connected by then. */
  const schedule = (target: Target, delayMs: number): void => {
    clearTimeout(target.timer)
    if (stopped.signal.aborted) return
    target.timer = setTimeout(() => void attempt(target), delayMs)
  }

  const pauseMs = (target: Target): number => {
    const backoff = { minMs: limits.redialMinMs, maxMs: limits.redialMaxMs }
    return backoffMs(backoff, target.failures + 1, Math.random())
  }

  const attempt = async (target: Target): Promise<void> => {
    const peer = target.id.toString()
    if (target.dialling || parts.isConnected(target.id)) return
    if (parts.isBanned(peer)) return schedule(target, limits.redialMaxMs)
    target.dialling = true
    const causes = await dialAll(target, limits.dialTimeoutMs, stopped.signal, parts)
    target.dialling = false
    if (stopped.signal.aborted || targets.get(peer) !== target) return
    if (causes === null) succeeded(target, parts)
    else failed(target, causes, parts)
    schedule(target, pauseMs(target))
  }

  const drop = (target: Target): void => {
    clearTimeout(target.timer)
    targets.delete(target.id.toString())
  }

  const missing = (): Target[] => [...targets.values()].filter(({ id }) => !parts.isConnected(id))

  return {
    set: (addresses) => {
      const wanted = groupByPeer(addresses.filter((entry) => entry.id.toString() !== self))
      for (const [peer, target] of targets) if (!wanted.has(peer)) drop(target)
      for (const [peer, { id, list }] of wanted) {
        const target = targets.get(peer) ?? newTarget(id)
        targets.set(peer, target)
        if (!isSameList(target.addresses, list)) target.error = null
        target.addresses = list
        target.failures = 0
        target.loggedText = ''
        schedule(target, 0)
      }
    },
    has: (peer) => targets.has(peer),
    unreachable: () =>
      missing().flatMap(({ error, missingSince }) => {
        const isLasting = performance.now() - missingSince >= limits.lastingMs
        return error !== null && (isLasting || error.code === 'P2P_PEER_ID_MISMATCH') ? [error] : []
      }),
    disconnected: (peer) => {
      const target = targets.get(peer)
      if (target === undefined) return
      ended(target, limits.redialMaxMs)
      schedule(target, pauseMs(target))
    },
    close: () => {
      stopped.abort()
      for (const target of targets.values()) clearTimeout(target.timer)
    },
  }
}

function newTarget(id: PeerId): Target {
  return {
    id,
    addresses: [],
    failures: 0,
    loggedText: '',
    error: null,
    missingSince: performance.now(),
    connectedAt: performance.now(),
    timer: undefined,
    dialling: false,
  }
}

function isSameList(a: readonly Multiaddr[], b: readonly Multiaddr[]): boolean {
  return a.join() === b.join()
}

function groupByPeer(
  addresses: readonly DialAddress[],
): Map<string, { id: PeerId; list: Multiaddr[] }> {
  const groups = new Map<string, { id: PeerId; list: Multiaddr[] }>()
  for (const { id, address } of addresses) {
    const group = groups.get(id.toString()) ?? { id, list: [] }
    groups.set(id.toString(), group)
    group.list.push(address)
  }
  return groups
}

/** Tries the addresses one after the other; null when one worked, else why each did not. */
async function dialAll(
  target: Target,
  timeoutMs: number,
  stopped: AbortSignal,
  parts: BootstrapParts,
): Promise<DialCause[] | null> {
  const causes: DialCause[] = []
  for (const address of target.addresses) {
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      await parts.dial(address, AbortSignal.any([deadline, stopped]))
      return null
    } catch (error) {
      if (stopped.aborted || parts.isConnected(target.id)) return null
      const cause = dialCause(address, error, deadline.aborted)
      parts.metrics.dialFailures.inc({ reason: cause.reason })
      causes.push(cause)
    }
  }
  return causes
}

function succeeded(target: Target, parts: BootstrapParts): void {
  target.connectedAt = performance.now()
  target.loggedText = ''
  parts.log.info({ peer: target.id.toString() }, 'bootstrap peer connected')
}

/** A peer that lets us in and closes again is as good as one that cannot be reached: the pauses grow. */
function ended(target: Target, lastingMs: number): void {
  const now = performance.now()
  if (now - target.connectedAt >= lastingMs) {
    target.failures = 0
    target.error = null
    target.missingSince = now
    return
  }
  target.failures += 1
  const [address] = target.addresses
  if (address !== undefined) target.error = dialError(target.id.toString(), [closedCause(address)])
}

function failed(target: Target, causes: readonly DialCause[], parts: BootstrapParts): void {
  target.failures += 1
  const error = dialError(target.id.toString(), causes)
  target.error = error
  const text = causes.map((cause) => cause.text).join()
  const known = text === target.loggedText
  target.loggedText = text
  const facts = {
    ...error.facts,
    code: error.code,
    remedy: error.remedy,
    failures: target.failures,
  }
  parts.log[known ? 'debug' : 'warn'](facts, error.message)
}
