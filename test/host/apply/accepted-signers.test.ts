/** Whose heads count for a Host, and which chain they are taken to name. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type AcceptedSigners,
  createAcceptedSigners,
} from '../../../src/host/apply/accepted-signers.ts'
import { createSignerHeads } from '../../../src/host/apply/signer-heads.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { openTestStore } from '../../support/test-store.ts'
import { alice, bob, carol, mallory } from './open-applier.ts'

const ours = namedHash('ours')
const theirs = namedHash('theirs')

interface Scene {
  readonly signers: AcceptedSigners
  /** Each says a head of block 7 of a chain. */
  say(genesisHash: string, ...who: readonly DigestSigner[]): void
  /** The store knows its chain. */
  adopt(genesisHash: string): void
  setNow(nowMs: number): void
}

async function openScene(
  t: TestContext,
  listed?: readonly DigestSigner[],
  awaited = 0,
): Promise<Scene> {
  let stored: string | null = null
  let nowMs = 0
  let sequence = 0
  const heads = createSignerHeads({
    store: await openTestStore(t),
    network: testNetwork,
    isAccepted: () => true,
    nowMs: () => nowMs,
  })
  const time = (): { nowMs: number; startedMs: number } => ({ nowMs, startedMs: 0 })
  const signers = createAcceptedSigners({ heads, genesisHash: () => stored, time })
  if (listed !== undefined)
    signers.set({ kind: 'listed', identities: listed.map(({ identity }) => identity), awaited })
  return {
    signers,
    say: (genesisHash, ...who) => {
      for (const signer of who) {
        sequence += 1
        const head = { number: 7, nodeHeight: 9, hash: namedHash('7'), sequence, genesisHash }
        assert.equal(heads.receive(headMessage(signer, head)).kind, 'newer')
      }
    },
    adopt: (genesisHash) => {
      stored = genesisHash
    },
    setNow: (next) => {
      nowMs = next
    },
  }
}

test('nobody is accepted before somebody is named', async (t) => {
  const { signers, say } = await openScene(t)
  say(ours, alice)
  assert.deepEqual([signers.isAccepted(alice.identity), signers.list()], [false, []])
  assert.deepEqual([signers.genesis(), signers.majorityGenesis()], [null, null])
})

test('those that are named are accepted, with what their heads say', async (t) => {
  const { signers, say, setNow } = await openScene(t, [alice, bob])
  setNow(3)
  say(ours, alice, mallory)
  setNow(100_000)
  assert.deepEqual(
    [alice, bob, mallory].map(({ identity }) => signers.isAccepted(identity)),
    [true, true, false],
  )
  const head = { number: 7, hash: namedHash('7'), nodeHeight: 9 }
  assert.deepEqual(signers.list(), [
    { identity: alice.identity, head, heardMs: 3 },
    { identity: bob.identity, head: null, heardMs: null },
  ])
  assert.equal(signers.mostAtHeight(), Number.POSITIVE_INFINITY)
})

test('where anyone is accepted, all that said something are, 256 of them at a height', async (t) => {
  const { signers, say } = await openScene(t, [alice, bob], 5)
  signers.set({ kind: 'anyone' })
  assert.deepEqual(signers.identities(), [])
  say(ours, mallory)
  assert.deepEqual(signers.identities(), [mallory.identity])
  assert.ok(signers.isAccepted(carol.identity))
  assert.equal(signers.mostAtHeight(), 256)
  assert.equal(signers.majorityGenesis(), ours, 'nobody is awaited any more')
  signers.set({ kind: 'listed', identities: [alice.identity], awaited: 0 })
  assert.ok(!signers.isAccepted(mallory.identity))
})

test('the chain is the one that more than half of the counted signers name', async (t) => {
  const { signers, say } = await openScene(t, [alice, bob, carol])
  say(theirs, alice)
  assert.equal(signers.genesis(), null, 'one of three does not count alone')
  say(ours, bob)
  assert.equal(signers.genesis(), null)
  say(ours, carol)
  assert.equal(signers.genesis(), ours)
})

test('what the store knows of its chain goes before what signers say', async (t) => {
  const { signers, say, adopt } = await openScene(t, [alice, bob, carol])
  say(theirs, alice, bob)
  assert.deepEqual([signers.genesis(), signers.foreign()], [theirs, []])
  adopt(ours)
  say(ours, carol)
  assert.equal(signers.genesis(), ours)
  const foreign = [alice, bob].map(({ identity }) => ({ identity, genesisHash: theirs }))
  assert.deepEqual(signers.foreign(), foreign)
  assert.deepEqual(
    signers.list().map(({ head, heardMs }) => [head?.number, heardMs]),
    [
      [undefined, 0],
      [undefined, 0],
      [7, 0],
    ],
  )
})

test('nobody is of another chain while none is known', async (t) => {
  const { signers, say } = await openScene(t, [alice, bob])
  say(ours, alice)
  say(theirs, bob)
  assert.deepEqual([signers.genesis(), signers.foreign()], [null, []])
  assert.deepEqual(
    signers.list().map(({ head }) => head),
    [null, null],
  )
})

test('a store adopts what more than half name of those that are accepted or may be soon', async (t) => {
  const { signers, say } = await openScene(t, [alice, bob, carol], 1)
  const identities = [alice, bob, carol].map(({ identity }) => identity)
  say(theirs, mallory)
  say(ours, alice, bob)
  assert.equal(signers.majorityGenesis(), null, 'two of four')
  assert.ok(!signers.areMost(identities.slice(0, 2)))
  assert.ok(!signers.areMost([...identities.slice(0, 2), mallory.identity]))
  assert.ok(signers.areMost(identities))
  signers.set({ kind: 'listed', identities, awaited: 0 })
  assert.equal(signers.majorityGenesis(), ours, 'two of three')
  assert.ok(signers.areMost(identities.slice(0, 2)))
  assert.ok(!signers.areMost(identities.slice(0, 1)))
})
