/** What a Host stores of the sealed blocks it gets: in order, out of order, twice, on two branches. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type ApplierOptions, createApplier } from '../../../src/host/apply/apply.ts'
import type { Applier, Outcome } from '../../../src/host/apply/outcome.ts'
import { encodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { type ChainBlock, createChain, forkChain, shapes } from '../../support/block-factory.ts'
import {
  sealBlock,
  signSeal,
  type TestSealedBlock,
  testNetwork,
  testSigner,
} from '../../support/sealed-blocks.ts'
import { openTestStore, storedChain } from '../../support/test-store.ts'

const alice = testSigner('alice')
const bob = testSigner('bob', 'Ed25519')

interface TestApplier {
  readonly store: StoreWriter
  /** Receives a message like one that came by gossip. */
  receive(block: TestSealedBlock | Uint8Array): Promise<Outcome>
  /** Receives the first block of all. */
  begin(block: TestSealedBlock): Promise<Outcome>
}

async function openApplier(
  t: TestContext,
  options: Partial<ApplierOptions> = {},
): Promise<TestApplier> {
  const { retainBlocks = 1000 } = options
  const store = await openTestStore(t, retainBlocks)
  const applier: Applier = createApplier(
    { network: testNetwork, trustedSigners: null, retainBlocks, ...options },
    { store },
  )
  const receive = async (block: TestSealedBlock | Uint8Array, mayFloat: boolean) => {
    const bytes = block instanceof Uint8Array ? block : block.bytes
    const { outcome } = await applier.receive(Uint8Array.from(bytes), mayFloat)
    return outcome
  }
  return {
    store,
    receive: (block) => receive(block, false),
    begin: (block) => receive(block, true),
  }
}

const seal = (chain: readonly ChainBlock[], signer = alice): TestSealedBlock[] =>
  chain.map((block) => sealBlock(block, signer))
const expected = (chain: readonly ChainBlock[]): [number, string][] =>
  chain.map(({ number, hash }) => [number, hash])

function at<T>(list: readonly T[], index: number): T {
  const item = list.at(index)
  assert.ok(item !== undefined)
  return item
}

async function receiveAll(
  host: TestApplier,
  blocks: readonly TestSealedBlock[],
): Promise<string[]> {
  const [first, ...rest] = blocks
  assert.ok(first !== undefined)
  const outcomes = [host.begin(first), ...rest.map((block) => host.receive(block))]
  return (await Promise.all(outcomes)).map(({ kind }) => kind)
}

describe('blocks of one Generator', () => {
  test('are stored whole, with their seals, also when they come faster than the disk is', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 20, from: 100 })
    const blocks = seal(chain)
    const kinds = await receiveAll(host, blocks)
    assert.deepEqual(new Set(kinds), new Set(['stored']))
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
    host.store.reader.read((snapshot) => {
      for (const { number, body, seal, documents } of blocks) {
        assert.deepEqual(Buffer.from(snapshot.body(number) ?? []), Buffer.from(body))
        assert.deepEqual(snapshot.seals(number), [seal])
        const header = snapshot.header(number)
        assert.equal(header?.root, seal.merkleRoot)
        assert.equal(header?.timestamp, documents.timestamp)
        assert.deepEqual(header?.sections, {
          Block: 1,
          Transaction: 2,
          AccessListEntry: 1,
          Log: 3,
        })
      }
    })
  })

  test('can be looked up by what is in them', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 3, from: 100 })
    await receiveAll(host, seal(chain))
    const hash = String(at(chain, 1).block.transactions?.[0]?.hash)
    const value = Buffer.from(hash.slice(2), 'hex')
    const found = host.store.reader.read((snapshot) => [
      ...snapshot.candidates('transactionHash', value, 0, 1000, false),
    ])
    assert.ok(found.some(({ height, section }) => height === 101 && section === 'Transaction'))
  })

  test('that arrive too early wait for those below them', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 6, from: 100 })
    const [first, second, third, ...late] = seal(chain)
    assert.ok(first && second && third)
    await receiveAll(host, [first, second])
    const early = await Promise.all(late.map((block) => host.receive(block)))
    assert.deepEqual(new Set(early.map(({ kind }) => kind)), new Set(['detached']))
    const outcome = await host.receive(third)
    assert.equal(outcome.kind === 'stored' && outcome.top, 105)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })

  test('older than what is kept are ignored', async (t) => {
    const host = await openApplier(t, { retainBlocks: 5 })
    const blocks = seal(createChain({ count: 10, from: 100 }))
    await receiveAll(host, blocks)
    assert.equal(storedChain(host.store.reader).length, 5)
    const outcome = await host.receive(at(blocks, 2))
    assert.equal(outcome.kind === 'breach' && outcome.rule, 'within-window')
  })
})

describe('votes', () => {
  const chain = createChain({ count: 1, from: 100 })
  const source = at(chain, 0)
  const byAlice = sealBlock(source, alice)
  const byBob = sealBlock(source, bob)
  const signers = (store: StoreWriter): (string | undefined)[] =>
    store.reader
      .read((snapshot) => snapshot.seals(100).map(({ signatureIdentity }) => signatureIdentity))
      .sort()

  test('two Generators with identical data are two votes for one root', async (t) => {
    const host = await openApplier(t)
    await host.begin(byAlice)
    assert.deepEqual(await host.receive(byBob), { kind: 'votes', height: 100, seals: 1 })
    assert.deepEqual(signers(host.store), [alice.identity, bob.identity].sort())
    assert.equal(byAlice.seal.merkleRoot, byBob.seal.merkleRoot)
  })

  test('replays in any form add no vote', async (t) => {
    const host = await openApplier(t)
    await host.begin(byAlice)
    const again = encodeSealedBlock([{ ...byAlice.seal, createdAt: '2031-01-01T00:00:00Z' }], null)
    for (const replay of [byAlice.bytes, again, byAlice.bytes]) {
      const outcome = await host.receive(replay)
      assert.equal(outcome.kind === 'breach' && outcome.rule, 'something-new')
    }
    assert.deepEqual(signers(host.store), [alice.identity])
  })

  test('the same vote twice at once is one vote', async (t) => {
    const host = await openApplier(t)
    await Promise.all([host.begin(byAlice), host.receive(byBob), host.receive(byBob)])
    assert.deepEqual(signers(host.store), [alice.identity, bob.identity].sort())
  })

  test('a range peer’s block with the seals of several Generators brings all of them', async (t) => {
    const host = await openApplier(t)
    const both = encodeSealedBlock([byAlice.seal, byBob.seal], byAlice.body)
    await host.begin({ ...byAlice, bytes: both })
    assert.deepEqual(signers(host.store), [alice.identity, bob.identity].sort())
  })

  test('only trusted signers vote', async (t) => {
    const host = await openApplier(t, { trustedSigners: [alice.identity] })
    await host.begin(byAlice)
    const outcome = await host.receive(byBob)
    assert.equal(outcome.kind === 'breach' && outcome.rule, 'trusted-signer')
    assert.deepEqual(signers(host.store), [alice.identity])
  })

  test('a differing root is kept beside the stored one', async (t) => {
    const host = await openApplier(t)
    await host.begin(byAlice)
    const cids = byBob.cids.slice(1)
    const other = signSeal({ network: testNetwork, number: 100, hash: source.hash, cids }, bob)
    assert.equal((await host.receive(encodeSealedBlock([other], null))).kind, 'votes')
    const roots = host.store.reader.read((snapshot) =>
      snapshot.seals(100).map(({ merkleRoot }) => merkleRoot),
    )
    assert.deepEqual(roots.sort(), [byAlice.seal.merkleRoot, other.merkleRoot].sort())
  })

  test('the seal alone of an unknown block asks for the block', async (t) => {
    const host = await openApplier(t)
    const outcome = await host.receive(encodeSealedBlock([byAlice.seal], null))
    assert.deepEqual(outcome, { kind: 'announced', height: 100 })
    assert.deepEqual(storedChain(host.store.reader), [])
  })
})

describe('a reorganisation', () => {
  test('of 64 blocks is followed in one step, and the Host ends equal to its Generator', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 100, from: 1, shape: shapes.empty })
    await receiveAll(host, seal(chain))
    const fork = forkChain(chain, 36, { count: 65, shape: shapes.empty })
    const branch = seal(fork.slice(36), bob)
    const ends = await Promise.all(branch.toReversed().map((block) => host.receive(block)))
    assert.deepEqual(
      ends.slice(0, -1).map(({ kind }) => kind),
      branch.slice(1).map(() => 'incomplete'),
    )
    const last = at(ends, -1)
    assert.deepEqual(last.kind === 'stored' && [last.removed, last.top], [64, 101])
    assert.deepEqual(storedChain(host.store.reader), expected(fork))
  })

  test('of one Generator is followed at once, also when its branch is no longer yet', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 10, from: 1 })
    await receiveAll(host, seal(chain))
    const fork = forkChain(chain, 7)
    const kinds = await Promise.all(seal(fork.slice(7)).map((block) => host.receive(block)))
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['held', 'held', 'stored'],
    )
    assert.deepEqual(storedChain(host.store.reader), expected(fork))
  })

  test('two Generators on equal forks: what is stored stays, the longer one wins', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 10, from: 1 })
    await receiveAll(host, seal(chain))
    const fork = forkChain(chain, 7, { count: 4 })
    const [eight, nine, ten, eleven] = seal(fork.slice(7), bob)
    assert.ok(eight && nine && ten && eleven)
    for (const block of [eight, nine, ten]) assert.equal((await host.receive(block)).kind, 'held')
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
    assert.equal((await host.receive(eleven)).kind, 'stored')
    assert.deepEqual(storedChain(host.store.reader), expected(fork))
  })

  test('that is undone brings the old branch back with the seals that are still stored', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 10, from: 1 })
    const longer = [...chain, ...createChain({ count: 2, parent: at(chain, -1) })]
    await receiveAll(host, seal(chain))
    await Promise.all(seal(forkChain(chain, 8, { count: 3 }).slice(8)).map(host.receive))
    assert.equal(storedChain(host.store.reader).length, 11)
    const outcomes = await Promise.all(seal(longer.slice(8)).map(host.receive))
    assert.equal(at(outcomes, -1).kind, 'stored')
    assert.deepEqual(storedChain(host.store.reader), expected(longer))
  })
})
