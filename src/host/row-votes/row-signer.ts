/**
 * Signs what this Host made of each block: once all its Views are done with it, or have not been for a while, and
 * further when more are. What is signed follows from the rows that are stored, so nothing else has to be remembered: a
 * Host that was killed finds what it had not signed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { DigestSigner } from '../../identity/signature.ts'
import { runtimeVersion } from '../../lens/program/run-limits.ts'
import {
  addHeights,
  eachHeight,
  type HeightRanges,
  removeHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import { type RowStatement, rowsDigest } from '../../row-votes/row-statement.ts'
import { blockRoot } from '../../row-votes/view-leaf.ts'
import { createShareOfTime, type ShareOfTime } from '../../share-of-time.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import type { RowsWriter } from '../views/engine/engine.ts'
import {
  findUnsigned,
  readStandingView,
  type SignedView,
  type UnsignedBlock,
} from './finished-leaves.ts'
import type { RowSignerMetrics } from './metrics.ts'
import { noticing } from './noticing.ts'

interface RowSignerOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** How long a block waits for Views that are not done with it. Default 2 s. */
  readonly patienceMs?: number
}

interface RowSignerParts {
  readonly reader: StoreReader
  readonly writer: RowsWriter & Pick<Writer, 'putRowStatement'>
  readonly signer: DigestSigner
  readonly metrics: RowSignerMetrics
  /** Called where the store cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface RowSigner {
  /** The writer for Views: what they store through it is signed. */
  readonly writer: RowsWriter
  /** Signs the rows of these Views from now on, and those that are stored and not signed. */
  begin(views: () => readonly SignedView[]): void
  /** Resolves once nothing is read or written any more. */
  close(): Promise<void>
}

/** After so long the rest of the heights waits for another turn of the event loop. */
const pieceMs = 5
/** Blocks that wait for Views, of which each is looked at again; beyond that they are signed at once. */
const maxWaiting = 1_024

interface State {
  readonly options: RowSignerOptions
  readonly parts: RowSignerParts
  readonly time: ShareOfTime
  readonly closing: AbortController
  /** Heights at which something was stored since they were last looked at; the highest are looked at first. */
  noticed: HeightRanges
  /** Since when blocks wait for Views that are not done with them. */
  readonly waiting: Map<number, number>
  views: (() => readonly SignedView[]) | null
  running: Promise<void> | null
  /** Ends a wait for Views. */
  nudge: AbortController
}

/** Signs nothing before `begin`. */
export function openRowSigner(options: RowSignerOptions, parts: RowSignerParts): RowSigner {
  const state: State = {
    options,
    parts,
    time: createShareOfTime(),
    closing: new AbortController(),
    noticed: [],
    waiting: new Map(),
    views: null,
    running: null,
    nudge: new AbortController(),
  }
  parts.writer.onStored(({ viewsDone }) => {
    const heights = viewsDone.map(({ height }) => height)
    if (heights.length > 0) notice(state, heights)
  })
  return {
    writer: noticing(parts.writer, (heights) => notice(state, heights)),
    begin: (views) => {
      state.views = views
      const stored = parts.reader.read((snapshot) =>
        views().flatMap(({ slot }) => [...snapshot.viewRanges(slot)]),
      )
      state.noticed = uniteHeights([...state.noticed, ...stored])
      wake(state)
    },
    close: async () => {
      state.closing.abort()
      state.nudge.abort()
      await state.running
    },
  }
}

function notice(state: State, heights: readonly number[]): void {
  for (const height of heights) state.noticed = addHeights(state.noticed, height)
  wake(state)
}

function wake(state: State): void {
  state.nudge.abort()
  if (state.views === null || state.running !== null || state.closing.signal.aborted) return
  state.running = work(state)
    .catch((error) => {
      if (!state.closing.signal.aborted) state.parts.onFatal(error)
      state.closing.abort()
    })
    .finally(() => {
      state.running = null
      if (state.noticed.length > 0) wake(state)
    })
}

/** Goes on until nothing is noticed and nothing waits. */
async function work(state: State): Promise<void> {
  const { closing, waiting, parts, time } = state
  while (!closing.signal.aborted) {
    if (state.noticed.length === 0) {
      if (waiting.size === 0) return
      await waitForOldest(state)
    }
    const blocks = await time.run(() => (closing.signal.aborted ? [] : signSome(state)))
    await Promise.all(
      blocks.map(({ statement, outdated }) =>
        parts.writer.putRowStatement(statement, outdated).then((isStored) => {
          if (isStored) parts.metrics.signed(outdated.length === 0 ? 'first' : 'further')
        }),
      ),
    )
  }
}

/** Notices those that have waited for long enough, or what is stored meanwhile. */
async function waitForOldest(state: State): Promise<void> {
  const patienceMs = patienceOf(state)
  const waitMs = Math.min(...state.waiting.values()) + patienceMs - performance.now()
  state.nudge = new AbortController()
  const { signal } = state.nudge
  await delay(Math.max(0, waitMs), undefined, { signal, ref: false }).catch(() => undefined)
  const now = performance.now()
  for (const [height, since] of state.waiting)
    if (now - since >= patienceMs) state.noticed = addHeights(state.noticed, height)
}

const patienceOf = ({ options }: State): number => options.patienceMs ?? 2_000

interface SignedBlock {
  readonly statement: RowStatement
  readonly outdated: readonly RowStatement[]
}

/** Signs noticed blocks for some milliseconds. */
function signSome(state: State): SignedBlock[] {
  const { parts, views } = state
  const startedAt = performance.now()
  const made: SignedBlock[] = []
  parts.reader.read((snapshot) => {
    const standing = (views?.() ?? []).map((view) => readStandingView(snapshot, view))
    const before = state.noticed
    for (const height of eachHeight(before, true)) {
      state.noticed = removeHeights(state.noticed, height)
      const found = findUnsigned(snapshot, standing, height, parts.signer.identity)
      if (found !== null && isDue(state, found)) made.push(sign(state, found))
      if (found === null) state.waiting.delete(height)
      if (performance.now() - startedAt > pieceMs) return
    }
  })
  return made
}

/** Whether a block is signed now, or waits for more of its Views. */
function isDue(state: State, { blockNumber, isComplete }: UnsignedBlock): boolean {
  const { waiting } = state
  const now = performance.now()
  const since = waiting.get(blockNumber) ?? now
  const isLate = now - since >= patienceOf(state) || waiting.size >= maxWaiting
  if (!isComplete && !isLate) {
    waiting.set(blockNumber, since)
    return false
  }
  waiting.delete(blockNumber)
  return true
}

function sign({ options, parts }: State, found: UnsignedBlock): SignedBlock {
  const { blockNumber, blockHash, leaves, outdated } = found
  const block = {
    network: options.network,
    runtime: runtimeVersion,
    blockNumber,
    blockHash,
    root: blockRoot(leaves),
  }
  const { type: signatureType, identity: signatureIdentity } = parts.signer
  const signatureValue = parts.signer.sign(rowsDigest(block))
  const signature = { signatureType, signatureIdentity, signatureValue }
  return { statement: { ...block, leaves, ...signature }, outdated }
}
