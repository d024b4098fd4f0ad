/**
 * Follows the chain that most signers follow: asks fork choice what to do about the blocks and heads that are
 * known, and does it. What is not stored waits beside the chain.
 */
import type { StoreWriter } from '../../store/store.ts'
import { countedSigners, reachedHeight, type Signer } from '../fork-choice/counting.ts'
import {
  type Choice,
  decide,
  fillStep,
  type Memory,
  noMemory,
  type Step,
  withReplaced,
} from '../fork-choice/decision.ts'
import { type KnownBlocks, type Link, parentOf } from '../fork-choice/link.ts'
import type { ChainWriter } from './chain-writer.ts'
import { createKnownBlocks, headOf } from './known-blocks.ts'
import type { SealBook } from './seal-book.ts'
import type { WaitingBlock, WaitingBlocks } from './waiting-blocks.ts'

export interface FollowerParts {
  readonly store: Pick<StoreWriter, 'reader'>
  readonly writer: ChainWriter
  readonly waiting: WaitingBlocks
  readonly book: SealBook
  /** All accepted signers, those of another chain without their heads. */
  readonly signers: () => readonly Signer[]
  /**
   * Whether nothing can be known of what lies below a block (see `KnownBlocks`), most counted signers having
   * reached a height.
   */
  readonly isRoot: (link: Link, reached: number | null) => boolean
  /** Monotonic, in milliseconds. */
  readonly nowMs: () => number
}

export interface Follower {
  /**
   * Decides and acts; answers whether more can be done at once. `news` are blocks that came since: one of
   * them may fill a gap, or bring documents that are to be served instead of others.
   */
  follow(news?: readonly Link[]): boolean
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
  tooDeep: null,
}

/** Blocks that are looked at again each time: the highest, since what is below goes with them. */
const maxHeld = 4

export function createFollower(startedMs: number, parts: FollowerParts): Follower {
  const { store, writer, waiting, book, nowMs } = parts
  let choice = noChoice
  let memory: Memory = noMemory
  let nextMs: number | null = null
  /** What belongs below the chain once more of it is known, or more signers have sealed it. */
  const held = new Map<string, Link>()

  const withBlocks: Follower['withBlocks'] = (use) =>
    store.reader.read((snapshot) => {
      const { pending } = writer
      const signers = parts.signers()
      const reached = reachedHeight(countedSigners(signers, { nowMs: nowMs(), startedMs }))
      const isRoot = (link: Link): boolean => parts.isRoot(link, reached)
      const blocks = createKnownBlocks({
        snapshot,
        pending,
        waiting,
        book,
        isRoot,
        accepted: signers.length,
      })
      return use(blocks, headOf({ snapshot, pending }))
    })

  /** Does as much of a step as there are bytes for; answers whether that was anything. */
  const take = (step: Step): boolean => {
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
    writer.write(ready.slice(0, Math.max(0, least) + maxBatch), step.conflict)
    return true
  }

  /** One decision, carried out; answers whether anything changed. */
  const act = (): boolean => {
    const time = { nowMs: nowMs(), startedMs }
    const decision = withBlocks((blocks) => decide(blocks, parts.signers(), memory, time))
    choice = decision.choice
    memory = decision.memory
    nextMs = decision.nextMs
    const { step } = decision
    if (step === null || !take(step)) return false
    if (step.kind !== 'append') memory = withReplaced(memory, step.conflict.depth, time.nowMs)
    return true
  }

  const hold = (link: Link): void => {
    held.set(link.hash, link)
    const [lowest] = [...held.values()].sort((a, b) => a.number - b.number)
    if (held.size > maxHeld && lowest !== undefined) held.delete(lowest.hash)
  }

  /** Stores what belongs below the chain, from a block downwards. */
  const fill = (link: Link): void => {
    let at: Link | undefined = link
    while (at !== undefined) {
      const next: Link = at
      const step = withBlocks((blocks) => fillStep(blocks, next))
      if (step === 'later') hold(next)
      else held.delete(next.hash)
      if (step === null || step === 'later' || step.kind === 'shrink' || !take(step)) return
      const [lowest = next] = step.path
      at = withBlocks((blocks) => parentOf(blocks, lowest))
    }
  }

  return {
    follow: (news = []) => {
      const isMore = act()
      for (const link of [...news, ...held.values()]) fill(link)
      return isMore
    },
    choice: () => choice,
    nextMs: () => nextMs,
    withBlocks,
  }
}

/** The lowest blocks of a path, as far as their bytes are here. */
function readyBlocks(waiting: WaitingBlocks, path: readonly Link[]): WaitingBlock[] {
  const ready: WaitingBlock[] = []
  for (const link of path) {
    const block = bodiedBlock(waiting, link)
    if (block === undefined) break
    ready.push(block)
  }
  return ready
}

/** The waiting block of a link with its bytes; undefined where they were dropped. */
export function bodiedBlock(waiting: WaitingBlocks, link: Link): WaitingBlock | undefined {
  return waiting.variants(link.hash).find(({ root, body }) => root === link.root && body !== null)
}

function isAbove(link: Link | undefined, height: number): boolean {
  return link !== undefined && link.number >= height
}
