/** Whose word about rows a Host accepts: Hosts that are listed, and bootstrap peers that proved to be Hosts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignersFile } from '../../../src/host/trust/signers-file.ts'
import { openTrustedHosts, type TrustedHosts } from '../../../src/host/trust/trusted-hosts.ts'
import { runtimeVersion } from '../../../src/lens/program/run-limits.ts'
import type { RowVoters, StoreWriter } from '../../../src/store/store.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { openTestHost } from '../support/test-host.ts'

const [own, listed, written, proven] = ['own', 'listed', 'written', 'proven'] as const

/** Whose statements the writer was to accept last. */
let given: readonly string[] = []
/** Whose statements count in answers of this process. */
let counted: RowVoters | null = null

function open(
  store: StoreWriter,
  {
    file = null,
    settings = [],
    log = captureLog().log,
  }: { file?: SignersFile | null; settings?: string[]; log?: CapturedLog['log'] } = {},
): TrustedHosts {
  const onFatal = (error: unknown): void => assert.fail(String(error))
  const writer = {
    putRecord: store.putRecord,
    setAcceptedHosts: async (identities: readonly string[]) => {
      given = identities
    },
  }
  const reader = {
    ...store.reader,
    countRowVotesOf: (voters: RowVoters) => {
      counted = voters
    },
  }
  const parts = { log, writer, reader, file, onFatal }
  return openTrustedHosts({ listed: settings, own }, parts)
}

const fileOf = (values: string[], problem: string | null = null): SignersFile => ({
  path: '/hosts',
  values: () => values,
  problem: () => problem,
})

test('Hosts of setting, file and bootstrap peers are accepted, the Host itself never', async (t) => {
  const store = await openTestStore(t)
  const inFile: string[] = [written, own]
  const hosts = open(store, { settings: [own, listed], file: fileOf(inFile) })
  assert.deepEqual(given, [listed, written])
  assert.deepEqual(counted, { hosts: new Set([own, listed, written]), runtime: runtimeVersion })
  hosts.prove('a peer', proven)
  hosts.prove('itself', own)
  assert.deepEqual(hosts.sources(), [
    { identity: listed, source: 'setting', peer: null },
    { identity: written, source: 'file', peer: null },
    { identity: proven, source: 'bootstrap', peer: 'a peer' },
  ])
  assert.deepEqual(given, [listed, written, proven])
  inFile[0] = 'rewritten'
  hosts.onFile()
  assert.deepEqual(given, [listed, 'rewritten', proven])
  hosts.keepPeers([])
  assert.deepEqual(
    hosts.sources().map(({ identity }) => identity),
    [listed, 'rewritten'],
  )
  assert.deepEqual(given, [listed, 'rewritten'])
  assert.deepEqual(hosts.failures(), [])
  await store.flushed()
  const again = open(store, { file: fileOf([], 'ENOENT') })
  assert.deepEqual(
    again.sources().map(({ identity }) => identity),
    ['rewritten'],
    'the file as it was last',
  )
})

test('who waits for other Hosts hears when others are accepted, and only then', async (t) => {
  const store = await openTestStore(t)
  const { log, messages } = captureLog()
  const hosts = open(store, { log })
  let heard = 0
  hosts.onChange(() => void heard++)
  hosts.keepPeers([])
  assert.deepEqual([heard, messages('info')], [0, []])
  hosts.prove('a peer', proven)
  assert.equal(heard, 1)
  hosts.prove('another peer', proven)
  hosts.keepPeers(['another peer'])
  assert.equal(heard, 1, 'the same Host at another peer')
  hosts.keepPeers([])
  assert.equal(heard, 2)
  assert.equal(messages('info').filter((each) => each === 'accepted Hosts').length, 2)
})

test('Hosts that were proven or written stay over a restart without the peer and the file', async (t) => {
  const store = await openTestStore(t)
  open(store, { file: fileOf([written]) }).prove('a peer', proven)
  await store.flushed()
  const again = open(store, { file: fileOf([], 'ENOENT') })
  assert.deepEqual(
    again.sources().map(({ identity }) => identity),
    [written, proven],
  )
  const [failure] = again.failures()
  assert.ok(failure)
  assertExplained(failure)
  assert.equal(
    failure.message,
    'HOST_TRUSTED_HOSTS_FILE (/hosts) cannot be used, there is no such file; its last good list of 1 stays.',
  )
  again.keepPeers(['another peer'])
  await store.flushed()
  open(store)
  await store.flushed()
  const forgotten = open(store, { file: fileOf([], 'ENOENT') })
  assert.deepEqual(forgotten.sources(), [], 'nor is a file that was no longer named remembered')
})

test('HOST_TRUSTED_HOST_CHANGED: a Host with a new key behind the old peer ID is not accepted', async (t) => {
  const store = await openTestStore(t)
  open(store).prove('a peer', proven)
  await store.flushed()
  const { log, messages } = captureLog()
  const hosts = open(store, { log })
  hosts.prove('a peer', 'another')
  assert.deepEqual(hosts.sources(), [{ identity: proven, source: 'bootstrap', peer: 'a peer' }])
  const [failure] = hosts.failures()
  assert.ok(failure)
  assertExplained(failure)
  assert.equal(
    failure.message,
    'The bootstrap peer a peer proves to be the Host another; accepted of it is proven, and stays so.',
  )
  hosts.prove('another peer', written)
  assert.deepEqual(messages('error'), ['bootstrap peer proves another identity'])
  hosts.prove('a peer', proven)
  assert.deepEqual(hosts.failures(), [])
})

test('siblings are accepted after those that are listed, each once, until they are gone', async (t) => {
  const store = await openTestStore(t)
  const hosts = open(store, { settings: [listed] })
  hosts.proveSibling('itself', own)
  hosts.proveSibling('a replica', written)
  hosts.proveSibling('another', listed)
  await store.flushed()
  const again = open(store, { settings: [listed] })
  assert.deepEqual(again.sources(), [
    { identity: listed, source: 'setting', peer: null },
    { identity: written, source: 'sibling', peer: 'a replica' },
  ])
  again.keepPeers([])
  assert.deepEqual(given, [listed, written])
  again.proveSibling('a replica', 'another key')
  const [failure] = again.failures()
  assert.ok(failure)
  assertExplained(failure)
  assert.equal(
    failure.message,
    'The sibling a replica proves to be the Host another key; accepted of it is written, and stays so.',
  )
  assert.deepEqual(given, [listed, written])
  again.keepSiblings([])
  assert.deepEqual([given, again.failures()], [[listed], []])
})

test('a Host accepts a bootstrap Host that it dials, also where signers are listed', async (t) => {
  const first = await openTestHost(t, { name: 'first' })
  const { identity } = testSigner('host:first')
  const second = await openTestHost(t, {
    name: 'second',
    peers: [first.address],
    env: { HOST_TRUSTED_SIGNERS: testSigner('a').identity },
  })
  await second.captured.line('bootstrap peer proved a Host’s identity')
  assert.deepEqual(second.trust.hosts(), [{ identity, source: 'bootstrap', peer: first.id }])
  assert.deepEqual(first.trust.hosts(), [], 'and the other one accepts nobody that dialled it')
})
