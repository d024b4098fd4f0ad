/**
 * Signs the head of this Generator at the times that `schedule.ts` determines, and continues above a head
 * of its own that a peer has.
 */
import type { Logger } from 'pino'
import type { ChainHead as NodeBlock } from '../../chain/block-reader.ts'
import { ServiceError } from '../../errors.ts'
import type { Head } from '../../primitives/head.ts'
import type { Snapshot } from '../../store/store.ts'
import type { Clock } from './clock.ts'
import { countForeignHead, keyRunsTwice, noForeignHeads, startAt } from './foreign-heads.ts'
import {
  type BlockPlace,
  type HeadState,
  type HeadStep,
  nextHeadStep,
  startingHeadState,
} from './schedule.ts'
import {
  type HeadMessage,
  openStoredHead,
  type StoredHead,
  type StoredHeadParts,
} from './stored-head.ts'
import type { HeadTiming } from './timing.ts'

export interface HeadSignerOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly timing: HeadTiming
}

export interface HeadSignerParts extends StoredHeadParts {
  readonly clock: Clock
  readonly log: Logger
  /** Asks the node for its block at a height; null where it has none. */
  readonly askNode: (height: number) => Promise<NodeBlock | null>
  /** The node has another block at the height of our newest. */
  readonly onDiffers: () => void
  /** A head to send. */
  readonly onHead: (head: HeadMessage) => void
  /** A write that failed, or GENERATOR_KEY_RUNS_TWICE; nothing is signed after it. */
  readonly onFailure: (error: unknown) => void
}

export interface HeadSigner {
  setGenesis(hash: string): void
  /** Height of the node's head; the first is that of the start. */
  setNodeHeight(height: number): void
  /**
   * The newest block and its seal are on the disk; the node returned the block at that time. Resolves when
   * no head is being written: one that is due with this block has been emitted by then.
   */
  sealed(block: BlockPlace, returnedMs: number): Promise<void>
  /** The node contradicts our newest block: its earlier responses confirm nothing any more. */
  doubt(): void
  /** Blocks are about to be removed: nothing is signed until `resume`. */
  suspend(): void
  /** Continues from the newest block of the store, where it is sealed. */
  resume(): void
  /** A peer has this head, which our key signed and, as far as is known, this program did not. */
  found(head: Head): void
  /** Stops signing; resolves when the last head is on the disk. */
  close(): Promise<void>
}

/** Signs nothing before block 0 and a sealed block are known. */
export function createHeadSigner(options: HeadSignerOptions, parts: HeadSignerParts): HeadSigner {
  const { timing } = options
  const { signer, store, clock, log } = parts
  const stored = openStoredHead(options.network, parts)
  const steps = createSteps(timing, { ...parts, stored })
  let foreign = noForeignHeads
  let doubtedMs = Number.NEGATIVE_INFINITY
  return {
    setGenesis: (genesisHash) => steps.change({ genesisHash }),
    setNodeHeight(height) {
      foreign = startAt(foreign, height)
      steps.setNodeHeight(height)
    },
    async sealed(tip, returnedMs) {
      const confirmedMs = returnedMs > doubtedMs ? returnedMs : null
      steps.change({ tip, confirmedMs, isNews: true })
      await steps.writing()
    },
    doubt() {
      doubtedMs = clock.nowMs()
      steps.discard()
      steps.change({ confirmedMs: null, isNews: true })
    },
    suspend() {
      steps.discard()
      steps.change({ tip: null })
    },
    resume() {
      const tip = store.reader.read((snapshot) => sealedTip(snapshot, signer.identity))
      steps.change({ tip, confirmedMs: null, askedMs: null, isNews: true })
    },
    found(head) {
      const isAbove = stored.goAbove(head.sequence)
      if (!isAbove && head.sequence <= (stored.before ?? -1)) return
      const before = foreign
      if (head.genesisHash === steps.state().genesisHash) {
        const { nodeHeight } = head
        const ownHeight = steps.nodeHeight()
        const found = { nodeHeight, isAbove }
        foreign = countForeignHead(before, found, ownHeight, timing, clock.nowMs())
      }
      const facts = { height: head.number, sequence: head.sequence }
      if (foreign !== before)
        log.warn(facts, 'another program signs heads with the key of this Generator')
      else if (isAbove) log.debug(facts, 'a peer has a newer head of ours, continues above it')
      if (keyRunsTwice(foreign, timing)) steps.fail(runsTwice(head))
      else if (isAbove) steps.change({ isNews: true })
    },
    close: steps.close,
  }
}

/** Runs the steps of the schedule, whenever something changes or one is due. */
interface Steps {
  state(): HeadState
  change(part: Partial<HeadState>): void
  nodeHeight(): number
  setNodeHeight(height: number): void
  /** Discards the results of signing and requests in flight. */
  discard(): void
  /** Resolves when no head is being written. */
  writing(): Promise<void>
  fail(error: unknown): void
  close(): Promise<void>
}

interface StepParts
  extends Pick<HeadSignerParts, 'clock' | 'askNode' | 'onDiffers' | 'onHead' | 'onFailure'> {
  readonly stored: StoredHead
}

function createSteps(timing: HeadTiming, parts: StepParts): Steps {
  const { clock } = parts
  let state = startingHeadState
  let nodeHeight = 0
  let discarded = 0
  let writing: Promise<void> | null = null
  let isAsking = false
  let isOver = false
  let cancelTimer = (): void => undefined

  const end = (): void => {
    isOver = true
    cancelTimer()
  }
  const fail = (error: unknown): void => {
    end()
    parts.onFailure(error)
  }
  const sign = async ({ tip, genesisHash }: Step<'sign'>): Promise<void> => {
    const before = discarded
    const height = Math.max(nodeHeight, tip.number)
    const head = await parts.stored.put({ genesisHash, ...tip, nodeHeight: height })
    writing = null
    if (discarded === before && !isOver) parts.onHead(head)
    runDueStep()
  }
  const ask = async ({ tip }: Step<'ask'>): Promise<void> => {
    const before = discarded
    const block = await parts.askNode(tip.number)
    isAsking = false
    const isAbout = discarded === before && state.tip === tip
    if (isAbout && block?.hash === tip.hash) state = { ...state, confirmedMs: clock.nowMs() }
    else if (isAbout && block !== null) parts.onDiffers()
    runDueStep()
  }
  const runDueStep = (): void => {
    cancelTimer()
    if (isOver) return
    const step = nextHeadStep(state, timing, clock.nowMs())
    if (step.kind === 'wait') cancelTimer = clock.after(step.ms, runDueStep)
    if (step.kind === 'sign' && writing === null) {
      state = { ...state, signedMs: clock.nowMs(), isNews: false }
      writing = sign(step).catch(fail)
    }
    if (step.kind === 'ask' && !isAsking) {
      isAsking = true
      state = { ...state, askedMs: clock.nowMs() }
      ask(step).catch(fail)
    }
  }
  return {
    state: () => state,
    change(part) {
      state = { ...state, ...part }
      runDueStep()
    },
    nodeHeight: () => nodeHeight,
    setNodeHeight(height) {
      nodeHeight = height
    },
    discard() {
      discarded++
    },
    async writing() {
      await writing
    },
    fail,
    async close() {
      end()
      await writing
    },
  }
}

type Step<K extends HeadStep['kind']> = Extract<HeadStep, { kind: K }>

/** The newest stored block; null where it has no seal of this identity. */
function sealedTip(snapshot: Snapshot, identity: string): BlockPlace | null {
  const range = snapshot.range()
  const header = range === null ? undefined : snapshot.header(range.head)
  if (header === undefined) return null
  const isSealed = snapshot
    .sealsOf(header.hash)
    .some((seal) => seal.signatureIdentity === identity && seal.merkleRoot === header.root)
  return isSealed ? { number: header.number, hash: header.hash } : null
}

function runsTwice({ sequence, number, signatureIdentity }: Head): ServiceError {
  return new ServiceError(
    'GENERATOR_KEY_RUNS_TWICE',
    `The key of this Generator runs twice: another program that has it signed heads three times in ten minutes, the last one at height ${number}.`,
    {
      facts: { identity: signatureIdentity, height: number, sequence },
      remedy:
        'Stop the other program that runs with a copy of this key directory (DB_KEY_PATH), then start this one again; a second Generator needs a key directory of its own.',
    },
  )
}
