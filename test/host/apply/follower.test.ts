/** What a Host stores of blocks that are known, a piece at a time, and which of them it goes on looking at. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createChainWriter } from '../../../src/host/apply/chain-writer.ts'
import { createFollower, type Follower } from '../../../src/host/apply/follower.ts'
import type { Stored } from '../../../src/host/apply/outcome.ts'
import { createSealBook } from '../../../src/host/apply/seal-book.ts'
import { createWaitingBlocks } from '../../../src/host/apply/waiting-blocks.ts'
import type { BlockRef } from '../../../src/host/fork-choice/block-ref.ts'
import { verifyBody } from '../../../src/primitives/body/body.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import {
  type ChainBlock,
  createChain,
  forkChain,
  shapes,
} from '../../support/chain/block-factory.ts'
import { sealBlock, testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { openTestStore, storedChain } from '../../support/test-store.ts'
import { alice, at, expected } from './open-applier.ts'

const empty = { shape: shapes.empty }

interface Scene {
  readonly store: StoreWriter
  readonly follower: Follower
  /** What was reported as stored. */
  readonly writes: readonly Stored[]
  /** The block waits, sealed by Alice; returns its place in the chain. */
  put(block: ChainBlock): BlockRef
  /** Alice, the only signer, is heard to stand on a block. */
  stand(block: ChainBlock): void
  /** Time passes, at the end of which Alice is heard again. */
  pass(ms: number): void
  /** Blocks at and below a height stand on nothing that could be known. */
  rootBelow(height: number): void
  /** What is stored once all is on the disk. */
  stored(): Promise<ReturnType<typeof storedChain>>
}

async function openScene(t: TestContext, maxBytes = 1 << 26): Promise<Scene> {
  const store = await openTestStore(t)
  let head: ChainBlock | null = null
  let rootHeight = 1
  let nowMs = 0
  const writes: Stored[] = []
  const waiting = createWaitingBlocks({ maxBlocks: 1_000, maxBytes })
  const book = createSealBook({
    store,
    storedHash: (height) => store.reader.read((snapshot) => snapshot.header(height)?.hash),
    mostSigners: () => 1,
  })
  book.setAccepted(() => true)
  const writer = createChainWriter(
    { network: testNetwork, maxRawBytes: 1 << 26 },
    {
      store,
      book,
      waiting,
      onStored: (written) => writes.push(written),
      onFailure: (error) => assert.fail(`${error}`),
    },
  )
  const follower = createFollower(0, {
    store,
    writer,
    waiting,
    book,
    signers: () => [
      {
        identity: alice.identity,
        head: head === null ? null : { ...head, nodeHeight: head.number },
        heardMs: nowMs,
      },
    ],
    isRoot: ({ number }) => number <= rootHeight,
    nowMs: () => nowMs,
  })
  return {
    store,
    follower,
    writes,
    put: (block) => {
      const { body, seal } = sealBlock(block, alice)
      const documents = verifyBody(testNetwork, body)
      const { number, hash, parentHash, root } = documents
      const link = { number, hash, parentHash, root }
      book.admit(number, [seal])
      waiting.put({ ...link, body, documents }, [alice.identity])
      return link
    },
    stand: (block) => {
      head = block
    },
    pass: (ms) => {
      nowMs += ms
    },
    rootBelow: (height) => {
      rootHeight = height
    },
    stored: async () => {
      await writer.drain()
      return storedChain(store.reader)
    },
  }
}

test('a long chain is stored 64 blocks at a time, and there is more to do until nothing is left', async (t) => {
  const { follower, put, stand, stored } = await openScene(t)
  const chain = createChain({ count: 129, from: 1, ...empty })
  for (const block of chain) put(block)
  assert.equal(follower.follow(), false, 'nobody stands on it')
  stand(at(chain, -1))
  for (const count of [64, 128, 129]) {
    assert.equal(follower.follow(), true)
    assert.deepEqual(await stored(), expected(chain.slice(0, count)))
  }
  assert.equal(follower.follow(), false)
})

test('a chain without the bytes of its lowest block waits, and there is no more to do', async (t) => {
  const chain = createChain({ count: 3, from: 1, ...empty })
  const { follower, writes, put, stand, stored } = await openScene(t, 0)
  for (const block of chain) put(block)
  stand(at(chain, -1))
  assert.equal(follower.follow(), false)
  assert.deepEqual([await stored(), writes], [[], []])
})

describe('a branch that takes the place of stored blocks', () => {
  const chain = createChain({ count: 80, from: 1, ...empty })
  /** A Host that stored the chain to a height, with the branch, of so many of whose blocks it has the bytes. */
  async function openBranch(
    t: TestContext,
    height: number,
    branch: readonly ChainBlock[],
    bodies = branch.length,
  ): Promise<Scene> {
    const sizes = branch.slice(0, bodies).map((block) => sealBlock(block, alice).body.length)
    const scene = await openScene(
      t,
      sizes.reduce((sum, size) => sum + size, 0),
    )
    for (const block of chain.slice(0, height))
      await scene.store.putSealedBlock(storableBlock(block))
    for (const block of branch) scene.put(block)
    scene.stand(at(branch, -1))
    return scene
  }
  const branchOf = (common: number, count: number): ChainBlock[] =>
    forkChain(chain, common, { count, ...empty }).slice(common)

  test('does so with a shorter chain, where all of it is here', async (t) => {
    const branch = branchOf(5, 2)
    const { follower, stored } = await openBranch(t, 10, branch)
    assert.equal(follower.follow(), true)
    assert.deepEqual(await stored(), expected([...chain.slice(0, 5), ...branch]))
  })

  test('does so without the bytes of its highest blocks, where the chain gets no shorter', async (t) => {
    const branch = branchOf(5, 9)
    const { follower, stored } = await openBranch(t, 10, branch, 5)
    assert.equal(follower.follow(), true)
    const reached = [...chain.slice(0, 5), ...branch.slice(0, 5)]
    assert.deepEqual(await stored(), expected(reached))
    assert.equal(follower.follow(), false)
  })

  test('waits where the chain would get shorter for want of bytes', async (t) => {
    const { follower, writes, stored } = await openBranch(t, 10, branchOf(5, 9), 4)
    assert.equal(follower.follow(), false)
    assert.deepEqual([await stored(), writes], [expected(chain.slice(0, 10)), []])
  })

  test('does so with 64 blocks more than go', async (t) => {
    const branch = branchOf(5, 75)
    const { follower, writes, stored } = await openBranch(t, 10, branch)
    assert.equal(follower.follow(), true)
    await stored()
    const shape = writes.map(({ bottom, top, removed }) => ({ bottom, top, removed }))
    assert.deepEqual(shape, [{ bottom: 6, top: 74, removed: 5 }])
  })

  test('does so after a minute and in two steps, where more than 64 go', async (t) => {
    const branch = branchOf(5, 70)
    const { follower, pass, stored } = await openBranch(t, 80, branch)
    assert.equal(follower.follow(), false)
    pass(59_999)
    assert.equal(follower.follow(), false)
    assert.deepEqual(await stored(), expected(chain))
    pass(1)
    assert.equal(follower.follow(), true)
    assert.deepEqual(await stored(), expected(chain.slice(0, 16)))
    assert.equal(follower.follow(), true)
    assert.deepEqual(await stored(), expected([...chain.slice(0, 5), ...branch]))
    assert.equal(follower.follow(), false)
  })
})

test('blocks below the chain that have to wait are looked at again: the four highest of them', async (t) => {
  const { store, follower, put, stand, stored, rootBelow } = await openScene(t)
  // Of each piece the lowest block is missing, and what is stored below it is of another piece.
  const pieces = [1, 4, 7, 10, 13, 16].map((from) =>
    createChain({ seed: `from ${from}`, count: 3, from, ...empty }),
  )
  for (const block of pieces.flatMap((piece) => piece.slice(1)))
    await store.putSealedBlock(storableBlock(block))
  rootBelow(0)
  stand(at(at(pieces, -1), -1))
  const lowest = pieces.slice(1).map((piece) => at(piece, 0))
  follower.follow(lowest.toReversed().map(put))
  const before = pieces.flatMap((piece) => piece.slice(1))
  assert.deepEqual(await stored(), expected(before))

  rootBelow(100)
  follower.follow()
  const [first = [], second = [], ...others] = pieces
  const kept = (piece: readonly ChainBlock[]): readonly ChainBlock[] => piece.slice(0, 2)
  assert.deepEqual(
    await stored(),
    expected([
      ...first.slice(1),
      at(second, 1),
      ...others.slice(0, -1).flatMap(kept),
      ...at(others, -1),
    ]),
  )
})
