/** Block 0 of the stored chain, as the node says it and as the store keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGenesis } from '../../../src/generator/ingest/genesis.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { createCollection } from '../support/collection.ts'

const [ours, other] = [namedHash('ours'), namedHash('other')]
const never = new AbortController().signal

/** Block 0 beside a store and a node, and what was reported of it. */
function open(store: StoreWriter, nodeHash = ours) {
  const reported = createCollection<string>()
  const failures = createCollection<unknown>()
  const genesis = createGenesis({
    feed: { genesis: async () => ({ number: 0, hash: nodeHash, parentHash: namedHash('none') }) },
    store,
    onGenesis: reported.add,
    onFailure: failures.add,
  })
  return { ...genesis, reported, failures }
}

test("a block 0 that the store knows is reported at once, and the node's has to be the same", async (t) => {
  const store = await openTestStore(t)
  await store.adoptGenesis(ours)
  const { fetch, confirm, reported } = open(store)
  assert.deepEqual(reported.items, [ours])
  await fetch(never)
  confirm()
  assert.deepEqual(reported.items, [ours])
  await assert.rejects(open(store, other).fetch(never), {
    code: 'GENERATOR_CHAIN_CHANGED',
    message: `Genesis changed: block 0 of the execution node is ${other}, that of the stored chain is ${ours}, so it follows another chain.`,
    facts: { tail: null, head: null, genesis: ours, nodeGenesis: other },
  })
  assert.equal(store.genesisHash(), ours)
})

for (const first of ['the node says it', 'the blocks are confirmed'] as const)
  test(`a store without block 0 takes that of the node, once, also where ${first} first`, async (t) => {
    const store = await openTestStore(t)
    const { fetch, confirm, reported } = open(store)
    if (first === 'the node says it') await fetch(never)
    else confirm()
    assert.deepEqual([store.genesisHash(), reported.items], [null, []])
    if (first === 'the node says it') confirm()
    else await fetch(never)
    await reported.first(() => true)
    confirm()
    await store.flushed()
    assert.deepEqual([store.genesisHash(), reported.items], [ours, [ours]])
  })

test('a block 0 that cannot be kept is a failure', async (t) => {
  const store = await openTestStore(t)
  const failure = new Error('the disk is full')
  const { fetch, confirm, reported, failures } = open({
    ...store,
    adoptGenesis: () => Promise.reject(failure),
  })
  await fetch(never)
  confirm()
  assert.equal(await failures.first(() => true), failure)
  assert.deepEqual(reported.items, [])
})
