/** What the parts of a follower share. */
import type { Logger } from 'pino'
import type { WelcomedView } from '../../follow/host-frames.ts'
import type { FollowedBlock } from '../../follow/open-frames.ts'
import { runtimeVersion } from '../../lens/program/run-limits.ts'
import type { InTurn } from '../../primitives/in-turn.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { AcceptedHosts } from '../accepted-hosts.ts'
import type { FollowedViews, KnownView } from '../followed-views.ts'
import { type BlockStore, createBlockStore } from './block-store.ts'
import type { Welcome } from './host-stream.ts'
import { createLeftBlocks, type LeftBlocks } from './left-blocks.ts'
import type { Patience } from './patience.ts'
import type { PendingBlocks } from './pending-blocks.ts'
import { createPendingSeals, type PendingSeals } from './pending-seals.ts'
import { createPendingVotes, type PendingVotes } from './pending-votes.ts'
import { openReportedHeights, type ReportedHeights } from './reported-heights.ts'
import type { Slices } from './slices.ts'

/** Heights without rows, both ends included. */
export interface Hole {
  readonly from: number
  readonly to: number
}

export interface FollowerOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Hosts that have to agree on rows before they are stored. */
  readonly minimumHosts: number
  /** Identities of accepted Generators. */
  readonly signers: ReadonlySet<string>
  /** First height that is followed. */
  readonly from: number
  /** Fills these heights and nothing else: what is stored stays. Default: follows what comes above. */
  readonly hole?: Hole
  readonly patience: Patience
  /** Memory that blocks which wait for votes may take. Default 4 MiB. */
  readonly maxPendingBytes?: number
}

export interface FollowerParts {
  readonly store: StoreWriter
  readonly views: FollowedViews
  readonly accepted: AcceptedHosts
  readonly log: Logger
  /** What is stored stays as a follower found it until it has stored what it made of that, also where several write. */
  readonly inTurn: InTurn
  /** In which rows are read as they come, of all followers together. */
  readonly slices: Slices
  /** A View has something of a height that it did not have. */
  readonly onHeight: (view: KnownView, number: number) => void
  /** Seals of a stored block were added. */
  readonly onSealed: (number: number) => void
  /** What was stored above a height is gone. */
  readonly onRemoved: (above: number) => void
  /** The store failed. */
  readonly onFatal: (error: unknown) => void
}

/** A stream of a Host, as the follower knows it. */
export interface StreamSource {
  readonly peer: string
  /** Aborted with the stream. */
  readonly signal: AbortSignal
  /** Called with who it is and how it has the Views. */
  readonly onWelcome: (welcome: Welcome) => void
  /** A block came, or what the Host signed. */
  readonly onProgress: () => void
  readonly onHead: (place: FollowedBlock) => void
}

export interface FollowerState {
  readonly options: FollowerOptions
  readonly parts: FollowerParts
  readonly blocks: BlockStore
  readonly votes: PendingVotes
  readonly seals: PendingSeals
  /** What accepted Hosts say themselves gave way. */
  readonly left: LeftBlocks
  /** Up to which height each Host has said itself what it has. */
  readonly reported: ReportedHeights
  /** Blocks of Views that wait for their votes, those of a View all of one stream. */
  readonly pending: Map<string, PendingBlocks>
  /** Which block 0 accepted Hosts named. */
  readonly genesis: Map<string, string>
  /** Hosts that signed other rows of the lowest block of a View that waits. */
  readonly differing: Map<string, readonly string[]>
  /** The lowest block of a View that waits, and since when, whichever Host sent it. */
  readonly lowest: Map<string, FollowedBlock & { readonly sinceMs: number }>
  /** The lowest height of a View that was left out, and since when. */
  readonly leftOut: Map<string, { readonly from: number; readonly sinceMs: number }>
  /** Heights of the hole of which no rows can be had. */
  readonly passed: Set<number>
  /** The stream whose rows of a View are taken. */
  readonly feeds: Map<string, StreamSource>
  /** How accepted Hosts have the Views, as they said last. */
  readonly heard: Map<string, readonly WelcomedView[]>
  running: Promise<void> | null
  isAwake: boolean
  isClosed: boolean
  /** Resolves those that wait for a change. */
  waiting: (() => void)[]
}

/** Follows nobody yet. */
export function createFollowerState(options: FollowerOptions, parts: FollowerParts): FollowerState {
  const reported = openReportedHeights(options.hole === undefined ? parts.store : null)
  return {
    options,
    parts,
    blocks: createBlockStore(parts.store),
    votes: createPendingVotes({ runtime: runtimeVersion }),
    seals: createPendingSeals(options),
    left: createLeftBlocks(reported),
    reported,
    pending: new Map(),
    genesis: new Map(),
    differing: new Map(),
    lowest: new Map(),
    leftOut: new Map(),
    passed: new Set(),
    feeds: new Map(),
    heard: new Map(),
    running: null,
    isAwake: false,
    isClosed: false,
    waiting: [],
  }
}

/** Resolves once a condition holds, with false where the stream is aborted first. */
export async function untilChanged(
  state: FollowerState,
  { signal }: Pick<StreamSource, 'signal'>,
  condition: () => boolean,
): Promise<boolean> {
  while (!state.isClosed && !signal.aborted && !condition())
    await new Promise<void>((resolve) => state.waiting.push(resolve))
  return !state.isClosed && !signal.aborted
}

/** Lets everything that waits check its condition again. */
export function noteChange(state: FollowerState): void {
  const { waiting } = state
  state.waiting = []
  for (const resolve of waiting) resolve()
}
