/**
 * Messages between gossipsub and the program. Only what is new and finds room gets to gossipsub, which
 * takes whatever it has seen once for a duplicate: a copy that a stranger sends first, and that is
 * dropped, must not keep out the one of a configured peer. Of the strangers' messages the program has
 * only a few at a time, so that those of configured peers never queue behind them.
 */
import { createHash } from 'node:crypto'
import { type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { PeerId } from '@libp2p/interface'
import type { Logger } from 'pino'
import { createBudget } from '../limits/budget.ts'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import type { Remote } from '../limits/remote.ts'
import type { OnMessage, PeerVerdict } from '../peers/verdict.ts'
import { createSeenIds } from './seen-ids.ts'

/** A topic that is listened to. */
export interface Listening {
  readonly check: OnMessage
  /** Longest message in bytes; longer ones are a fault. */
  readonly maxBytes: number
}

export interface InboxParts {
  readonly log: Logger
  readonly metrics: Pick<P2pMetrics, 'messages'>
  /** By topic; messages on others are left alone. */
  readonly topics: ReadonlyMap<string, Listening>
  remoteOf(peer: string): Remote
  isBanned(peer: string): boolean
  onVerdict(peer: string, verdict: PeerVerdict): void
  onFault(peer: string, fault: Fault, detail: string): void
  /** Ends all connections to a peer. */
  disconnect(peer: string, reason: string): void
}

export interface Inbox {
  /** Whether gossipsub may have a message, which then has its place. */
  offer(peer: string, topic: string, data: Uint8Array): boolean
  /** What gossipsub knows a message by. Whatever it asks about it has seen from then on. */
  idOf(message: Message): Uint8Array
  /** What gossipsub asks about each message before it is passed on. */
  validate(sender: PeerId, message: Message): Promise<TopicValidatorResult>
}

/** A message between `offer` and its verdict. */
interface Entry {
  readonly check: OnMessage
  /** The peer to blame: the first sender, or a configured peer that sent a copy. */
  peer: string
  /** True where that is a configured peer. */
  isUrgent: boolean
  /** Lets it go on while it waits in the queue. */
  go: (() => void) | null
  release(): void
}

/** For how long gossipsub takes a message for a duplicate, in milliseconds. */
export const seenMs: number = 60_000
/** We remember a little longer, so that what we take for new is new to gossipsub. */
const rememberMs = seenMs + 10_000

const results: Readonly<Record<PeerVerdict['action'], TopicValidatorResult>> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
}

/** The SHA-256 of topic and data: one block, one ID, and none that bars it from the other topic. */
function hashOf(topic: string, data: Uint8Array): Buffer {
  return createHash('sha256').update(`${topic}\0`).update(data).digest()
}

export function createInbox(limits: P2pLimits, parts: InboxParts): Inbox {
  const { metrics, topics } = parts
  const reserve = createPendingBudget(limits)
  const seen = createSeenIds(rememberMs)
  const entries = new Map<string, Entry>()
  const ids = new WeakMap<Message, string>()
  const turns = createStrangerQueue(limits.strangersValidated)

  /** A configured peer has the message that a stranger sent first. */
  const prioritise = (id: string, peer: string): void => {
    const entry = entries.get(id)
    if (entry === undefined || entry.isUrgent || !parts.remoteOf(peer).isConfigured) return
    entry.peer = peer
    entry.isUrgent = true
    turns.prioritise(entry)
  }

  const enter = (id: string, peer: string, bytes: number, check: OnMessage): boolean => {
    const remote = parts.remoteOf(peer)
    const release = reserve(remote, bytes)
    if (release === null) {
      metrics.messages.inc({ verdict: 'dropped' })
      return false
    }
    seen.add(id)
    entries.set(id, { check, peer, isUrgent: remote.isConfigured, go: null, release })
    return true
  }

  const runCheck = async (entry: Entry, bytes: Uint8Array): Promise<PeerVerdict> => {
    await turns.take(entry)
    try {
      return await checkMessage(bytes, entry, parts.log)
    } finally {
      turns.release(entry)
    }
  }

  return {
    offer: (peer, topic, data) => {
      const listening = topics.get(topic)
      if (listening === undefined || parts.isBanned(peer)) return false
      if (data.byteLength > listening.maxBytes) {
        parts.onFault(peer, 'oversize message', 'gossip')
        parts.disconnect(peer, 'oversize message')
        return false
      }
      const id = hashOf(topic, data).toString('latin1')
      if (!seen.has(id)) return enter(id, peer, data.byteLength, listening.check)
      prioritise(id, peer)
      return false
    },
    idOf: (message) => {
      const hash = hashOf(message.topic, message.data)
      const id = hash.toString('latin1')
      ids.set(message, id)
      seen.add(id)
      return hash
    },
    validate: async (_, message) => {
      const id = ids.get(message) ?? ''
      const entry = entries.get(id)
      if (entry === undefined) return TopicValidatorResult.Ignore
      try {
        const verdict = await runCheck(entry, new Uint8Array(message.data))
        metrics.messages.inc({ verdict: verdict.action })
        parts.onVerdict(entry.peer, verdict)
        return results[verdict.action]
      } finally {
        entries.delete(id)
        entry.release()
      }
    },
  }
}

/** Takes a place for a message that waits; returns the function that gives it back, or null without one. */
function createPendingBudget(
  limits: P2pLimits,
): (remote: Remote, bytes: number) => (() => void) | null {
  const counts = createBudget(limits.pendingMessages)
  const sizes = createBudget(limits.pendingBytes)
  return (remote, bytes) => {
    const held = [counts.reserve(remote, 1), sizes.reserve(remote, bytes)]
    const release = (): void => {
      for (const reservation of held) reservation?.release()
    }
    if (!held.includes(null)) return release
    release()
    return null
  }
}

interface StrangerQueue {
  /** Resolves when the entry may go on; at once where it is urgent. */
  take(entry: Entry): Promise<void>
  /** Lets an entry go on that has become urgent. */
  prioritise(entry: Entry): void
  release(entry: Entry): void
}

/** Lets so many messages of strangers go on at a time, the others in their order. */
function createStrangerQueue(atATime: number): StrangerQueue {
  const waiting = new Set<Entry>()
  const running = new Set<Entry>()
  return {
    take: async (entry) => {
      if (entry.isUrgent) return
      if (running.size < atATime) {
        running.add(entry)
        return
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      entry.go = resolve
      waiting.add(entry)
      await promise
    },
    prioritise: (entry) => {
      waiting.delete(entry)
      entry.go?.()
    },
    release: (entry) => {
      const [next] = waiting
      if (!running.delete(entry) || next === undefined) return
      waiting.delete(next)
      running.add(next)
      next.go?.()
    },
  }
}

async function checkMessage(
  bytes: Uint8Array,
  { peer, check }: Entry,
  log: Logger,
): Promise<PeerVerdict> {
  try {
    return await check(bytes, { peer, via: 'gossip' })
  } catch (error) {
    log.error({ err: error, peer }, 'a message could not be validated')
    return { action: 'ignore', reason: 'the verdict failed' }
  }
}
