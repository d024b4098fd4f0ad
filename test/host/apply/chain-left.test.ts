/**
 * A Host on a chain that its signers left says so for as long as that lasts, and follows them where it may: heads arrive
 * before their blocks, signers go silent and come back, and blocks are stored meanwhile.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import {
  type ChainBlock,
  createChain,
  forkChain,
  shapes,
} from '../../support/chain/block-factory.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { storedChain } from '../../support/test-store.ts'
import {
  alice,
  at,
  bob,
  carol,
  codesOf,
  expected,
  explainedFailure,
  openApplier,
  seal,
  type TestApplier,
} from './open-applier.ts'

const empty = { shape: shapes.empty }
const old = createChain({ count: 120, from: 1, ...empty })
const remade = createChain({ count: 140, from: 1, seed: 'remade', ...empty })

/** A Host that stored the old chain of these signers. */
async function openOnOldChain(
  t: TestContext,
  accepted: readonly DigestSigner[],
  retainBlocks = 1_000,
): Promise<TestApplier> {
  const host = await openApplier(t, { accepted, retainBlocks })
  host.stand(at(old, -1), ...accepted)
  for (const signer of accepted) await Promise.all(seal(old, signer).map(host.receive))
  assert.deepEqual(storedChain(host.store.reader), expected(old.slice(-retainBlocks)))
  assert.deepEqual(codesOf(host), [])
  return host
}

/** The signers are at a block, as a Host beside them hears it: the head first, then the block. */
async function goTo(
  host: TestApplier,
  chain: readonly ChainBlock[],
  number: number,
  ...signers: readonly DigestSigner[]
): Promise<void> {
  const block = chain.find((each) => each.number === number) ?? assert.fail('no such block')
  for (const signer of signers) {
    host.stand(block, signer)
    await host.receive(at(seal([block], signer), 0))
  }
}

test('a chain begun again below what is kept is reported until it reaches that, then followed', async (t) => {
  const host = await openOnOldChain(t, [alice], 50)
  for (const block of seal(remade.slice(0, 30))) await host.receive(block)
  for (let height = 30; height < 71; height += 1) {
    await goTo(host, remade, height, alice)
    if (height > 32) {
      assert.equal(codesOf(host)[0], 'HOST_SIGNER_BELOW', `at ${height}`)
      assert.match(
        explainedFailure(host, 'HOST_SIGNER_BELOW'),
        /below all that is kept here \(71 to 120\)/,
      )
    }
    await host.pass(30_000)
  }
  assert.deepEqual(storedChain(host.store.reader), expected(old.slice(70)))
  for (let height = 71; height < 125; height += 1) {
    await goTo(host, remade, height, alice)
    await host.pass(30_000)
  }
  assert.equal(at(storedChain(host.store.reader), -1)[1], at(remade, 123).hash)
  assert.deepEqual(codesOf(host), [])
})

test('a chain begun again is followed after a minute, though each head comes before its block', async (t) => {
  const host = await openOnOldChain(t, [alice])
  for (const block of seal(remade.slice(0, 50))) await host.receive(block)
  for (let height = 51; height < 57; height += 1) {
    await goTo(host, remade, height, alice)
    assert.match(
      explainedFailure(host, 'HOST_FORK_DEEP'),
      new RegExp(`a branch to block ${height} .* leaves the last 120 stored blocks behind`),
    )
    host.stand(at(remade, height), alice)
    assert.deepEqual(codesOf(host), ['HOST_FORK_DEEP'], 'the block of the head is not here yet')
    await host.pass(10_000)
  }
  await goTo(host, remade, 57, alice)
  await host.pass(0)
  assert.deepEqual(codesOf(host), [])
  assert.deepEqual(storedChain(host.store.reader), expected(remade.slice(0, 57)))
})

test('a deep branch stays the same one while the window moves up with it', async (t) => {
  const host = await openOnOldChain(t, [alice], 100)
  for (const block of seal(remade.slice(20, 118))) await host.receive(block)
  for (let height = 119; height < 126; height += 1) {
    await goTo(host, remade, height, alice)
    await host.pass(10_000)
  }
  assert.equal(at(storedChain(host.store.reader), -1)[1], at(remade, 124).hash)
})

test('a fork too deep for those who are heard lasts while they are silent as well', async (t) => {
  const host = await openOnOldChain(t, [alice, bob])
  const fork = forkChain(old, 40, { count: 90, ...empty })
  await Promise.all(seal(fork.slice(40)).map(host.receive))
  await host.pass(60_000)
  for (let turn = 0; turn < 6; turn += 1) {
    host.stand(at(fork, -1), alice)
    await host.pass(10_000)
    if (turn > 0) assert.ok(codesOf(host).includes('HOST_FORK_TOO_DEEP'), `after ${turn} turns`)
  }
  for (let turn = 0; turn < 12; turn += 1) {
    await host.pass(10_000)
    explainedFailure(host, 'HOST_FORK_TOO_DEEP')
  }
  host.stand(at(old, -1), alice, bob)
  assert.deepEqual(codesOf(host), [])
})

test('a signer out of reach stays reported when a block is stored and its head is not here yet', async (t) => {
  const chain = createChain({ count: 60, from: 1, ...empty })
  const host = await openApplier(t, { accepted: [alice, bob, carol] })
  const nowhere = { number: 4, hash: `0x${'77'.repeat(32)}` }
  for (let height = 1; height < 60; height += 1) {
    const block = at(chain, height - 1)
    host.stand(block, alice, bob)
    host.stand(nowhere, carol)
    const codes = (): unknown => [codesOf(host)[0], height]
    const wanted = height > 30 ? 'HOST_SIGNERS_DISAGREE' : undefined
    assert.deepEqual(codes(), [wanted, height])
    await host.receive(at(seal([block], alice), 0))
    assert.deepEqual(codes(), [wanted, height])
    await host.pass(2_000)
  }
  assert.equal(storedChain(host.store.reader).length, 59)
})

test('a signer of another block 0 stays reported when it is silent, however long', async (t) => {
  const host = await openOnOldChain(t, [alice])
  const genesisHash = `0x${'02'.repeat(32)}`
  const head = { number: 7, hash: at(remade, 6).hash, sequence: 99_999, genesisHash }
  host.applier.receiveHead(headMessage(alice, head))
  for (let minutes = 0; minutes < 10; minutes += 1) {
    explainedFailure(host, 'HOST_GENESIS_MISMATCH')
    await host.pass(60_000)
  }
})

test('a Host that stores nothing while heads go on says so; a chain that rests is none of it', async (t) => {
  const host = await openOnOldChain(t, [alice])
  const next = createChain({ count: 12, parent: at(old, -1), ...empty })
  for (let turn = 0; turn < 12; turn += 1) {
    host.stand(at(next, turn), alice)
    assert.equal(codesOf(host).includes('HOST_STANDS_STILL'), turn > 6, `at ${turn}`)
    await host.pass(9_000)
  }
  assert.match(
    explainedFailure(host, 'HOST_STANDS_STILL'),
    /^No block above 120 has been stored since 20/,
  )
  assert.equal(Math.round(host.applier.state().standsStillMs / 1e3), 99)
  await Promise.all(seal(next).map(host.receive))
  assert.equal(host.applier.state().standsStillMs, 0)
  for (let turn = 0; turn < 12; turn += 1) {
    host.stand(at(next, -1), alice)
    assert.deepEqual(codesOf(host), [])
    await host.pass(15_000)
  }
})

test('a signer that is accepted later has as long as others before it is silent or out of reach', async (t) => {
  const host = await openOnOldChain(t, [alice])
  host.applier.state()
  for (let turn = 0; turn < 10; turn += 1) {
    await host.pass(30_000)
    host.stand(at(old, -1), alice)
  }
  const identities = [alice.identity, bob.identity]
  host.applier.setAccepted({ kind: 'listed', identities, awaited: 0 })
  assert.deepEqual(codesOf(host), [])
  host.stand({ number: 400, hash: `0x${'77'.repeat(32)}` }, bob)
  assert.deepEqual(codesOf(host), [])
})
