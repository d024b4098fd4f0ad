/** What a Host says of itself, from parts that open and close while it starts and runs. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FollowState } from '../../src/host/apply/outcome.ts'
import { hostSettings } from '../../src/host/config.ts'
import { createHostStatus, type HostStatusReporter } from '../../src/host/status.ts'
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
      peers: () => [{ ...peer, announced: null, lastAnnouncement, score: 0 }],
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
  assert.equal((await besideReplica(t, 64)).status.state().unready?.reason, 'behind-sibling')
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
