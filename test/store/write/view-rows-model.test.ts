/** What a store holds of a View after any steps, beside a model of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { eachHeight } from '../../../src/primitives/height-ranges.ts'
import type { Snapshot, StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { bytesOf, opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'
import { storedRows, viewBlock } from '../../support/view-rows.ts'
import { assertNothingLeftOver } from '../support/stored-keys.ts'

const doneHeights = (snapshot: Snapshot, slot: number): number[] => [
  ...eachHeight(snapshot.viewRanges(slot)),
]

/** What a store should hold: each visible block's branch, and how many rows slot 3 has of it, if it has done it. */
interface Model {
  readonly blocks: Map<number, { branch: string; rows: number | null }>
  tail: number
  /** Of which branch the View has nothing in new blocks; null where that is not known. */
  unmet: string | null
}

type Step = (
  model: Model,
  store: StoreWriter,
) => { readonly promise: Promise<unknown>; readonly isAwaited?: boolean }

const anyHeight = fc.nat(25)
const anyBranch = fc.constantFrom('main', 'b')

const putStep = fc.tuple(anyHeight, anyBranch).map(([height, branch]): Step => {
  return (model, store) => {
    const promise = store.putSealedBlock(opaqueBlock(height, 50, branch))
    if (height < model.tail) return { promise }
    const isHighest = [...model.blocks.keys()].every((each) => each <= height)
    if (model.blocks.get(height)?.branch !== branch)
      model.blocks.set(height, { branch, rows: isHighest && model.unmet === branch ? 0 : null })
    model.tail = Math.max(model.tail, ...[...model.blocks.keys()].map((each) => each - 19))
    for (const each of model.blocks.keys()) if (each < model.tail) model.blocks.delete(each)
    return { promise }
  }
})

const rowsStep = fc
  .tuple(anyHeight, anyBranch, fc.option(fc.nat(6), { nil: null }))
  .map(([height, branch, count]): Step => {
    return (model, store) => {
      const { header } = opaqueBlock(height, 50, branch)
      const there = model.blocks.get(height)
      if (there?.branch === branch) there.rows = count
      const documents = Array.from({ length: count ?? 0 }, () => ({ name: branch }))
      const failed = { height, blockHash: header.hash, failure: Buffer.from('failed') }
      const block = count === null ? failed : viewBlock(header, documents)
      return { promise: store.putViewRows(3, [block]) }
    }
  })

/** Blocks without rows of slot 3 and others, one of which may not be stored. */
const emptyStep = fc.array(fc.tuple(anyHeight, anyBranch), { maxLength: 3 }).map((places): Step => {
  return (model, store) => {
    for (const [height, branch] of places) {
      const there = model.blocks.get(height)
      if (there?.branch === branch) there.rows = 0
    }
    const empty = places.map(([height, branch]) => {
      const { hash } = opaqueBlock(height, 50, branch).header
      return { height, blockHash: hash, slots: [2, 3] }
    })
    return { promise: store.putEmptyViewBlocks(empty) }
  }
})

/** From now on the View needs something that no block of one branch has and all of the other one have. */
const needsStep = fc.option(anyBranch, { nil: null }).map((unmet): Step => {
  const others = Array.from({ length: 26 }, (_, height) => {
    const value = bytesOf(opaqueBlock(height, 50, unmet === 'b' ? 'main' : 'b').header.hash)
    return { type: 'term', term: { kind: 'blockHash', value } } as const
  })
  return (model, store) => {
    model.unmet = unmet
    const needs = unmet === null ? null : ({ type: 'any', parts: others } as const)
    return { promise: store.setViewNeeds(3, needs) }
  }
})

const truncateStep = anyHeight.map((height): Step => {
  return (model, store) => {
    for (const each of model.blocks.keys()) if (each > height) model.blocks.delete(each)
    return { promise: store.truncateAbove(height) }
  }
})

const pruneStep: Step = (_model, store) => ({ promise: store.prune() })

const clearStep: Step = (model, store) => {
  for (const there of model.blocks.values()) there.rows = null
  model.unmet = null
  return { promise: store.clearView(3), isAwaited: true }
}

const anyStep = fc.oneof(
  { weight: 4, arbitrary: putStep },
  { weight: 4, arbitrary: rowsStep },
  { weight: 2, arbitrary: emptyStep },
  { weight: 2, arbitrary: needsStep },
  truncateStep,
  fc.constantFrom(pruneStep, clearStep),
)

function assertAsModel(store: StoreWriter, model: Model): void {
  const expected = [...model.blocks]
    .flatMap(([height, { rows }]) => (rows === null ? [] : [[height, rows] as const]))
    .sort(([a], [b]) => a - b)
  store.reader.read((snapshot) => {
    const found = doneHeights(snapshot, 3).map((height) => [
      height,
      storedRows(snapshot, 3, height)?.length,
    ])
    assert.deepEqual(found, expected)
    const rows = expected.reduce((sum, [, count]) => sum + count, 0)
    // What lies below the tail is counted until it is pruned.
    assert.ok(snapshot.viewSize(3).rows >= rows)
    if (model.tail === 0) assert.equal(snapshot.viewSize(3).rows, rows)
  })
}

test('rows of a View are those of their blocks whatever happens to blocks and slots', async (t) => {
  const path = testDirectory(t)
  let run = 0
  const property = fc.asyncProperty(
    fc.array(anyStep, { maxLength: 25, size: 'max' }),
    // Readers keep what they read; without reading in between, several steps come into one transaction.
    fc.boolean(),
    async (steps, isReadBetween) => {
      const options = { path: `${path}/${run++}`, network: opaqueNetwork, retainBlocks: 20 }
      const store = await openWriter(options, { log: pino({ enabled: false }) })
      const model: Model = { blocks: new Map(), tail: 0, unmet: null }
      const done: Promise<unknown>[] = []
      for (const step of steps) {
        const written = step(model, store)
        done.push(written.promise)
        if (written.isAwaited || isReadBetween) await written.promise
        if (isReadBetween) assertAsModel(store, model)
      }
      await Promise.all(done)
      assertAsModel(store, model)
      await store.close()
      await assertNothingLeftOver(options.path)
    },
  )
  await fc.assert(property, { numRuns: 40 })
})
