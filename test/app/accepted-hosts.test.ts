/** Whose word about rows counts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { type AcceptedHosts, openAcceptedHosts } from '../../src/app/accepted-hosts.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { testDirectory } from '../support/test-store.ts'

async function openStore(t: TestContext): Promise<StoreWriter> {
  const options = { path: testDirectory(t), network: testNetwork, retainBlocks: null } as const
  const store = await openWriter({ ...options, program: 'app' }, { log: pino({ enabled: false }) })
  t.after(() => store.close())
  return store
}

/** Resolves once all is written that was to be: writes are in order. */
async function written(store: StoreWriter): Promise<void> {
  await store.putRecord('a later record', Buffer.of(1))
}

interface Opened {
  readonly accepted: AcceptedHosts
  /** All that were accepted, at the beginning and after each change. */
  readonly changes: readonly (readonly string[])[]
}

function open(
  store: StoreWriter,
  listed: readonly string[] | null,
  peers: readonly string[],
): Opened {
  const changes: (readonly string[])[] = []
  const onChange = (hosts: ReadonlySet<string>): void => void changes.push([...hosts])
  return { accepted: openAcceptedHosts({ listed, peers }, { store, onChange }), changes }
}

test('named Hosts are accepted whoever the peers are, and nobody is awaited', async (t) => {
  const store = await openStore(t)
  const { accepted, changes } = open(store, ['A', 'B'], ['a peer'])
  assert.equal(accepted.prove('a peer', 'C'), true)
  assert.equal(accepted.prove('a peer', 'D'), true)
  assert.deepEqual(
    ['A', 'B', 'C', 'D'].map((host) => accepted.isAccepted(host)),
    [true, true, false, false],
  )
  assert.deepEqual([accepted.list(), accepted.awaited()], [new Set(['A', 'B']), 0])
  await written(store)
  assert.deepEqual(changes, [['A', 'B']])
  assert.deepEqual(open(store, null, ['a peer']).changes, [[]], 'nothing was kept')
})

test('without names those are accepted that peers prove to be, and each peer is one Host', async (t) => {
  const { accepted, changes } = open(await openStore(t), null, ['one', 'two'])
  assert.equal(accepted.awaited(), 2)
  assert.equal(accepted.isAccepted('A'), false)
  assert.equal(accepted.prove('one', 'A'), true)
  assert.equal(accepted.awaited(), 1)
  assert.equal(accepted.prove('one', 'A'), true)
  assert.equal(accepted.prove('one', 'B'), false)
  assert.deepEqual([accepted.isAccepted('A'), accepted.isAccepted('B')], [true, false])
  assert.equal(accepted.prove('two', 'A'), true, 'a Host may have two peer IDs')
  assert.deepEqual([accepted.list(), accepted.awaited()], [new Set(['A']), 0])
  assert.deepEqual(changes, [[], ['A'], ['A']])
})

test('what a peer proved is kept while it is configured, and not after', async (t) => {
  const store = await openStore(t)
  const before = open(store, null, ['one', 'two'])
  before.accepted.prove('one', 'A')
  before.accepted.prove('two', 'B')
  await written(store)
  const { accepted, changes } = open(store, null, ['two', 'three'])
  assert.deepEqual(changes, [['B']])
  assert.equal(accepted.awaited(), 1)
  assert.equal(accepted.prove('two', 'A'), false)
  assert.equal(accepted.prove('three', 'C'), true)
  await written(store)
  assert.deepEqual(open(store, null, ['one', 'two', 'three']).changes, [['B', 'C']])
})
