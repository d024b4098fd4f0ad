/**
 * Follows the chain that most signers follow: asks fork choice what to do about the blocks and heads that are
 * known, and does it. What is not stored waits beside the chain.
 */
import type { StoreWriter } from '../../store/store.ts'
import { type BlockRef, type KnownBlocks, parentOf } from '../fork-choice/block-ref.ts'
import { followedSigners, reachedHeight, type Signer } from '../fork-choice/counting.ts'
import {
  type Choice,
  decide,
  fillStep,
  type Memory,
  noMemory,
  type Step,
  withReplaced,
} from '../fork-choice/decision.ts'
import type { ChainWriter } from './chain-writer.ts'
import { createKnownBlocks, headOf } from './known-blocks.ts'
import type { SealBook } from './seal-book.ts'
import type { WaitingBlock, WaitingBlocks } from './waiting-blocks.ts'

interface FollowerParts {
  readonly store: Pick<StoreWriter, 'reader'>
  readonly writer: ChainWriter
  readonly waiting: WaitingBlocks
  readonly book: SealBook
  /** All accepted signers, those of another chain without their heads. */
  readonly signers: () => readonly Signer[]
  /**
   * Whether nothing can be known of what lies below a block (see `KnownBlocks`), most signers having reached a
   * height (see `Choice.horizon`).
   */
  readonly isRoot: (link: BlockRef, horizon: number | null) => boolean
  /** Monotonic, in milliseconds. */
  readonly nowMs: () => number
}

export interface Follower {
  /**
   * Decides and applies the decision; returns whether more can be done at once. `news` are blocks
   * that came since: one of them may fill a gap, or bring documents that are to be served instead of others.
   */
  follow(news?: readonly BlockRef[]): boolean
  /** What the signers said when it last decided. */
  choice(): Choice
  /** Monotonic time at which to decide again without any news; null where time changes nothing. */
  nextMs(): number | null
  /** What is known now, and the highest stored height (-1 without any); usable until `use` returns. */
  withBlocks<T>(use: (blocks: KnownBlocks, head: number) => T): T
}

/** Blocks that are stored at a time. */
const maxBatch = 64

const noChoice: Choice = {
  signers: [],
  counted: [],
  stands: [],
  canonical: null,
  reached: null,
  horizon: null,
  fork: null,
}

/** Blocks that are checked again each time: the highest, since what is below goes with them. */
const maxHeld = 4

interface State {
  readonly parts: FollowerParts
  readonly startedMs: number
  choice: Choice
  memory: Memory
  nextMs: number | null
  /** What belongs below the chain once more of it is known, or more signers have sealed it. */
  readonly held: Map<string, BlockRef>
}

/** Nothing was decided yet. */
export function createFollower(startedMs: number, parts: FollowerParts): Follower {
  const state: State = {
    parts,
    startedMs,
    choice: noChoice,
    memory: noMemory,
    nextMs: null,
    held: new Map(),
  }
  return {
    follow: (news = []) => {
      const isMore = decideAndApply(state)
      for (const link of [...news, ...state.held.values()]) fill(state, link)
      return isMore
    },
    choice: () => state.choice,
    nextMs: () => state.nextMs,
    withBlocks: (use) => withBlocks(state, use),
  }
}

function withBlocks<T>(
  { parts, startedMs }: State,
  use: (blocks: KnownBlocks, head: number) => T,
): T {
  const { store, writer, waiting, book, nowMs } = parts
  return store.reader.read((snapshot) => {
    const { pending } = writer
    const signers = parts.signers()
    const horizon = reachedHeight(followedSigners(signers, { nowMs: nowMs(), startedMs }))
    const isRoot = (link: BlockRef): boolean => parts.isRoot(link, horizon)
    const accepted = signers.length
    const blocks = createKnownBlocks({ snapshot, pending, waiting, book, isRoot, accepted })
    return use(blocks, headOf({ snapshot, pending }))
  })
}

/** Decides once and applies the step; returns whether anything changed. */
function decideAndApply(state: State): boolean {
  const { parts, memory, startedMs } = state
  const time = { nowMs: parts.nowMs(), startedMs }
  const decision = withBlocks(state, (blocks) => decide(blocks, parts.signers(), memory, time))
  state.choice = decision.choice
  state.memory = decision.memory
  state.nextMs = decision.nextMs
  const { step } = decision
  if (step === null || !applyStep(parts, step)) return false
  if (step.kind !== 'append')
    state.memory = withReplaced(state.memory, step.conflict.depth, time.nowMs)
  return true
}

/** Applies as much of a step as there are bytes for; returns whether that was anything. */
function applyStep({ writer, waiting }: FollowerParts, step: Step): boolean {
  if (step.kind === 'shrink') {
    writer.write([], step.conflict)
    return true
  }
  const ready = readyBlocks(waiting, step.path)
  if (step.kind === 'append') {
    if (ready.length > 0) writer.write(ready.slice(0, maxBatch), null)
    return ready.length > 0
  }
  // A chain that gives way must not be followed by a shorter one for want of bytes.
  const isEnough = ready.length === step.path.length || isAbove(ready.at(-1), step.conflict.to)
  if (!isEnough) return false
  const least = step.conflict.to - (ready[0]?.number ?? 0) + 1
  writer.write(ready.slice(0, least + maxBatch), step.conflict)
  return true
}

/** Stores what belongs below the chain, from a block downwards. */
function fill(state: State, link: BlockRef): void {
  let at: BlockRef | undefined = link
  while (at !== undefined) {
    const next: BlockRef = at
    const step = withBlocks(state, (blocks) => fillStep(blocks, next))
    if (step === 'later') hold(state.held, next)
    else state.held.delete(next.hash)
    if (step === null || step === 'later' || step.kind === 'shrink') return
    if (!applyStep(state.parts, step)) return
    const [lowest = next] = step.path
    at = withBlocks(state, (blocks) => parentOf(blocks, lowest))
  }
}

function hold(held: Map<string, BlockRef>, link: BlockRef): void {
  held.set(link.hash, link)
  const [lowest] = [...held.values()].sort((a, b) => a.number - b.number)
  if (held.size > maxHeld && lowest !== undefined) held.delete(lowest.hash)
}

/** The lowest blocks of a path, as far as their bytes are here. */
function readyBlocks(waiting: WaitingBlocks, path: readonly BlockRef[]): WaitingBlock[] {
  const ready: WaitingBlock[] = []
  for (const link of path) {
    const block = bodiedBlock(waiting, link)
    if (block === undefined) break
    ready.push(block)
  }
  return ready
}

/** The waiting block of a link with its bytes; undefined where they were dropped. */
export function bodiedBlock(waiting: WaitingBlocks, link: BlockRef): WaitingBlock | undefined {
  return waiting.variants(link.hash).find(({ root, body }) => root === link.root && body !== null)
}

function isAbove(link: BlockRef | undefined, height: number): boolean {
  return link !== undefined && link.number >= height
}
