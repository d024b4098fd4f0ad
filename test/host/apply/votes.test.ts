/** Who vouches for a block, and which documents of it are served where signers differ. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import { encodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import { encodeSealsAnswer } from '../../../src/primitives/vote-exchange.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import {
  sealBlock,
  signSeal,
  type TestSealedBlock,
  testSigner,
} from '../../support/chain/sealed-blocks.ts'
import { storedChain } from '../../support/test-store.ts'
import {
  alice,
  at,
  bob,
  carol,
  mallory,
  openApplier,
  ruleOf,
  seal,
  signersOf,
  type TestApplier,
} from './open-applier.ts'

describe('votes', () => {
  const source = at(createChain({ count: 1, from: 1 }), 0)
  const byAlice = sealBlock(source, alice)
  const byBob = sealBlock(source, bob)
  const both = { accepted: [alice, bob] }
  const answer = (...seals: Seal[]): Uint8Array =>
    Uint8Array.from(encodeSealsAnswer({ seals, more: false }))

  test('two Generators with identical data are two votes for one root', async (t) => {
    const host = await openApplier(t, both)
    host.stand(source, alice, bob)
    await host.receive(byAlice)
    assert.deepEqual(await host.receive(byBob), { kind: 'seals', height: 1, seals: 1 })
    assert.deepEqual(signersOf(host.store, 1), [alice.identity, bob.identity].sort())
    assert.equal(byAlice.seal.merkleRoot, byBob.seal.merkleRoot)
  })

  test('that come before the block are kept', async (t) => {
    const host = await openApplier(t, both)
    host.stand(source, alice, bob)
    const first = await host.receive(encodeSealedBlock([byBob.seal], null))
    assert.deepEqual(first, { kind: 'seals', height: 1, seals: 1 })
    assert.deepEqual(storedChain(host.store.reader), [])
    await host.receive(byAlice)
    assert.deepEqual(signersOf(host.store, 1), [alice.identity, bob.identity].sort())
  })

  test('replays in any form add no vote', async (t) => {
    const host = await openApplier(t)
    host.stand(source, alice)
    await host.receive(byAlice)
    const again = encodeSealedBlock([{ ...byAlice.seal, createdAt: '2031-01-01T00:00:00Z' }], null)
    for (const replay of [byAlice.bytes, again, byAlice.bytes])
      assert.equal(ruleOf(await host.receive(replay)), 'something-new')
    assert.deepEqual(signersOf(host.store, 1), [alice.identity])
  })

  test('a signer that is known with another signature is not believed for that', async (t) => {
    const host = await openApplier(t, both)
    host.stand(source, alice, bob)
    await host.receive(byAlice)
    const other = at(createChain({ count: 2, from: 1 }), 1)
    const { signatureValue } = sealBlock(other, alice).seal
    const forged = encodeSealedBlock([{ ...byAlice.seal, signatureValue }, byBob.seal], null)
    assert.equal(ruleOf(await host.receive(forged)), 'valid-signature')
    assert.deepEqual(signersOf(host.store, 1), [alice.identity])
  })

  test('the same vote twice at once is one vote', async (t) => {
    const host = await openApplier(t, both)
    host.stand(source, alice, bob)
    await Promise.all([host.receive(byAlice), host.receive(byBob), host.receive(byBob)])
    assert.deepEqual(signersOf(host.store, 1), [alice.identity, bob.identity].sort())
  })

  test('a range peer’s block with the seals of several Generators brings all of them', async (t) => {
    const host = await openApplier(t, both)
    host.stand(source, alice, bob)
    await host.receive(encodeSealedBlock([byAlice.seal, byBob.seal], byAlice.body))
    assert.deepEqual(signersOf(host.store, 1), [alice.identity, bob.identity].sort())
  })

  test('that a comparison with a peer brings count like those of gossip', async (t) => {
    const host = await openApplier(t, both)
    host.stand(source, alice, bob)
    await host.receive(byAlice)
    const place = { height: 1, blockHash: source.hash }
    const taken = await host.applier.receiveSeals(answer(byBob.seal))
    assert.deepEqual(taken, { seals: 1, isMore: false, last: place })
    const again = await host.applier.receiveSeals(answer(byBob.seal))
    assert.deepEqual(again, { seals: 0, isMore: false, last: place })
    const cut = Uint8Array.from(encodeSealsAnswer({ seals: [byAlice.seal], more: true }))
    assert.deepEqual(await host.applier.receiveSeals(cut), { seals: 0, isMore: true, last: place })
    const none = await host.applier.receiveSeals(answer())
    assert.deepEqual(none, { seals: 0, isMore: false, last: null })
    assert.deepEqual(signersOf(host.store, 1), [alice.identity, bob.identity].sort())
  })

  test('an answer with a forged seal, or none at all, is no answer of an honest peer', async (t) => {
    const host = await openApplier(t, both)
    host.stand(source, alice, bob)
    const forged = { ...byBob.seal, signatureValue: byAlice.seal.signatureValue.slice(0, 128) }
    const elsewhere = signSeal({ ...byBob, network: 'Ethereum__Sepolia' }, bob)
    for (const wrong of [forged, elsewhere]) {
      assert.equal(await host.applier.receiveSeals(answer(wrong)), null)
      assert.equal(await host.applier.receiveSeals(answer(byAlice.seal, wrong)), null)
    }
    assert.equal(await host.applier.receiveSeals(Uint8Array.of(1, 2, 3)), null)
    const stranger = sealBlock(source, mallory).seal
    assert.equal((await host.applier.receiveSeals(answer(stranger)))?.seals, 0)
    assert.deepEqual(signersOf(host.store, 1), [])
  })

  test('far above what the signers have reached are not kept: no single one fills the disk', async (t) => {
    const host = await openApplier(t, { accepted: [alice, bob, carol] })
    host.stand(source, alice, bob)
    const far = createChain({ count: 1, from: 5_000 }).map((block) => sealBlock(block, carol))
    host.stand(at(far, 0), carol)
    await host.receive(encodeSealedBlock([at(far, 0).seal], null))
    assert.deepEqual(signersOf(host.store, 5_000), [])
  })

  test('are kept of stored blocks, and where nothing is stored within 1,024 heights', async (t) => {
    const [low, high] = [1, 1_999].map((from) => createChain({ count: 2, from }))
    assert.ok(low && high)
    const host = await openApplier(t, { ...both, retainBlocks: null })
    for (const [chain, from] of [
      [low, 1],
      [high, 1_999],
    ] as const) {
      host.applier.setServedFrom(from)
      host.stand(at(chain, 1), alice, bob)
      for (const block of chain) await host.receive(sealBlock(block, alice))
    }
    const kept = async (number: number, seed = 'other'): Promise<number | undefined> => {
      const [block] = createChain({ count: 1, from: number, seed })
      assert.ok(block)
      return (await host.applier.receiveSeals(answer(sealBlock(block, bob).seal)))?.seals
    }
    const heights = [976, 977, 2_000, 3_024, 3_025]
    const counts = await Promise.all(heights.map((height) => kept(height)))
    assert.deepEqual(counts, [0, 1, 1, 1, 0])
    assert.deepEqual([await kept(1), await kept(1, 'chain')], [0, 1])
  })

  test('are not kept below the lowest height that is', async (t) => {
    const chain = createChain({ count: 2, from: 1_999 })
    const host = await openApplier(t, { ...both, retainBlocks: 10, servedFrom: 1_999 })
    host.stand(at(chain, 1), alice, bob)
    for (const block of chain) await host.receive(sealBlock(block, alice))
    const other = createChain({ count: 2, from: 1_990, seed: 'other' })
    const [below, lowest] = other.map((block) => answer(sealBlock(block, bob).seal))
    assert.ok(below && lowest)
    assert.equal((await host.applier.receiveSeals(below))?.seals, 0)
    assert.equal((await host.applier.receiveSeals(lowest))?.seals, 1)
  })
})

describe('two roots for one block', () => {
  const source = at(createChain({ count: 1, from: 1 }), 0)
  const honest = sealBlock(source, alice)
  /** The same block with one receipt's status turned round, validly sealed. */
  const forgedBy = (signer: DigestSigner): TestSealedBlock => {
    const [receipt, ...rest] = source.receipts
    assert.ok(receipt)
    const status = receipt.status === '0x1' ? '0x0' : '0x1'
    return sealBlock({ ...source, receipts: [{ ...receipt, status }, ...rest] }, signer)
  }
  const three = { accepted: [alice, bob, carol] }
  const rootOf = (host: TestApplier): string | undefined =>
    host.store.reader.read((snapshot) => snapshot.header(1)?.root)

  test('the one with more votes is served, whichever came first', async (t) => {
    const host = await openApplier(t, three)
    host.stand(source, alice, bob, carol)
    await host.receive(forgedBy(carol))
    assert.equal(rootOf(host), forgedBy(carol).seal.merkleRoot)
    await host.receive(honest)
    await host.receive(sealBlock(source, bob))
    await host.applier.drain()
    assert.equal(rootOf(host), honest.seal.merkleRoot)
    assert.deepEqual(signersOf(host.store, 1).length, 3)
  })

  test('where only the seals came, the documents are asked for by their root', async (t) => {
    const host = await openApplier(t, three)
    host.stand(source, alice, bob, carol)
    await host.receive(forgedBy(carol))
    for (const signer of [alice, bob])
      await host.receive(encodeSealedBlock([sealBlock(source, signer).seal], null))
    assert.equal(rootOf(host), forgedBy(carol).seal.merkleRoot)
    const [want] = host.applier.wants()
    const { merkleRoot: root } = honest.seal
    assert.deepEqual(want, { from: 1, to: 1, hash: source.hash, root, purpose: 'documents' })
    await host.receive(honest)
    assert.equal(rootOf(host), root)
    assert.ok(host.applier.wants().every(({ purpose }) => purpose === 'gap'))
  })

  test('a change of the signers has those documents asked for that most of them sealed', async (t) => {
    const host = await openApplier(t, three)
    host.stand(source, alice, bob, carol)
    await host.receive(forgedBy(bob))
    for (const { seal } of [forgedBy(carol), honest])
      await host.receive(encodeSealedBlock([seal], null))
    const asked = () => host.applier.wants().filter(({ purpose }) => purpose === 'documents')
    assert.deepEqual([rootOf(host), asked()], [forgedBy(carol).seal.merkleRoot, []])
    host.applier.setAccepted({ kind: 'listed', identities: [alice.identity], awaited: 0 })
    const { merkleRoot: root } = honest.seal
    const wanted = { from: 1, to: 1, hash: source.hash, root, purpose: 'documents' }
    assert.deepEqual(asked(), [wanted])
    await host.receive(honest)
    assert.deepEqual([rootOf(host), asked()], [root, []])
  })

  test('documents are asked for no longer once more signers sealed those that are stored', async (t) => {
    const dave = testSigner('dave', 'Ed25519')
    const five = [alice, bob, carol, mallory, dave]
    const host = await openApplier(t, { accepted: five })
    host.stand(source, ...five)
    const isAsked = (): boolean =>
      host.applier.wants().some(({ purpose }) => purpose === 'documents')
    await host.receive(forgedBy(carol))
    for (const signer of [alice, bob])
      await host.receive(encodeSealedBlock([sealBlock(source, signer).seal], null))
    assert.ok(isAsked())
    for (const signer of [mallory, dave])
      await host.receive(encodeSealedBlock([forgedBy(signer).seal], null))
    assert.deepEqual([isAsked(), rootOf(host)], [false, forgedBy(carol).seal.merkleRoot])
  })

  test('a signature that is known counts for its own root alone', async (t) => {
    const host = await openApplier(t, three)
    host.stand(source, alice, bob, carol)
    await host.receive(encodeSealedBlock([honest.seal], null))
    const { seal: other } = forgedBy(bob)
    const { merkleRoot } = other
    const forged = encodeSealedBlock([{ ...honest.seal, merkleRoot }, other], null)
    assert.equal(ruleOf(await host.receive(forged)), 'valid-signature')
    assert.deepEqual(signersOf(host.store, 1), [alice.identity])
  })

  test('of three roots those that few sealed are not taken for the one that most did', async (t) => {
    const host = await openApplier(t, { accepted: [alice, bob, carol, mallory] })
    host.stand(source, alice, bob, carol, mallory)
    const { merkleRoot: root } = honest.seal
    await host.receive(forgedBy(carol))
    const [receipt, ...rest] = source.receipts
    assert.ok(receipt)
    const receipts = [{ ...receipt, gasUsed: '0x1' }, ...rest]
    await host.receive(sealBlock({ ...source, receipts }, mallory))
    const stored = rootOf(host)
    assert.notEqual(stored, root)
    for (const signer of [alice, bob])
      await host.receive(encodeSealedBlock([sealBlock(source, signer).seal], null))
    assert.equal(rootOf(host), stored)
    const [want] = host.applier.wants()
    assert.deepEqual(want, { from: 1, to: 1, hash: source.hash, root, purpose: 'documents' })
  })

  test('on a tie the smaller root is served, in whatever order they came', async (t) => {
    const forged = forgedBy(bob)
    const smaller = [honest.seal.merkleRoot, forged.seal.merkleRoot].sort()[0]
    for (const order of [
      [honest, forged],
      [forged, honest],
    ]) {
      const host = await openApplier(t, { accepted: [alice, bob] })
      host.stand(source, alice, bob)
      for (const block of order) await host.receive(block)
      await host.applier.drain()
      assert.equal(rootOf(host), smaller)
    }
  })

  test('a signer of two roots of one block has one vote, for the smaller, in any order of arrival', async (t) => {
    const forged = forgedBy(alice)
    const smaller = [honest.seal.merkleRoot, forged.seal.merkleRoot].sort()[0]
    for (const order of [
      [honest, forged],
      [forged, honest],
    ]) {
      const host = await openApplier(t)
      host.stand(source, alice)
      for (const block of order) await host.receive(block)
      await host.applier.drain()
      const roots = host.store.reader.read((snapshot) =>
        snapshot.seals(1).map(({ merkleRoot }) => merkleRoot),
      )
      assert.deepEqual([roots, rootOf(host)], [[smaller], smaller])
    }
  })

  test('after a change of the signers the votes are counted again', async (t) => {
    const host = await openApplier(t, { accepted: [bob, carol] })
    host.stand(source, bob, carol)
    const forged = forgedBy(carol)
    await host.receive(forged)
    await host.receive(sealBlock(source, bob))
    host.applier.setAccepted({ kind: 'listed', identities: [bob.identity], awaited: 0 })
    await host.receive(sealBlock(source, bob))
    await host.applier.drain()
    assert.equal(rootOf(host), honest.seal.merkleRoot)
  })
})

test('a seal that is not kept is not passed on, however often its unsigned time is changed', async (t) => {
  const host = await openApplier(t, { retainBlocks: null, servedFrom: null })
  const [old] = seal(createChain({ count: 1, from: 100, shape: shapes.empty }))
  assert.ok(old !== undefined)
  host.stand({ number: 5_000, hash: `0x${'ab'.repeat(32)}` }, alice)
  for (const second of [10, 11, 12]) {
    const again = { ...old.seal, createdAt: `2026-01-01T00:00:${second}Z` }
    const outcome = await host.receive(new Uint8Array(encodeSealedBlock([again], null)))
    assert.deepEqual([outcome.kind, ruleOf(outcome)], ['breach', 'something-new'])
  }
})
