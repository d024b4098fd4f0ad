/** The applications that follow Views of this Host: who they are, and what wakes them. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import { encodeHostFrame } from '../../follow/host-frames.ts'
import type { ChannelHandlers } from '../../p2p/streams/channels.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import { noticing } from '../row-votes/noticing.ts'
import type { RowsWriter } from '../views/engine/engine.ts'
import { type HostedView, isHosted, type KeptView } from '../views/hosted-view.ts'
import { createFollowMetrics, type FollowMetrics } from './metrics.ts'
import { createMoments, type Moments } from './moments.ts'
import { createFollowSession, type FollowSession, type FollowTimes } from './session.ts'

interface FollowersOptions {
  /** Identity of this Host. */
  readonly own: string
  readonly times?: Partial<FollowTimes>
}

interface FollowersParts {
  readonly registry: Registry
  readonly reader: StoreReader
  readonly writer: RowsWriter & Pick<Writer, 'putRowStatement'>
}

/** What a Host knows of its chain. */
interface FollowedChain {
  /** Hash of block 0; null before it is known. */
  readonly genesis: string | null
  /** The lowest height that is kept. */
  readonly floor: number
  /** The lowest height that its peers serve; null where none does. */
  readonly servedFrom: number | null
}

/** The Views of a Host. */
interface FollowedViews {
  kept(): readonly KeptView[]
  find(id: string): { readonly state: string } | undefined
}

export interface Followers {
  /** The writer for Views and the row signer: followers get what is stored through it at once. */
  readonly writer: RowsWriter & Pick<Writer, 'putRowStatement'>
  /** Serves these Views from now on. */
  begin(views: FollowedViews): void
  setChain(chain: Partial<FollowedChain>): void
  /** Serves followers, who get this identity proof. */
  channels(proof: Uint8Array): ChannelHandlers
  count(): number
  /** Notifies all of them that the Host stops, and waits for them, but not for long. */
  close(): Promise<void>
}

/** As the protocol says. */
const usualTimes: FollowTimes = { slowMs: 60_000, gapMs: 60_000, headMs: 15_000, checkMs: 750 }
/** How long a stopping Host waits for those that do not read. */
const farewellMs = 500

interface State {
  readonly options: FollowersOptions
  readonly moments: Moments
  readonly metrics: FollowMetrics
  readonly sessions: Map<FollowSession, Promise<unknown>>
  readonly stopping: AbortController
  views: FollowedViews | null
  chain: FollowedChain
}

export function openFollowers(
  options: FollowersOptions,
  { registry, reader, writer }: FollowersParts,
): Followers {
  const sessions: State['sessions'] = new Map()
  const fresh = new Map<number, RowStatement>()
  const state: State = {
    options,
    sessions,
    moments: createMoments(reader, fresh),
    metrics: createFollowMetrics(registry, () => sessions.size),
    stopping: new AbortController(),
    views: null,
    chain: { genesis: null, floor: 0, servedFrom: null },
  }
  const ringAll = (): void => {
    for (const session of sessions.keys()) session.ring()
  }
  const notifySigned = (height: number): void => {
    for (const session of sessions.keys()) session.onSigned(height)
  }
  writer.onStored(ringAll)
  return {
    writer: {
      ...noticing(writer, ringAll),
      putRowStatement: async (statement, outdated) => {
        const { blockNumber } = statement
        // Sessions are notified before it is stored: a Host that is killed in between signs the same again.
        fresh.set(blockNumber, statement)
        notifySigned(blockNumber)
        try {
          return await writer.putRowStatement(statement, outdated)
        } finally {
          if (fresh.get(blockNumber) === statement) fresh.delete(blockNumber)
          notifySigned(blockNumber)
        }
      },
    },
    begin: (views) => {
      state.views = views
    },
    setChain: (chain) => {
      state.chain = { ...state.chain, ...chain }
    },
    channels: (proof) => channelsOf(state, proof),
    count: () => sessions.size,
    close: async () => {
      state.stopping.abort()
      await Promise.race([Promise.all(sessions.values()), delay(farewellMs)])
    },
  }
}

function channelsOf(state: State, proof: Uint8Array): ChannelHandlers {
  const { options, moments, metrics, sessions, stopping } = state
  const times = { ...usualTimes, ...options.times }
  return {
    views: {
      busy: encodeHostFrame({ kind: 'error', error: 'busy', tail: null }),
      serve: async (channel) => {
        const session = createFollowSession(channel, times, {
          moments,
          metrics,
          proof,
          own: options.own,
          genesis: () => state.chain.genesis,
          fillsFrom: () => Math.max(state.chain.floor, state.chain.servedFrom ?? 0),
          viewOf: (id) => storedView(state, id),
          stateOf: (id) => state.views?.find(id)?.state ?? 'waiting',
          stopping: stopping.signal,
        })
        const running = session.run()
        sessions.set(
          session,
          running.catch(() => undefined),
        )
        try {
          metrics.ended(await running)
        } catch (error) {
          const isFault = error instanceof Error && 'fault' in error
          metrics.ended(isFault ? 'fault' : 'failed')
          throw error
        } finally {
          sessions.delete(session)
        }
      },
    },
  }
}

/** A View that is served here, and of which rows are stored. */
function storedView({ views }: State, id: string): HostedView | undefined {
  const found = views?.kept().find((view) => view.id === id)
  return found !== undefined && isHosted(found) && found.rowType.materialized ? found : undefined
}
