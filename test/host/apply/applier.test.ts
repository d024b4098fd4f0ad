/** What a Host stores of the blocks that peers send: in order, out of order, on two branches, of strangers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeBody } from '../../../src/primitives/body/body.ts'
import { encodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import { createChain, forkChain, shapes } from '../../support/chain/block-factory.ts'
import { sealBlock, signSeal, testNetwork } from '../../support/chain/sealed-blocks.ts'
import { headMessage, testGenesis } from '../../support/chain/signed-heads.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { storedChain } from '../../support/test-store.ts'
import {
  alice,
  at,
  bob,
  carol,
  expected,
  mallory,
  openApplier,
  ruleOf,
  seal,
  signersOf,
} from './open-applier.ts'

describe('blocks of one Generator', () => {
  test('are stored whole, with their seals, as soon as its head is on them', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 20, from: 1 })
    const blocks = seal(chain)
    host.stand(at(chain, -1), alice)
    const outcomes = await Promise.all(blocks.map(host.receive))
    assert.ok(outcomes.every((outcome) => outcome.kind === 'block' && outcome.isStored))
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
    host.store.reader.read((snapshot) => {
      for (const { number, body, seal: own, documents } of blocks) {
        assert.deepEqual(Buffer.from(snapshot.body(number) ?? []), Buffer.from(body))
        assert.deepEqual(snapshot.seals(number), [own])
        const header = snapshot.header(number)
        assert.equal(header?.root, own.merkleRoot)
        assert.equal(header?.timestamp, documents.timestamp)
        const sections = { Block: 1, Transaction: 2, AccessListEntry: 1, Log: 3 }
        assert.deepEqual(header?.sections, sections)
      }
    })
    assert.equal(host.applier.state().waiting.blocks, 0)
  })

  test('wait above its head, and are stored when it gets there', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 6, from: 1 })
    const blocks = seal(chain)
    host.stand(at(chain, 2), alice)
    for (const block of blocks) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain.slice(0, 3)))
    assert.equal(host.applier.state().waiting.blocks, 3)
    host.stand(at(chain, -1), alice)
    await host.applier.drain()
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })

  test('can come in any order', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 8, from: 1 })
    host.stand(at(chain, -1), alice)
    for (const block of seal(chain).reverse()) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })

  test('can be found by what is in them', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 3, from: 1 })
    host.stand(at(chain, -1), alice)
    await Promise.all(seal(chain).map(host.receive))
    const hash = String(at(chain, 1).block.transactions?.[0]?.hash)
    const value = Buffer.from(hash.slice(2), 'hex')
    const found = host.store.reader.read((snapshot) => [
      ...snapshot.candidates('transactionHash', value, 0, 1000, false),
    ])
    assert.ok(found.some(({ height, section }) => height === 2 && section === 'Transaction'))
  })

  test('say which Views are done with them as they are stored', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 3, from: 1 })
    const value = Buffer.from(at(chain, 1).hash.slice(2), 'hex')
    await host.store.setViewNeeds(7, { type: 'term', term: { kind: 'blockHash', value } })
    await host.store.setViewNeeds(8, { type: 'all', parts: [] })
    host.stand(at(chain, -1), alice)
    for (const block of seal(chain)) await host.receive(block)
    assert.deepEqual(
      host.writes.flatMap(({ viewsDone }) => viewsDone),
      [
        { height: 1, epoch: 0, slots: [7] },
        { height: 3, epoch: 0, slots: [7] },
      ],
    )
  })

  test('older than what is kept are ignored', async (t) => {
    const host = await openApplier(t, { retainBlocks: 5 })
    const chain = createChain({ count: 10, from: 1 })
    host.stand(at(chain, -1), alice)
    await Promise.all(seal(chain).map(host.receive))
    assert.equal(storedChain(host.store.reader).length, 5)
    assert.equal(ruleOf(await host.receive(at(seal(chain), 2))), 'within-window')
  })

  test('of a store whose bytes were dropped while they waited are asked for again', async (t) => {
    const chain = createChain({ count: 12, from: 1 })
    const blocks = seal(chain)
    const maxWaitingBytes = 4 * at(blocks, 0).body.length
    const host = await openApplier(t, { maxWaitingBytes })
    for (const block of blocks) await host.receive(block)
    assert.equal(host.applier.state().waiting.blocks, 12)
    assert.ok(host.applier.state().waiting.bytes <= maxWaitingBytes)
    host.stand(at(chain, -1), alice)
    await host.applier.drain()
    const stored = storedChain(host.store.reader).length
    assert.ok(stored >= 2 && stored < 12)
    const { hash } = at(chain, -1)
    const missing = { from: stored + 1, to: 12, hash, root: null, purpose: 'documents' }
    assert.deepEqual(host.applier.wants()[0], missing)
    for (const block of blocks) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })
})

describe('accepted signers', () => {
  const chain = createChain({ count: 5, from: 1 })

  test('a stranger with valid signatures is not heard: nothing is stored, waits or is counted', async (t) => {
    const host = await openApplier(t)
    for (const block of seal(chain, mallory))
      assert.equal(ruleOf(await host.receive(block)), 'accepted-signer')
    const head = { number: 5, hash: at(chain, -1).hash, sequence: 9, network: testNetwork }
    const outcome = host.applier.receiveHead(headMessage(mallory, head))
    assert.equal(outcome.kind === 'breach' && outcome.rule, 'accepted-signer')
    const { waiting, reached, signers } = host.applier.state()
    assert.deepEqual([waiting.blocks, reached, signers.length], [0, null, 1])
    assert.deepEqual(signersOf(host.store, 1), [])
  })

  test('a stranger’s seal beside an accepted one is left out, and the message is not forwarded', async (t) => {
    const host = await openApplier(t)
    const [first] = chain
    assert.ok(first)
    const own = sealBlock(first, alice)
    const both = encodeSealedBlock([own.seal, sealBlock(first, mallory).seal], own.body)
    host.stand(first, alice)
    assert.equal(ruleOf(await host.receive(both)), 'accepted-signer')
    const pulled = await host.applier.receive(Uint8Array.from(both), false)
    assert.equal(pulled.outcome.kind, 'block')
    assert.deepEqual(signersOf(host.store, 1), [alice.identity])
  })

  test('of two signers both must stand on a block', async (t) => {
    const host = await openApplier(t, { accepted: [alice, bob] })
    for (const block of seal(chain)) await host.receive(block)
    host.stand(at(chain, 4), alice)
    assert.deepEqual(storedChain(host.store.reader), [])
    host.stand(at(chain, 2), bob)
    await host.applier.drain()
    assert.deepEqual(storedChain(host.store.reader), expected(chain.slice(0, 3)))
  })

  test('a signer taken off the list loses its say at once', async (t) => {
    const host = await openApplier(t, { accepted: [alice, bob] })
    for (const block of seal(chain)) await host.receive(block)
    host.stand(at(chain, 4), alice)
    host.stand(at(chain, 0), bob)
    host.applier.setAccepted({ kind: 'listed', identities: [alice.identity], awaited: 0 })
    await host.applier.drain()
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })

  test('anyone, if the Host is configured so', async (t) => {
    const host = await openApplier(t)
    host.applier.setAccepted({ kind: 'anyone' })
    host.stand(at(chain, -1), mallory)
    for (const block of seal(chain, mallory)) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })
})

describe('the chain of a store', () => {
  const chain = createChain({ count: 3, from: 1 })

  test('is what its signers name', async (t) => {
    const host = await openApplier(t)
    assert.equal(host.applier.state().genesis, null)
    host.stand(at(chain, -1), alice)
    assert.equal(host.applier.state().genesis, testGenesis)
    assert.equal(host.store.genesisHash(), testGenesis)
  })

  test('another one of the same name is refused and named', async (t) => {
    const host = await openApplier(t, { accepted: [alice, bob, carol] })
    host.stand(at(chain, -1), alice, bob)
    const foreign = { number: 3, hash: at(chain, -1).hash, genesisHash: `0x${'ee'.repeat(32)}` }
    host.applier.receiveHead(headMessage(carol, { ...foreign, sequence: 1 }))
    const [failure] = host.applier.state().failures
    assert.equal(failure?.code, 'HOST_GENESIS_MISMATCH')
    assert.match(failure?.message ?? '', new RegExp(`${foreign.genesisHash}.*${testGenesis}`))
    for (const block of seal(chain)) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })

  test('a store that does not know its chain yet takes no other than that of its block 0', async (t) => {
    const [first, next] = createChain({ count: 2, from: 0 })
    assert.ok(first !== undefined && next !== undefined)
    const host = await openApplier(t)
    await host.store.putSealedBlock(storableBlock(first, 'alice'))
    host.stand(next, alice)
    await host.receive(sealBlock(next, alice))
    assert.equal(host.store.genesisHash(), first.hash)
    assert.deepEqual(storedChain(host.store.reader), expected([first]))
    assert.equal(host.applier.state().failures[0]?.code, 'HOST_GENESIS_MISMATCH')
  })

  test('is that of its own block 0 only where most signers sealed this very block', async (t) => {
    const [first] = createChain({ count: 1, from: 0 })
    const [other] = createChain({ seed: 'another', count: 1, from: 0 })
    assert.ok(first !== undefined && other !== undefined)
    const host = await openApplier(t, { accepted: [alice, bob, carol] })
    await host.store.putSealedBlock(storableBlock(first, 'alice'))
    const seals = [sealBlock(first, alice), sealBlock(other, bob), sealBlock(other, carol)]
    for (const { seal: own } of seals) await host.receive(encodeSealedBlock([own], null))
    const identities = [alice, bob, carol].map(({ identity }) => identity)
    host.applier.setAccepted({ kind: 'listed', identities, awaited: 0 })
    assert.equal(host.store.genesisHash(), null)
    await host.receive(encodeSealedBlock([sealBlock(first, bob).seal], null))
    host.applier.setAccepted({ kind: 'listed', identities, awaited: 0 })
    assert.equal(host.store.genesisHash(), first.hash)
  })

  test('is not decided by a liar that comes first: the others are followed once they are heard', async (t) => {
    const host = await openApplier(t, { accepted: [alice, bob, mallory] })
    await host.pass(61_000)
    const other = createChain({ seed: 'made up', count: 3, from: 0 })
    const genesisHash = at(other, 0).hash
    host.applier.receiveHead(headMessage(mallory, { ...at(other, 2), genesisHash, sequence: 9 }))
    for (const block of seal(other, mallory)) await host.receive(block)
    assert.equal(host.applier.state().genesis, genesisHash, 'after a minute it is heard alone')
    assert.equal(host.store.genesisHash(), null, 'and nothing of it is for good')

    host.stand(at(chain, -1), alice, bob)
    assert.equal(host.store.genesisHash(), testGenesis)
    for (const block of [...seal(chain), ...seal(chain, bob)]) await host.receive(block)
    await host.pass(6_000)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
    const [failure] = host.applier.state().failures
    assert.equal(failure?.code, 'HOST_GENESIS_MISMATCH')
    assert.match(failure?.message ?? '', new RegExp(mallory.identity.slice(0, 12)))
  })

  test('is not decided by the first of several configured peers, before the others prove theirs', async (t) => {
    const host = await openApplier(t)
    const identities = [alice.identity]
    host.applier.setAccepted({ kind: 'listed', identities, awaited: 2 })
    host.stand(at(chain, -1), alice)
    for (const block of seal(chain)) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain), 'it is followed at once')
    assert.equal(host.store.genesisHash(), null)
    host.applier.setAccepted({ kind: 'listed', identities, awaited: 0 })
    assert.equal(host.store.genesisHash(), testGenesis)
  })

  test('a sole signer of another chain stores nothing more', async (t) => {
    const host = await openApplier(t)
    host.stand(at(chain, 1), alice)
    for (const block of seal(chain)) await host.receive(block)
    const head = { ...at(chain, 2), genesisHash: `0x${'ee'.repeat(32)}`, sequence: 99 }
    host.applier.receiveHead(headMessage(alice, head))
    assert.deepEqual(storedChain(host.store.reader), expected(chain.slice(0, 2)))
  })
})

describe('a reorganisation', () => {
  test('of 64 blocks is one step, and the Host ends equal to its Generator', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 100, from: 1, shape: shapes.empty })
    host.stand(at(chain, -1), alice)
    await Promise.all(seal(chain).map(host.receive))
    const fork = forkChain(chain, 36, { count: 65, shape: shapes.empty })
    await host.store.setViewNeeds(7, { type: 'any', parts: [] })
    host.stand(at(fork, -1), alice)
    for (const block of seal(fork.slice(36)).reverse()) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(fork))
    const epoch = host.store.reader.read((snapshot) => snapshot.epoch)
    assert.deepEqual(
      at(
        host.writes.filter(({ removed }) => removed > 0),
        0,
      ),
      {
        bottom: 37,
        top: 101,
        removed: 64,
        taken: { blocks: 65, transactions: 0, logs: 0, accessListEntries: 0, seals: 1 },
        viewsDone: fork.slice(36).map(({ number: height }) => ({ height, epoch, slots: [7] })),
      },
    )
  })

  test('to a shorter branch is followed as well', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 10, from: 1 })
    host.stand(at(chain, -1), alice)
    await Promise.all(seal(chain).map(host.receive))
    const fork = forkChain(chain, 7, { count: 1 })
    host.stand(at(fork, -1), alice)
    await host.receive(at(seal(fork), -1))
    assert.deepEqual(storedChain(host.store.reader), expected(fork))
  })

  test('below a gap leaves what is stored above it alone', async (t) => {
    const host = await openApplier(t, { servedFrom: 500, retainBlocks: null })
    const low = createChain({ count: 5, from: 1 })
    const high = createChain({ count: 100, from: 500, shape: shapes.empty, seed: 'high' })
    host.applier.setServedFrom(1)
    host.stand(at(low, -1), alice)
    for (const block of seal(low)) await host.receive(block)
    host.applier.setServedFrom(500)
    host.stand(at(high, -1), alice)
    for (const block of seal(high)) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), [...expected(low), ...expected(high)])
    host.stand(at(low, 3), alice)
    const fork = forkChain(low, 4, { count: 1 })
    host.stand(at(fork, -1), alice)
    await host.receive(at(seal(fork), -1))
    assert.deepEqual(storedChain(host.store.reader), [...expected(fork), ...expected(high)])
  })

  test('that is undone brings the old branch back with the seals that are still stored', async (t) => {
    const host = await openApplier(t)
    const chain = createChain({ count: 10, from: 1 })
    host.stand(at(chain, -1), alice)
    await Promise.all(seal(chain).map(host.receive))
    const fork = forkChain(chain, 8, { count: 3 })
    host.stand(at(fork, -1), alice)
    for (const block of seal(fork.slice(8))) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(fork))
    host.stand(at(chain, -1), alice)
    for (const block of seal(chain.slice(8))) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
    assert.deepEqual(signersOf(host.store, 10), [alice.identity, alice.identity])
  })
})

describe('a gap', () => {
  test('is filled from above, where it is known which block is missing', async (t) => {
    const host = await openApplier(t, { servedFrom: 900, retainBlocks: null })
    const chain = createChain({ count: 120, from: 801, shape: shapes.empty })
    host.stand(at(chain, -1), alice)
    for (const block of seal(chain.slice(99))) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain.slice(99)))
    const [want] = host.applier.wants()
    const { parentHash: hash } = at(chain, 99)
    assert.deepEqual(want, { from: 836, to: 899, hash, root: null, purpose: 'gap' })
    for (const block of seal(chain.slice(35, 99))) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain.slice(35)))
    assert.deepEqual(host.applier.wants()[0]?.to, 835)
  })

  test('is not filled with blocks of another branch, whichever signer sealed them', async (t) => {
    const host = await openApplier(t, { servedFrom: 900, retainBlocks: null })
    const chain = createChain({ count: 20, from: 900, shape: shapes.empty })
    host.stand(at(chain, -1), alice)
    for (const block of seal(chain)) await host.receive(block)
    const other = createChain({ count: 10, from: 890, seed: 'other', shape: shapes.empty })
    for (const block of seal(other)) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
  })
})

test('what cannot be foreseen in a message is the fault of the message, and of nobody else', async (t) => {
  const host = await openApplier(t)
  const [first, second] = seal(createChain({ count: 2, from: 1 }))
  assert.ok(first && second)
  host.stand(second, alice)
  const documents = encodeBody(first.documents)
  const high = signSeal(
    { network: testNetwork, number: 2 ** 48, hash: first.hash, cids: documents.cids },
    mallory,
  )
  assert.equal(ruleOf(await host.receive(encodeSealedBlock([high], null))), 'well-formed')
  await host.receive(first)
  await host.receive(second)
  assert.equal(storedChain(host.store.reader).length, 2)
})
