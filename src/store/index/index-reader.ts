/** Lookups in the index of one snapshot: which chunks may hold a value. */
import {
  clipHeights,
  countHeights,
  eachHeight,
  eachSpan,
  type HeightRanges,
  hasHeight,
} from '../../primitives/height-ranges.ts'
import type { TermKind } from '../../primitives/index-terms.ts'
import { type FingerprintSeed, fingerprint } from '../disk/fingerprint.ts'
import { type IndexLevel, indexLevel, type StoreState, spanBlocks } from '../disk/layout.ts'
import type { CandidateChunk } from '../store.ts'
import { createEpochCache, type EpochCache } from './epoch-cache.ts'
import {
  chunkAtPosition,
  findInEntries,
  findInPages,
  heightInSpan,
  readEntries,
  type SpanPosition,
} from './index-table.ts'

/** Tables of single blocks that were read lately. */
export type TableCache = EpochCache<Buffer>

const maxTableBytes = 4 * 1024 * 1024
const noEntries = Buffer.alloc(0)

export function createTableCache(): TableCache {
  return createEpochCache(maxTableBytes, (table) => table.length + 64)
}

/** What a lookup reads from. */
export interface IndexView {
  readonly state: StoreState
  readonly seed: FingerprintSeed
  readonly cache: TableCache
  readPage(level: IndexLevel, first: number, page: number): Buffer | undefined
}

/** What is looked up. */
interface TermLookup {
  readonly kind: TermKind
  readonly value: Uint8Array
  readonly from: number
  readonly to: number
  readonly descending: boolean
}

/** Candidates of a value, span by span, so that a caller with enough of them stops the rest. */
export function* findCandidates(view: IndexView, lookup: TermLookup): Generator<CandidateChunk> {
  const wanted = fingerprint(view.seed, lookup.kind, lookup.value)
  const blocks = clipHeights(view.state.blocks, lookup.from, lookup.to)
  for (const span of eachSpan(blocks, spanBlocks, lookup.descending)) {
    yield* findInSpan(view, span, blocks, wanted, lookup.descending)
  }
}

function* findInSpan(
  view: IndexView,
  span: number,
  blocks: HeightRanges,
  wanted: number,
  descending: boolean,
): Generator<CandidateChunk> {
  const first = span * spanBlocks
  const last = first + spanBlocks - 1
  const here = clipHeights(blocks, first, last)
  const unmerged = here.flatMap(([from, to]) => [...clipHeights(view.state.unmerged, from, to)])
  if (countHeights(unmerged) === countHeights(here)) {
    for (const height of eachHeight(unmerged, descending)) {
      yield* candidatesAt(first, findInBlock(view, height, wanted), descending)
    }
    return
  }
  const merged = findInPages((page) => view.readPage(indexLevel.span, first, page), wanted)
  const positions = merged.filter((position) => hasHeight(here, first + heightInSpan(position)))
  for (const height of eachHeight(unmerged)) positions.push(...findInBlock(view, height, wanted))
  if (countHeights(unmerged) > 0) positions.sort((a, b) => a - b)
  yield* candidatesAt(first, positions, descending)
}

function* candidatesAt(
  first: number,
  positions: readonly SpanPosition[],
  descending: boolean,
): Generator<CandidateChunk> {
  for (let index = 0; index < positions.length; index++) {
    const position = positions[descending ? positions.length - 1 - index : index] ?? 0
    yield { height: first + heightInSpan(position), ...chunkAtPosition(position) }
  }
}

function findInBlock(view: IndexView, height: number, wanted: number): SpanPosition[] {
  const { cache, state } = view
  const table = cache.read(state.epoch, height, () =>
    ownCopy(readEntries((page) => view.readPage(indexLevel.block, height, page)) ?? noEntries),
  )
  return findInEntries(table ?? noEntries, wanted)
}

/** A copy in memory of its own: what is kept must not keep a shared slab. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
