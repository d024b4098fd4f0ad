/** Look-ups in the index of one snapshot: which chunks may hold a value. */
import type { TermKind } from '../primitives/index-terms.ts'
import { createEpochCache, type EpochCache } from './epoch-cache.ts'
import { type FingerprintSeed, fingerprint } from './fingerprint.ts'
import {
  clipHeights,
  countHeights,
  eachHeight,
  eachSpan,
  type HeightRanges,
} from './height-ranges.ts'
import {
  chunkOfPlace,
  findInEntries,
  findInPages,
  heightInSpan,
  type Place,
  readEntries,
} from './index-table.ts'
import { type IndexLevel, indexLevel, type StoreState, spanBlocks } from './layout.ts'
import type { Candidate } from './store.ts'

/** Tables of single blocks that were read lately. */
export type TableCache = EpochCache<Buffer>

const maxTableBytes = 4 * 1024 * 1024
const noEntries = Buffer.alloc(0)

export function createTableCache(): TableCache {
  return createEpochCache(maxTableBytes, (table) => table.length + 64)
}

/** What a look-up reads from. */
export interface IndexView {
  readonly state: StoreState
  readonly seed: FingerprintSeed
  readonly cache: TableCache
  readPage(level: IndexLevel, first: number, page: number): Buffer | undefined
}

/** What is looked for. */
export interface Lookup {
  readonly kind: TermKind
  readonly value: Uint8Array
  readonly from: number
  readonly to: number
  readonly descending: boolean
}

/** Candidates of a value, span by span, so that a caller with enough of them stops the rest. */
export function* findCandidates(view: IndexView, lookup: Lookup): Generator<Candidate> {
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
): Generator<Candidate> {
  const first = span * spanBlocks
  const last = first + spanBlocks - 1
  const here = clipHeights(blocks, first, last)
  const loose = here.flatMap(([from, to]) => [...clipHeights(view.state.loose, from, to)])
  if (countHeights(loose) === countHeights(here)) {
    for (const height of eachHeight(loose, descending)) {
      yield* candidatesAt(first, findInBlock(view, height, wanted), descending)
    }
    return
  }
  const [low, high] = [here[0]?.[0] ?? last, here.at(-1)?.[1] ?? first]
  const merged = findInPages((page) => view.readPage(indexLevel.span, first, page), wanted)
  const places = merged.filter((place) => {
    const height = first + heightInSpan(place)
    return height >= low && height <= high
  })
  for (const height of eachHeight(loose)) places.push(...findInBlock(view, height, wanted))
  if (countHeights(loose) > 0) places.sort((a, b) => a - b)
  yield* candidatesAt(first, places, descending)
}

function* candidatesAt(
  first: number,
  places: readonly Place[],
  descending: boolean,
): Generator<Candidate> {
  for (let index = 0; index < places.length; index++) {
    const place = places[descending ? places.length - 1 - index : index] ?? 0
    yield { height: first + heightInSpan(place), ...chunkOfPlace(place) }
  }
}

function findInBlock(view: IndexView, height: number, wanted: number): Place[] {
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
