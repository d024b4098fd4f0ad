/** What a Host says of itself, from parts that open and close while it starts and runs. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../src/errors.ts'
import type { FollowState } from '../../src/host/apply/outcome.ts'
import { hostSettings } from '../../src/host/config.ts'
import { createHostStatus, type HostStatusReporter } from '../../src/host/status.ts'
import type { HostViews } from '../../src/host/views/views.ts'
import type { FailureReport, RegistryHealthReport } from '../../src/service/contract.ts'
import { startingState } from '../../src/service/health/health-report.ts'
import { loadSettings } from '../../src/service/settings/settings.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { opaqueBlock } from '../support/chain/opaque-blocks.ts'
import { openTestStore } from '../support/test-store.ts'

const sibling = 'replica-1'
const env = { DB_KEYRING_SECRET: 'not used here', HOST_READY_MIN_BLOCKS: '0' }

/** A Host that runs beside a replica, which says that it has this block, as a signer does. */
async function besideReplica(
  t: TestContext,
  has: number,
): Promise<{ readonly status: HostStatusReporter; readonly store: StoreWriter }> {
  const status = createHostStatus(loadSettings(hostSettings, { argv: [], env }))
  const store = await openTestStore(t)
  const peer = { id: sibling, addresses: [], subscribed: true, bootstrap: false, verified: true }
  const lastAnnouncement = { tail: 0, head: has }
  status.report({
    reader: store.reader,
    siblings: () => new Set([sibling]),
    p2p: {
      self: () => ({ id: 'replica-0', addresses: [] }),
      peers: () =>
        [sibling, 'a stranger'].map((id) => {
          return { ...peer, id, announced: null, lastAnnouncement, score: 0 }
        }),
      failures: () => [],
    },
  })
  status.onFollow(followState(has, []))
  status.setReady(true)
  return { status, store }
}

/** One signer that counts and has reached a height. */
function followState(reached: number, failures: FollowState['failures']): FollowState {
  const head = { number: reached, hash: '', nodeHeight: reached }
  return {
    genesis: null,
    signers: [{ identity: 'signer', head, heardAt: 0, isCounted: true }],
    reached,
    wants: [],
    failures,
    standsStillMs: 0,
    floor: 0,
    waiting: { blocks: 0, bytes: 0 },
  }
}

test('a Host without a block is behind a replica that has more than 64', async (t) => {
  assert.equal((await besideReplica(t, 63)).status.state().unready, null)
  const { status } = await besideReplica(t, 64)
  assert.equal(status.state().unready?.reason, 'behind-sibling')
  assert.equal(status.gauges.siblings(), 1)
})

test('a Host is behind no replica whose blocks it has from before it was started again', async (t) => {
  const { status, store } = await besideReplica(t, 70)
  await store.putSealedBlock(opaqueBlock(6))
  assert.equal(status.state().unready?.reason, 'behind-sibling')
  status.report({ reader: store.reader })
  assert.equal(status.state().unready, null)
})

test('a Host whose newest blocks gave way stays as ready as it was', async (t) => {
  const { status, store } = await besideReplica(t, 70)
  for (const height of [4, 5]) await store.putSealedBlock(opaqueBlock(height))
  assert.equal(status.state().unready?.reason, 'behind-sibling')
  await store.putSealedBlock(opaqueBlock(6))
  status.onStored()
  assert.equal(status.state().unready, null)
  await store.truncateAbove(5)
  status.onStored()
  assert.deepEqual([status.state().head, status.state().unready], [5, null])
})

test('what is wrong with the signers is what trust and fork choice report of them', () => {
  const status = createHostStatus(loadSettings(hostSettings, { argv: [], env }))
  const untrusted = { code: 'HOST_NO_SIGNER', message: 'No signer is accepted.' }
  const silent = { code: 'HOST_SIGNER_SILENT', message: 'The signer is silent.' }
  assert.deepEqual(status.signerFailures(), [])
  status.report({ trust: { mode: 'bootstrap', sources: () => [], failures: () => [untrusted] } })
  status.onFollow(followState(1, [silent]))
  assert.deepEqual(status.signerFailures(), [untrusted, silent])
  status.onFollow(followState(1, []))
  assert.deepEqual(status.signerFailures(), [untrusted])
})

/** Says only this. */
const failing = (code: FailureReport['code']) => ({ code, message: `${code} is so` })

test('all that parts of a Host report is in its state, what has to be seen to in its order', async (t) => {
  const status = createHostStatus(loadSettings(hostSettings, { argv: [], env }), () => 7_000)
  const before = startingState('Ethereum', 'Mainnet')
  const embedded = { state: 'embedded', differing: [] } as const
  const open = { schema: embedded, views: [] }
  assert.deepEqual(status.state(), { ...before, ...open })
  const { head, lag, ...counting } = status.gauges
  assert.deepEqual([head(), lag()], [null, null])
  for (const [name, count] of Object.entries(counting)) assert.equal(count(), 0, name)

  const store = await openTestStore(t)
  for (const height of [2, 3, 6]) await store.putSealedBlock(opaqueBlock(height))
  const view = { id: '0x1', address: '0x2', name: 'A', state: 'live', blocks_left: 0 } as const
  const shown = { ...view, blocks_per_second: null, seconds_left: null }
  const counts = { listed: 1, served: 1, over_limit: 0, denied: 0, refused: 0, foreign: 0 }
  const registry: RegistryHealthReport = { state: 'live', last_listed: null, ...counts }
  const self = { id: 'me', addresses: [] }
  const failure = (code: ErrorCode) => new ServiceError(code, `${code} is so`)
  status.report({
    reader: store.reader,
    schema: { report: () => embedded, failure: () => failure('HOST_SCHEMA_UNREADABLE') },
    p2p: { self: () => self, peers: () => [], failures: () => [failure('P2P_OTHER_NETWORK')] },
    volume: { failure: () => failure('STORE_NEARLY_FULL') },
    trust: { mode: 'bootstrap', sources: () => [], failures: () => [failing('HOST_NO_SIGNER')] },
    views: { list: () => [{ ...shown, rows: 5 }] as unknown as ReturnType<HostViews['list']> },
    folder: { failures: () => [failing('HOST_VIEW_FILE_REFUSED')] },
    rows: { failures: () => [failing('HOST_ROWS_DIFFER')] },
    registry: {
      report: () => ({ ...registry, others: [] }),
      failures: () => [failing('REGISTRY_UNREACHABLE')],
    },
  })
  status.setNetwork('Local', 'Devnet')
  status.setIdentity('own')
  status.setReady(true)
  status.setWaiting(true)
  status.onFollow({ ...followState(9, [failing('HOST_STANDS_STILL')]), genesis: '0x00' })
  const { errors, ...state } = status.state()
  const { errors: _, ...starting } = startingState('Local', 'Devnet')
  assert.deepEqual(state, {
    ...starting,
    ready: true,
    storeOpen: true,
    ...{ tail: 2, head: 6, gaps: [{ from: 4, to: 5 }] },
    lastProcessedMs: Date.parse('2026-01-01T00:00:00Z'),
    ...{ genesis: '0x00', identity: 'own', sourceHead: 9 },
    ...{ trust: 'bootstrap', signers: [], schema: embedded, views: [shown], registry },
    p2p: { self, peers: [] },
  })
  assert.deepEqual(
    errors.map(({ code }) => code),
    [
      'HOST_NETWORK_UNKNOWN',
      'HOST_STANDS_STILL',
      'P2P_OTHER_NETWORK',
      'HOST_NO_SIGNER',
      'HOST_SCHEMA_UNREADABLE',
      'STORE_NEARLY_FULL',
      'HOST_VIEW_FILE_REFUSED',
      'HOST_ROWS_DIFFER',
      'REGISTRY_UNREACHABLE',
    ],
  )
  assert.deepEqual(
    [status.gauges.head(), status.gauges.lag(), status.gauges.gapBlocks()],
    [6, 3, 2],
  )

  status.onStored()
  assert.equal(status.state().lastProcessedMs, 7_000)
  status.close()
  const closed = status.state()
  assert.deepEqual(
    [closed.ready, closed.storeOpen, closed.head, closed.views],
    [false, false, null, [shown]],
  )
})

test('a Host is ready by the blocks that it has, gaps left out', async (t) => {
  const readyWith = async (blocks: string): Promise<boolean> => {
    const wanted = { ...env, HOST_READY_MIN_BLOCKS: blocks }
    const status = createHostStatus(loadSettings(hostSettings, { argv: [], env: wanted }))
    const store = await openTestStore(t)
    for (const height of [2, 3, 6]) await store.putSealedBlock(opaqueBlock(height))
    status.report({ reader: store.reader })
    return status.state().unready === null
  }
  assert.deepEqual([await readyWith('3'), await readyWith('4')], [true, false])
})

test('signers are shown with what makes them such, others only where anyone is one', () => {
  const status = createHostStatus(loadSettings(hostSettings, { argv: [], env }))
  const listed = { identity: 'listed', source: 'setting', peer: null } as const
  const proven = { identity: 'proven', source: 'bootstrap', peer: 'its peer' } as const
  const unheard = { head: null, heardAt: null, isCounted: false }
  const head = { number: 7, hash: '0x77', nodeHeight: 9 }
  const heard = { head, heardAt: 1_000, isCounted: true }
  const signers = [
    { identity: 'listed', ...unheard },
    { identity: 'proven', ...heard },
    { identity: 'stranger', ...unheard },
  ]
  const waiting = { blocks: 4, bytes: 99 }
  status.onFollow({ ...followState(7, []), signers, waiting, standsStillMs: 1_500 })
  const { gauges } = status
  assert.deepEqual([gauges.signers(), gauges.countedSigners()], [3, 1])
  assert.deepEqual([gauges.waitingBlocks(), gauges.waitingBytes()], [4, 99])
  assert.deepEqual([gauges.standsStillSeconds(), gauges.lag(), gauges.siblings()], [1.5, null, 0])
  assert.equal(status.state().signers, null)

  const sources = () => [listed, proven]
  status.report({ trust: { mode: 'signers', sources, failures: () => [] } })
  const silent = { head: null, node_height: null, last_heard: null, counted: false }
  const both = [
    { ...listed, ...silent },
    {
      ...proven,
      head: { number: 7, hash: '0x77' },
      ...{ node_height: 9, last_heard: '1970-01-01T00:00:01.000Z', counted: true },
    },
  ]
  assert.deepEqual(status.state().signers, both)
  status.report({ trust: { mode: 'anyone', sources, failures: () => [] } })
  const stranger = { identity: 'stranger', source: 'anyone', peer: null, ...silent }
  assert.deepEqual(status.state().signers, [...both, stranger])
})
