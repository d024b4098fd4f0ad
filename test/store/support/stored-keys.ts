/** What lies in the file of a closed store, beside what its state says: nothing is missing, and nothing is left over. */
import assert from 'node:assert/strict'
import {
  clipHeights,
  eachHeight,
  eachSpan,
  hasHeight,
  subtractHeights,
  uniteHeights,
} from '../../../src/primitives/height-ranges.ts'
import {
  closeWriting,
  type Database,
  openForWriting,
  openRoot,
} from '../../../src/store/disk/environment.ts'
import {
  decodeHeader,
  hashBytes,
  indexLevel,
  pieceBytes,
  pieceCount,
  pieceKey,
  type StoreDatabase,
  type StoreState,
  spanBlocks,
  splitSealEntryKey,
} from '../../../src/store/disk/layout.ts'
import { readState } from '../../../src/store/disk/store-identity.ts'
import {
  decodeSlot,
  decodeViewBlock,
  heightOfViewKey,
  slotKey,
  slotOfKey,
  type ViewBlock,
  type ViewSlot,
  viewPieceKey,
} from '../../../src/store/disk/view-layout.ts'

interface Entry {
  readonly key: Buffer
  readonly value: Buffer
}

type Entries = Readonly<Record<StoreDatabase, readonly Entry[]>>

const entriesOf = (database: Database): Entry[] =>
  [...database.getRange({})].map(({ key, value }) => ({
    key: Buffer.from(key),
    value: Buffer.from(value),
  }))

const hex = (keys: readonly Buffer[]): string[] => keys.map((key) => key.toString('hex')).sort()
const keysOf = (entries: readonly Entry[]): string[] => hex(entries.map(({ key }) => key))
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)
const ascending = (numbers: Iterable<number>): number[] =>
  [...new Set(numbers)].sort((a, b) => a - b)

/** Looks at every key of a store that nobody has open; returns its state. */
export async function assertNothingLeftOver(path: string): Promise<StoreState> {
  const environment = openForWriting(openRoot(path))
  const { databases } = environment
  const entries = Object.fromEntries(
    Object.entries(databases).map(([name, database]) => [
      name,
      name === 'meta' ? [] : entriesOf(database),
    ]),
  ) as unknown as Entries
  const { state } = readState(databases.meta)
  await closeWriting(environment, true)
  assertBlocks(entries, state)
  assertIndex(entries, state)
  assertSlots(entries, state)
  return state
}

/** Each block has its header and all pieces of its body, and its hash and those of seals lead to heights. */
function assertBlocks({ headers, bodies, hashes, seals }: Entries, state: StoreState): void {
  const stored = headers.map(({ key, value }) => decodeHeader(key.readUIntBE(0, 6), value).header)
  const known = uniteHeights([...state.blocks, ...state.pruned])
  assert.deepEqual(
    stored.map(({ number }) => number),
    [...eachHeight(known)],
  )
  const pieces = stored
    .filter(({ number }) => hasHeight(state.blocks, number))
    .flatMap(({ number, bodyBytes }) =>
      Array.from({ length: pieceCount(bodyBytes) }, (_, piece) => pieceKey(number, piece)),
    )
  assert.deepEqual(keysOf(bodies), hex(pieces))
  const named = new Map(stored.map(({ hash, number }) => [hashBytes(hash).toString('hex'), number]))
  for (const { hash, height } of seals.map(({ key }) => splitSealEntryKey(key)))
    named.set(hash.toString('hex'), height)
  const found = hashes.map(
    ({ key, value }) => [key.toString('hex'), value.readUIntBE(0, 6)] as const,
  )
  assert.deepEqual(new Map(found), named)
}

/** A block has a table of its own until it is merged into that of its span, and no span without blocks has one. */
function assertIndex({ index }: Entries, { blocks, unmerged }: StoreState): void {
  const firstOf = (level: number): number[] =>
    ascending(index.flatMap(({ key }) => (key[0] === level ? [key.readUIntBE(1, 6)] : [])))
  assert.deepEqual(firstOf(indexLevel.block), [...eachHeight(unmerged)])
  const spans = firstOf(indexLevel.span)
  const firsts = [...eachSpan(subtractHeights(blocks, unmerged), spanBlocks)]
  for (const span of firsts) assert.ok(spans.includes(span * spanBlocks), `span ${span} is missing`)
  for (const first of spans)
    assert.notDeepEqual(clipHeights(blocks, first, first + spanBlocks - 1), [], `span at ${first}`)
}

/** A slot has rows and tables of the blocks that it names and no others, and counts what they take. */
function assertSlots(entries: Entries, state: StoreState): void {
  const { viewSlots, viewBlocks, viewRows, viewIndex } = entries
  const slots = new Map(viewSlots.map(({ key, value }) => [slotOfKey(key), decodeSlot(value)]))
  for (const { key } of [...viewBlocks, ...viewRows, ...viewIndex])
    assert.ok(slots.has(slotOfKey(key)), 'keys belong to a slot')
  for (const [slot, has] of slots) {
    const isOwn = ({ key }: Entry): boolean => key.subarray(0, 4).equals(slotKey(slot))
    const blocks = new Map(
      viewBlocks
        .filter(isOwn)
        .map(({ key, value }) => [heightOfViewKey(key), decodeViewBlock(value)]),
    )
    assertSlot(has, state, blocks)
    const pieces = [...blocks].flatMap(([height, { bytes }]) =>
      Array.from({ length: pieceCount(bytes) }, (_, piece) => viewPieceKey(slot, height, piece)),
    )
    const rows = viewRows.filter(isOwn)
    assert.deepEqual(keysOf(rows), hex(pieces))
    assert.ok(
      rows.every(({ value }) => value.length <= pieceBytes),
      'a piece fills a page',
    )
    assertViewIndex(has, viewIndex.filter(isOwn))
  }
}

function assertSlot(
  { done, failed, rows, bytes }: ViewSlot,
  state: StoreState,
  blocks: ReadonlyMap<number, ViewBlock>,
): void {
  const all = uniteHeights([...done, ...failed])
  assert.deepEqual(subtractHeights(all, uniteHeights([...state.blocks, ...state.pruned])), [])
  for (const height of blocks.keys()) assert.ok(hasHeight(all, height), `rows at ${height}`)
  for (const height of eachHeight(failed)) assert.equal(blocks.get(height)?.root, null)
  const withRows = [...blocks].flatMap(([height, block]) =>
    hasHeight(done, height) ? [block] : [],
  )
  assert.equal(rows, sum(withRows.map(({ count }) => count)))
  assert.equal(bytes, sum(withRows.map((block) => block.bytes)))
}

function assertViewIndex({ done, merged, indexBytes }: ViewSlot, tables: readonly Entry[]): void {
  assert.equal(indexBytes, sum(tables.map(({ value }) => value.length)))
  const waiting = subtractHeights(done, merged)
  const spans = [...eachSpan(merged, spanBlocks)]
  for (const { key } of tables) {
    const height = heightOfViewKey(key)
    if (key.length === 12) assert.ok(hasHeight(waiting, height), `table of ${height}`)
    else assert.ok(spans.includes(height / spanBlocks), `table of span at ${height}`)
  }
}
