import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chunk } from '../../../src/primitives/body/chunk.ts'
import { emptySlot, encodeSlot, type ViewBlock } from '../../../src/store/disk/view-layout.ts'
import { createRowCache } from '../../../src/store/read/row-cache.ts'

/** A chunk as far as the cache looks at it. */
const chunkOf = (rawBytes: number) => ({ rawBytes }) as Chunk

test('slots with the same bytes are parsed once, and each has what it has once one changes', () => {
  const cache = createRowCache(1_000)
  const [before, after] = [
    { ...emptySlot, done: [[1, 2]] as const },
    { ...emptySlot, done: [[1, 3]] as const },
  ]
  // As of a store, which gives others the memory of a value.
  const shared = Buffer.alloc(1_000)
  const read = (slot: number, has: typeof before | typeof after) => {
    const bytes = encodeSlot(has)
    bytes.copy(shared)
    return cache.slot(slot, shared.subarray(0, bytes.length))
  }
  const [one, two] = [read(1, before), read(2, before)]
  assert.deepEqual(one, before)
  assert.equal(two, one)
  assert.deepEqual(read(1, after), after)
  assert.equal(read(2, before), one)
  assert.deepEqual(read(2, after), after)
  assert.deepEqual(read(1, before), before)
  assert.deepEqual(one, before)
})

test('a block is read once by its serial number', () => {
  const cache = createRowCache(1_000_000)
  const block = (serial: number): ViewBlock => ({
    ...{ serial, blockHash: `0x${'ab'.repeat(32)}`, count: 3, bytes: 90, root: null },
  })
  const [first, second] = [block(7), block(8)]
  assert.equal(
    cache.block(7, () => first),
    first,
  )
  assert.equal(
    cache.block(7, () => second),
    first,
  )
  assert.equal(
    cache.block(8, () => second),
    second,
  )
})

test('pages, directories and chunks are read once by serial number and place', () => {
  const cache = createRowCache(1_000_000)
  const places: readonly (readonly [number, number])[] = [
    [7, 0],
    [7, 1],
    [8, 0],
    [7, 65_535],
    [7 + 65_536, 0],
  ]
  const named = ([serial, place]: readonly [number, number]) => Buffer.from(`${serial} ${place}`)
  const unused = () => assert.fail('it is known')
  for (const place of places)
    assert.deepEqual(
      cache.indexPage(...place, () => named(place)),
      named(place),
    )
  for (const place of places) assert.deepEqual(cache.indexPage(...place, unused), named(place))
  const chunks = places.map((_, index) => chunkOf(index))
  const chunkAt = (index: number) => chunks[index] ?? assert.fail('there is one')
  for (const [index, place] of places.entries()) cache.chunk(...place, () => chunkAt(index))
  for (const [index, place] of places.entries())
    assert.equal(cache.chunk(...place, unused), chunkAt(index))
  const [first, second] = [1, 2].map((headBytes) => ({ chunks: [], headBytes }))
  assert.ok(first && second)
  cache.directory(7, () => first)
  cache.directory(8, () => second)
  assert.equal(cache.directory(7, unused), first)
  assert.equal(cache.directory(8, unused), second)
})

test('a page that is not there is looked for again', () => {
  const cache = createRowCache(1_000_000)
  assert.equal(
    cache.indexPage(7, 0, () => undefined),
    undefined,
  )
  const page = Buffer.of(1)
  assert.equal(
    cache.indexPage(7, 0, () => page),
    page,
  )
})

test('no more is kept than there is room for, and what was read last is kept', () => {
  const kib = 1024
  const cache = createRowCache(8 * 4 * kib)
  // A page takes a kibibyte beside its bytes, and an eighth of the cache is for pages.
  const readPages = (...pages: number[]): number[] => {
    const read: number[] = []
    for (const page of pages)
      cache.indexPage(7, page, () => {
        read.push(page)
        return Buffer.alloc(kib)
      })
    return read
  }
  assert.deepEqual(readPages(1, 2, 1, 2), [1, 2])
  assert.deepEqual(readPages(1, 3, 1, 3), [3])
  assert.deepEqual(readPages(2), [2])
  const chunkBytes = 16 * kib - kib
  const readChunks = (...places: number[]): number[] => {
    const read: number[] = []
    for (const place of places)
      cache.chunk(7, place, () => {
        read.push(place)
        return chunkOf(chunkBytes)
      })
    return read
  }
  assert.deepEqual(readChunks(1, 2, 1, 2, 3, 2, 1), [1, 2, 3, 1])
})

test('directories take what their chunks make them larger, and blocks are counted', () => {
  const cache = createRowCache(3 * 16 * 1024)
  const readIn = (read: (serial: number, note: () => void) => void, serials: number[]) => {
    const noted: number[] = []
    for (const serial of serials) read(serial, () => void noted.push(serial))
    return noted
  }
  // An eighth of the cache has room for three with eight chunks each.
  const chunk = { first: 0, length: 1, rawBytes: 9, start: 9, storedBytes: 9 }
  const directory = { chunks: Array(8).fill(chunk), headBytes: 9 }
  const directoriesRead = (...serials: number[]) =>
    readIn((serial, note) => {
      cache.directory(serial, () => {
        note()
        return directory
      })
    }, serials)
  assert.deepEqual(directoriesRead(1, 2, 3, 1, 2, 3), [1, 2, 3])
  assert.deepEqual(directoriesRead(4, 2, 3, 4, 1), [4, 1])
  const block = { blockHash: `0x${'ab'.repeat(32)}`, count: 3, bytes: 90, root: null }
  const blocksRead = (...serials: number[]) =>
    readIn((serial, note) => {
      cache.block(serial, () => {
        note()
        return { serial, ...block }
      })
    }, serials)
  assert.deepEqual(blocksRead(1, 2, 3, 1, 2, 3), [1, 2, 3])
  assert.deepEqual(blocksRead(4, 2, 3, 4, 1), [4, 1])
})
