/** The blocks that a Host knows: what is stored, what is about to be, what waits, and the holes between. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createKnownBlocks, headOf } from '../../../src/host/apply/known-blocks.ts'
import type { SealBook } from '../../../src/host/apply/seal-book.ts'
import type { WaitingBlock } from '../../../src/host/apply/waiting-blocks.ts'
import type { BlockRef, KnownBlocks } from '../../../src/host/fork-choice/block-ref.ts'
import { createPendingWrites, type Removal } from '../../../src/mesh/pending-writes.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

/** A block with the documents that are stored of it, or others under this root. */
function block(height: number, branch = 'main', root?: string): WaitingBlock {
  const { header } = opaqueBlock(height, 5, branch)
  const { number, hash, parentHash, count } = header
  return { number, hash, parentHash, root: root ?? header.root, count, body: null, documents: null }
}

interface Scene {
  readonly stored?: readonly number[]
  /** What is about to be written, in the place of what is removed. */
  readonly written?: readonly WaitingBlock[]
  readonly removed?: Removal
  readonly waiting?: readonly WaitingBlock[]
  readonly accepted?: number
  readonly votes?: Readonly<Record<string, number>>
  readonly isSealedBy?: SealBook['isSealedBy']
}

async function read<T>(
  t: TestContext,
  scene: Scene,
  use: (known: KnownBlocks, head: number) => T,
): Promise<T> {
  const { stored = [], written = [], removed = null, waiting = [], accepted = 0 } = scene
  const store = await openTestStore(t, null)
  for (const height of stored) await store.putSealedBlock(opaqueBlock(height, 5))
  const pending = createPendingWrites<WaitingBlock>()
  void pending.add(written, removed, new Promise(() => undefined))
  return store.reader.read((snapshot) => {
    const known = createKnownBlocks({
      snapshot,
      pending,
      waiting: {
        variants: (hash) => waiting.filter((each) => each.hash === hash),
        all: () => waiting,
      },
      book: {
        votes: () => new Map(Object.entries(scene.votes ?? {})),
        isSealedBy: scene.isSealedBy ?? (() => false),
      },
      isRoot: () => false,
      accepted,
    })
    return use(known, headOf({ snapshot, pending }))
  })
}

type Span = readonly [low: number, high: number, isWhole: boolean]

async function assertSpans(t: TestContext, scene: Scene, spans: readonly Span[]): Promise<void> {
  await read(t, scene, (known) => {
    for (const [low, high, isWhole] of spans)
      assert.equal(known.isStoredThrough(low, high), isWhole, `${low} to ${high}`)
  })
}

test('heights are stored through where neither end nor anything between is missing', async (t) => {
  await assertSpans(t, { stored: [1, 2, 3, 5, 6, 7] }, [
    ...[[1, 3, true] as const, [5, 7, true] as const, [3, 3, true] as const],
    ...[[1, 7, false] as const, [3, 5, false] as const, [2, 4, false] as const],
    ...[[4, 6, false] as const, [4, 4, false] as const],
    ...[[0, 2, false] as const, [6, 8, false] as const],
  ])
  await assertSpans(t, {}, [[0, 0, false]])
})

test('heights count as stored that are about to be, and not those that are about to go', async (t) => {
  const written = [4, 5, 7].map((height) => block(height))
  await assertSpans(t, { stored: [1, 2, 3], written }, [
    ...[[1, 5, true] as const, [3, 4, true] as const, [4, 5, true] as const, [7, 7, true] as const],
    ...[[5, 7, false] as const, [1, 8, false] as const, [0, 5, false] as const],
  ])
  const removed = { from: 3, to: 4 }
  await assertSpans(t, { stored: [1, 2, 3, 4], removed, written: [block(4, 'fork')] }, [
    ...[[1, 2, true] as const, [4, 4, true] as const],
    ...[[1, 3, false] as const, [3, 3, false] as const, [2, 4, false] as const],
  ])
})

test('the head is the highest block that is stored or about to be, and not about to go', async (t) => {
  const head = (scene: Scene): Promise<number> => read(t, scene, (_, found) => found)
  const stored = [1, 2, 3]
  assert.equal(await head({}), -1)
  assert.equal(await head({ stored }), 3)
  assert.equal(await head({ stored, written: [block(4)] }), 4)
  assert.equal(await head({ stored, removed: { from: 2, to: 3 } }), 1)
  assert.equal(await head({ stored, removed: { from: 2, to: 3 }, written: [block(2, 'fork')] }), 2)
})

test('of a block with several sets of documents those with most votes wait', async (t) => {
  const waiting = [block(9, 'main', 'b'), block(9, 'main', 'a'), block(9, 'main', 'c')]
  const found = (votes: Scene['votes'], stored: readonly number[] = []): Promise<unknown> =>
    read(t, { waiting, stored, ...(votes && { votes }) }, (known) => {
      return known.waiting(block(9).hash)?.root
    })
  assert.equal(await found({ b: 2, a: 1 }), 'b')
  assert.equal(await found({ b: 1, c: 1 }), 'b', 'of as many the smaller root')
  assert.equal(await found({}), 'a')
  const { root } = block(9)
  assert.equal(await found({ [root]: 2, b: 1 }, [9]), undefined, 'those that are stored')
  assert.equal(await found({ [root]: 1, b: 2 }, [9]), 'b')
  assert.equal(await read(t, { waiting }, (known) => known.waiting(block(8).hash)), undefined)
})

test('a block with one set of documents waits unless it is stored with better ones', async (t) => {
  const other = block(9, 'main', 'f'.repeat(64))
  const fork = block(9, 'fork')
  const found = (votes: Scene['votes'] = {}): Promise<unknown> =>
    read(t, { waiting: [other, fork], stored: [9], votes }, (known) =>
      [other, fork].map(({ hash }) => known.waiting(hash)?.root),
    )
  assert.deepEqual(await found(), [undefined, fork.root])
  assert.deepEqual(await found({ [other.root]: 1 }), [other.root, fork.root])
})

test('documents are most sealed by more than half of all signers, others may be better', async (t) => {
  const own = block(5, 'main', 'b')
  const said = (accepted: number, votes: NonNullable<Scene['votes']>): Promise<unknown> =>
    read(t, { accepted, votes }, (known) => [known.isMostSealed(own), known.betterRoot(own)])
  assert.deepEqual(await said(3, { b: 2, a: 1 }), [true, null])
  assert.deepEqual(await said(4, { b: 2, a: 1 }), [false, null])
  assert.deepEqual(await said(4, { b: 1, c: 2 }), [false, 'c'])
  assert.deepEqual(await said(4, { b: 1, a: 1 }), [false, 'a'])
  assert.deepEqual(await said(4, { b: 1, c: 1 }), [false, null])
  assert.deepEqual(await said(0, {}), [false, null])
})

test('what a signer sealed comes from above, of one height what is stored first', async (t) => {
  const waiting = [block(3, 'fork'), block(8, 'fork'), block(2, 'fork'), block(5, 'late')]
  const sealed = (scene: Scene, most = 99): Promise<string[]> =>
    read(t, { isSealedBy: (_height, _hash, who) => who === 'alice', ...scene }, (known) =>
      Array.from(known.sealedBy('alice', most), nameOf),
    )
  const nameOf = ({ number, hash }: BlockRef): string => {
    const branch = ['main', 'fork', 'late'].find((name) => block(number, name).hash === hash)
    return `${number} ${branch}`
  }
  const stored = [1, 2, 3, 4]
  const all = ['8 fork', '5 late', '4 main', '3 main', '3 fork', '2 main', '2 fork', '1 main']
  assert.deepEqual(await sealed({ stored, waiting }), all)
  assert.deepEqual(await sealed({ stored, waiting }, 3), all.slice(3))
  assert.deepEqual(await sealed({ waiting }), ['8 fork', '5 late', '3 fork', '2 fork'])
  assert.deepEqual(await sealed({ stored, waiting, isSealedBy: (height) => height === 3 }), [
    '3 main',
    '3 fork',
  ])
  const [known, other] = [block(9, 'fork'), block(9, 'fork', 'other documents')]
  const votes = { [other.root]: 1 }
  const isOther = await read(
    t,
    { waiting: [known, other], votes, isSealedBy: () => true },
    (each) => [...each.sealedBy('alice', 9)].map(({ root }) => root),
  )
  assert.deepEqual(isOther, [other.root], 'with the documents that count')
})

test('a signer’s seals are looked for on the highest 64 stored blocks', async (t) => {
  const heights = Array.from({ length: 66 }, (_, height) => height)
  const found = await read(t, { stored: heights, isSealedBy: () => true }, (known) =>
    [70, 65, 64, 63].map((most) => {
      const sealed = Array.from(known.sealedBy('alice', most), ({ number }) => number)
      return [sealed.length, sealed.at(0), sealed.at(-1)]
    }),
  )
  assert.deepEqual(found, [
    [64, 65, 2],
    [64, 65, 2],
    [64, 64, 1],
    [64, 63, 0],
  ])
})
