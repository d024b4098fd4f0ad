import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { startReadAhead } from '../../../src/store/read/read-ahead.ts'

const chunkBytes = 10

/** A reader of blocks at some heights, each of two chunks; notes which are unpacked, in their order. */
function readerOf(heights: readonly number[], { broken = -1 } = {}) {
  const unpacked: string[] = []
  const block = (number: number) => ({
    header: { number },
    chunkCount: (section: string) => (section === 'Log' || section === 'Block' ? 1 : 0),
    openChunk(section: string, chunk: number) {
      if (number === broken) throw new Error(`block ${number} is broken`)
      unpacked.push(`${number} ${section} ${chunk}`)
      return { rawBytes: chunkBytes }
    },
  })
  const snapshot = {
    heights: (from: number, to: number) =>
      heights.filter((each) => each >= from && each <= to).sort((a, b) => b - a),
    block,
  }
  const reader = { read: <T>(use: (seen: never) => T): T => use(snapshot as never) }
  const blocks = () => [...new Set(unpacked.map((each) => Number(each.split(' ')[0])))]
  return { reader, unpacked, blocks }
}

/** More turns of the event loop than there are blocks to unpack. */
async function turns(count = 150): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

const noFailure = (cause: unknown) => assert.fail(String(cause))
const upTo = (count: number) => Array.from({ length: count }, (_, height) => height)

test('the newest blocks are unpacked first, each chunk of them, one block in each turn', async () => {
  const { reader, unpacked, blocks } = readerOf([3, 4, 9])
  startReadAhead(reader, 1_000, noFailure)
  assert.deepEqual(unpacked, [])
  await turns(1)
  assert.deepEqual(unpacked, ['9 Block 0', '9 Log 0'])
  await turns()
  assert.deepEqual(blocks(), [9, 4, 3])
  assert.equal(unpacked.length, 6)
})

test('unpacking ends with the block that fills what there is room for', async () => {
  for (const [maxBytes, expected] of [
    [39, [4, 3]],
    [40, [4, 3]],
    [41, [4, 3, 2]],
  ] as const) {
    const { reader, blocks } = readerOf(upTo(5))
    startReadAhead(reader, maxBytes, noFailure)
    await turns()
    assert.deepEqual(blocks(), expected)
  }
})

test('at most 64 blocks are unpacked', async () => {
  const { reader, blocks } = readerOf(upTo(100))
  startReadAhead(reader, 1_000_000, noFailure)
  await turns()
  assert.deepEqual(blocks(), upTo(100).toReversed().slice(0, 64))
})

test('nothing is unpacked of an empty store, or after it was stopped', async () => {
  const empty = readerOf([])
  startReadAhead(empty.reader, 1_000, noFailure)
  const { reader, blocks } = readerOf(upTo(10))
  const stop = startReadAhead(reader, 1_000, noFailure)
  await turns(2)
  const before = blocks()
  stop()
  await turns()
  assert.deepEqual([empty.blocks(), blocks()], [[], before])
  assert.ok(before.length < 10)
})

test('a block that cannot be unpacked ends it, and is reported', async () => {
  const { reader, blocks } = readerOf(upTo(5), { broken: 2 })
  const failures: unknown[] = []
  startReadAhead(reader, 1_000, (cause) => failures.push(cause))
  await turns()
  assert.deepEqual(blocks(), [4, 3])
  assert.deepEqual(failures, [new Error('block 2 is broken')])
})
