/** That a file has what its state says and nothing else, after any steps that reach into merged and pruned blocks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import type { SealedBlockToStore, StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import {
  everywhere,
  opaqueBlock,
  opaqueNetwork,
  opaqueSeal,
} from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { storedChain, testDirectory } from '../../support/test-store.ts'
import { viewBlock } from '../../support/view-rows.ts'
import { assertNothingLeftOver } from '../support/stored-keys.ts'

const retainBlocks = 150
const retainRows = 200

/** What readers should see: the hash of the block at each height. */
interface Model {
  readonly blocks: Map<number, SealedBlockToStore>
  tail: number
}

type Step = (store: StoreWriter, model: Model) => Promise<unknown>

const between = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

function setTail(model: Model): void {
  const head = Math.max(-1, ...model.blocks.keys())
  model.tail = Math.max(model.tail, head - retainBlocks + 1)
  for (const height of model.blocks.keys()) if (height < model.tail) model.blocks.delete(height)
}

const bodyBytes = (height: number): number => (height % 9 === 0 ? 5_000 : 60)

/** Puts blocks one by one, every third without its seal, or in the place of others at once; with rows of two Views. */
const putSome =
  (from: number, to: number, branch: string, isReplaced: boolean): Step =>
  async (store, model) => {
    const blocks = between(from, to).map((height) => opaqueBlock(height, bodyBytes(height), branch))
    const kept = blocks.filter(({ header }) => header.number >= model.tail)
    for (const block of kept) model.blocks.set(block.header.number, block)
    setTail(model)
    const puts = isReplaced
      ? [store.replaceBlocks(from, to, blocks)]
      : blocks.map((block) =>
          block.header.number % 3 === 0 ? store.putBlock(block) : store.putSealedBlock(block),
        )
    const rows = blocks.map(({ header }) => {
      const count = header.number % 4
      return viewBlock(
        header,
        Array.from({ length: count }, () => ({ name: header.hash })),
      )
    })
    const failed = blocks.map(({ header }) => {
      return { height: header.number, blockHash: header.hash, failure: Buffer.from('no') }
    })
    await Promise.all([
      ...puts,
      store.putViewRows(1, rows),
      store.putViewRows(2, [...rows.slice(3), ...failed.slice(0, 3)]),
      store.putRowStatements(to, [opaqueStatement(to, blocks.at(-1)?.header.hash ?? '')]),
    ])
  }

const truncate =
  (above: number): Step =>
  async (store, model) => {
    await store.truncateAbove(above)
    for (const height of model.blocks.keys()) if (height > above) model.blocks.delete(height)
  }

const outdate =
  (height: number): Step =>
  (store) =>
    store.putSeals(height, [opaqueSeal(height, 'third')], [opaqueSeal(height)])

const prune: Step = (store) => store.prune()
const clear: Step = (store) => store.clearView(2)
const retry: Step = (store) => store.clearViewFailures(2)

const someHeight = fc.nat(300)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(someHeight, fc.nat(140), fc.constantFrom('main', 'other'), fc.boolean())
      .map(([from, length, branch, isReplaced]) =>
        putSome(from, from + length, branch, isReplaced),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(truncate, outdate), someHeight)
      .map(([make, at]) => make(at)),
  },
  fc.constantFrom(prune, clear, retry),
)

function assertIs({ reader }: StoreWriter, { blocks }: Model): void {
  const heights = [...blocks.keys()].sort((a, b) => a - b)
  assert.deepEqual(
    storedChain(reader),
    heights.map((height) => [height, blocks.get(height)?.header.hash]),
  )
  reader.read((snapshot) => {
    const found = [...snapshot.candidates('logAddress', everywhere, 0, 1e9, false)]
    assert.deepEqual(
      found.map(({ height }) => height),
      heights,
    )
  })
}

test('a file has what is kept and nothing of what was replaced, cut off or pruned', async (t) => {
  const path = testDirectory(t)
  let run = 0
  const property = fc.asyncProperty(
    fc.array(anyStep, { maxLength: 8, size: 'max' }),
    async (steps) => {
      const options = { path: `${path}/${run++}`, network: opaqueNetwork, retainBlocks, retainRows }
      const store = await openWriter(options, { log: pino({ enabled: false }) })
      const model: Model = { blocks: new Map(), tail: 0 }
      for (const step of steps) {
        await step(store, model)
        assertIs(store, model)
      }
      await store.flushed()
      await store.prune()
      assertIs(store, model)
      await store.close()
      const state = await assertNothingLeftOver(options.path)
      assert.ok((state.blocks[0]?.[0] ?? state.tail) > state.tail - 16)
      assert.ok((state.pruned[0]?.[0] ?? state.rowTail) > state.rowTail - 16)
    },
  )
  await fc.assert(property, { numRuns: 15 })
})

const chain = (from: number, to: number): SealedBlockToStore[] =>
  between(from, to).map((height) => opaqueBlock(height, 60))

test('a chain that is cut off at either side of the border of a merged span leaves nothing', async (t) => {
  const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null }
  const open = (): Promise<StoreWriter> => openWriter(options, { log: pino({ enabled: false }) })
  const first = await open()
  await Promise.all(chain(0, 260).map((block) => first.putSealedBlock(block)))
  await first.close()
  let { epoch, unmerged } = await assertNothingLeftOver(options.path)
  assert.deepEqual(unmerged, [[192, 260]])
  for (const above of [129, 128, 127, 126, 64, 63, 62]) {
    const store = await open()
    await store.truncateAbove(above)
    await store.close()
    const state = await assertNothingLeftOver(options.path)
    assert.deepEqual(state.blocks, [[0, above]])
    assert.equal(state.epoch, ++epoch, 'readers look again once')
  }
})

test('a hash stays while its block or a seal of it is stored, and no longer', async (t) => {
  const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  const heightsOf = (hashes: readonly string[]): (number | undefined)[] =>
    store.reader.read((snapshot) => hashes.map((hash) => snapshot.heightOf(hash)))
  const [five, six, seven] = [5, 6, 7].map((height) => opaqueBlock(height, 60))
  assert.ok(five && six && seven)
  await store.putSealedBlock(five)
  for (const block of [six, seven]) await store.putBlock(block)
  const others = [opaqueSeal(5, 'other'), opaqueSeal(5, 'other', '03'.repeat(33))]
  await store.putSeals(5, others)
  await store.putSeals(5, [opaqueSeal(5, 'third')], [opaqueSeal(5), ...others])
  await store.truncateAbove(6)
  const hashes = [five, six, seven].map(({ header }) => header.hash)
  assert.deepEqual(heightsOf(hashes), [5, 6, undefined])
  await store.close()
  await assertNothingLeftOver(options.path)
})

test('what gives way while it is still being written leaves nothing behind', async (t) => {
  const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  const [gone, kept] = [opaqueSeal(5), opaqueSeal(5, 'main', '03'.repeat(33))]
  const other = opaqueBlock(2, 60, 'other')
  const failed = { height: 2, blockHash: other.header.hash, failure: Buffer.from('no') }
  await Promise.all([
    ...[opaqueBlock(2, 60), other].map((block) => store.putBlock(block)),
    store.putSeals(5, [gone, kept]),
    store.putSeals(5, [], [gone]),
    store.putViewRows(1, [failed]),
    store.clearViewFailures(1),
  ])
  store.reader.read((snapshot) => {
    assert.equal(snapshot.heightOf(other.header.hash), 2)
    assert.deepEqual(snapshot.sealsOf(kept.blockHash), [kept])
    assert.deepEqual(snapshot.viewFailures(1), [])
  })
  await store.close()
  await assertNothingLeftOver(options.path)
})

test('pruning removes sixteen blocks whenever as many lie below the tail, and no visible one', async (t) => {
  const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: 10 }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  for (const [height, block] of chain(0, 80).entries()) {
    await store.putSealedBlock(block)
    const tail = Math.max(0, height - 9)
    assert.equal(await store.prune(), tail > 0 && tail % 16 === 0 ? 16 : 0)
    const blocks = new Map(chain(tail, height).map((each) => [each.header.number, each]))
    assertIs(store, { blocks, tail })
  }
  await store.close()
  const { blocks, tail } = await assertNothingLeftOver(options.path)
  assert.deepEqual([blocks, tail], [[[64, 80]], 71])
})

test('the index of a merged span stays until the last of its blocks is pruned', async (t) => {
  const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: 140 }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  const grow = async (from: number, to: number): Promise<void> => {
    await Promise.all(chain(from, to).map((block) => store.putSealedBlock(block)))
    await store.flushed()
  }
  const assertFound = (tail: number, head: number): void => {
    const blocks = new Map(chain(tail, head).map((each) => [each.header.number, each]))
    assertIs(store, { blocks, tail })
  }
  await grow(0, 139)
  await grow(140, 170)
  assert.equal(await store.prune(), 16)
  assertFound(31, 170)
  await grow(171, 200)
  await grow(201, 210)
  assert.equal(await store.prune(), 48)
  assertFound(71, 210)
  await store.close()
  const { blocks, unmerged } = await assertNothingLeftOver(options.path)
  assert.deepEqual([blocks, unmerged], [[[64, 210]], [[128, 210]]])
})
