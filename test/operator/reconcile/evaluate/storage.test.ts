import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import {
  chainProblem,
  growing,
  keptSizes,
  needsLargerTemplates,
  type StorageStatement,
  sizeOf,
  storageStatement,
  type Views,
} from '../../../../operator/reconcile/evaluate/storage.ts'
import {
  type KeptClaim,
  keepClaim,
  type PlacedClaim,
} from '../../../../operator/reconcile/observe/claim.ts'
import { parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import type { Volume } from '../../../../operator/resources/names/names.ts'
import { claimTemplates } from '../../../../operator/resources/objects/claims.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { emptyState } from '../../support/operator-findings.ts'

const host = readHost('host-minimal')
const kept = keepClaim({
  metadata: { name: 'data-mainnet-host-0', uid: 'one' },
  spec: { resources: { requests: { storage: '100Gi' } } },
  status: { phase: 'Bound', capacity: { storage: '100Gi' } },
})

const placed = (volume: Volume, given: Partial<KeptClaim> = {}): PlacedClaim => ({
  volume,
  ordinal: 0,
  claim: { ...kept, name: `${volume}-mainnet-host-0`, ...given },
})
const keys = placed('keys', { requested: '1Gi', capacity: '1Gi' })
const larger = {
  ...host,
  spec: {
    ...host.spec,
    storage: { ...host.spec.storage, data: { ...host.spec.storage.data, size: '200Gi' } },
  },
}

/** What is reported of these claims; without more, every replica says at `/health` that all is well. */
function reported(
  of: Host,
  claims: readonly PlacedClaim[],
  views: Views = saying([]),
  refused: StorageStatement | null = null,
): StorageStatement {
  return storageStatement(of, { ...emptyState, claims, views }, refused)
}

/** What replica 0 says at `/health`. */
function saying(errors: readonly object[], peer: string | null = 'me'): Views {
  const self = peer === null ? {} : { self: { id: peer } }
  return new Map([[0, parseHealth(JSON.stringify({ program: 'host', p2p: self, errors }))]])
}

test('bound claims of the wanted size are ready', () => {
  assert.equal(reported(host, [keys, placed('data')]).reason, 'Bound')
  assert.equal(reported(host, [keys, placed('data')], new Map()).reason, 'Bound')
})

test('unbound claims are named with their class and a command that says why, missing ones apart', () => {
  const isBound = false
  const data = placed('data', { isBound, storageClassName: 'fast' })
  const why = (claims: string): string =>
    `Where that stays so, kubectl describe pvc ${claims} --namespace apps says why.`
  assert.deepEqual(reported(host, [data]), {
    reason: 'Pending',
    message: `Not bound: data-mainnet-host-0 of class fast. ${why('data-mainnet-host-0')} Not made yet: keys-mainnet-host-0.`,
  })
  const second = { ...data, ordinal: 1, claim: { ...data.claim, name: 'data-mainnet-host-1' } }
  const two = { ...host, spec: { ...host.spec, replicas: 2 } }
  const claims = [placed('keys', { isBound }), data, second]
  const { message } = reported(two, claims)
  assert.ok(
    message.startsWith(
      `Not bound: keys-mainnet-host-0 of no class, data-mainnet-host-0 of class fast, data-mainnet-host-1 of class fast. ${why('keys-mainnet-host-0 data-mainnet-host-0')}`,
    ),
    message,
  )
})

test('no pods need no volumes', () => {
  const none = { ...host, spec: { ...host.spec, replicas: 0 } }
  assert.equal(reported(none, []).reason, 'NotNeeded')
})

test('growing asks on the claims first, and recreates the StatefulSet when all have asked', () => {
  const templates = claimTemplates(host)
  const before = [keys, placed('data')]
  assert.deepEqual(growing(larger, before), [placed('data')])
  assert.equal(sizeOf(larger, placed('data')), '200Gi')
  assert.equal(needsLargerTemplates(larger, templates, before), false)

  const asked = [keys, placed('data', { requested: '200Gi' })]
  assert.deepEqual(growing(larger, asked), [])
  assert.equal(needsLargerTemplates(larger, templates, asked), true)
  assert.equal(reported(larger, asked).reason, 'Expanding')

  const grown = [keys, placed('data', { requested: '200Gi', capacity: '200Gi' })]
  assert.equal(needsLargerTemplates(larger, claimTemplates(larger), grown), false)
  assert.equal(reported(larger, grown).reason, 'Bound')
})

/** A claim for blocks that has said for so long that its file system waits for a start of the pod. */
const waitingFor = (minutes: number): PlacedClaim =>
  placed('data', { requested: '200Gi', startWantedMs: emptyState.observedMs - minutes * 60_000 })

test('a file system that waits for a start of the pod is reported as such after three minutes', () => {
  assert.deepEqual(reported(larger, [keys, waitingFor(2.9)]), {
    reason: 'Expanding',
    message: 'Being made larger: data-mainnet-host-0 (100Gi).',
  })
  assert.deepEqual(reported(larger, [keys, waitingFor(3)]), {
    reason: 'FileSystemResizePending',
    message:
      'The file system grows when the pod is next started: data-mainnet-host-0 (100Gi). Set spec.storage.restartToResize to have the operator replace such pods, or the annotation viewmesh.io/roll-at to any new value to replace all pods now.',
  })
})

test('a volume that still grows is distinguished from one that waits for a start of its pod', () => {
  const both = { ...larger.spec.storage, keys: { size: '2Gi' }, restartToResize: true }
  const of = { ...larger, spec: { ...larger.spec, storage: both } }
  assert.deepEqual(reported(of, [keys, waitingFor(3)]), {
    reason: 'FileSystemResizePending',
    message:
      'The file system grows when the pod is next started: data-mainnet-host-0 (100Gi). The operator replaces such pods: first those that are not ready, then one at a time, while all others are ready. Of data-mainnet-host-0 the pod was made since: where that stays so, see the events of the claim. Being made larger: keys-mainnet-host-0 (1Gi).',
  })
})

const filling = { code: 'STORE_NEARLY_FULL', message: 'The volume is nearly full: 1 of 20 bytes.' }

test('a volume with little room left is named, with what to do, once nothing else is to be said', () => {
  const bound = [keys, placed('data')]
  const views = saying([filling])
  assert.deepEqual(reported(host, bound, views), {
    reason: 'NearlyFull',
    message:
      'Little room is left: data-mainnet-host-0. Make spec.storage.data.size larger where the StorageClass allows it, or lower spec.pruning.maxBlocks, with which the stores grow no further.',
  })
  assert.equal(reported(larger, bound, views).reason, 'Expanding')
  assert.equal(reported(host, [keys, placed('data', { isBound: false })], views).reason, 'Pending')
  const refused = { reason: 'ExpansionUnsupported', message: 'no' } as const
  assert.equal(reported(larger, bound, views, refused), refused)
})

test('where nothing is pruned, pruning is what would help', () => {
  const pruning = { ...host.spec.pruning, enabled: false }
  const of = { ...host, spec: { ...host.spec, pruning } }
  const { message } = reported(of, [keys, placed('data')], saying([filling]))
  assert.equal(
    message,
    'Little room is left: data-mainnet-host-0. Make spec.storage.data.size larger where the StorageClass allows it, or set spec.pruning.enabled with spec.pruning.maxBlocks below the number of blocks that are stored, with which the stores grow no further.',
  )
})

test('it is said for as long as the replica cannot be asked, and not once it has room again', () => {
  const message = 'Little room is left: data-mainnet-host-0.'
  const said = { type: 'StorageReady', status: 'False', reason: 'NearlyFull', message } as const
  const condition = { ...said, observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' }
  const before: Host = { ...host, status: { conditions: [condition] } }
  const reasonOf = (views: Views): string => reported(before, [keys, placed('data')], views).reason
  assert.equal(reasonOf(new Map()), 'NearlyFull')
  assert.equal(reasonOf(new Map([[0, undefined]])), 'NearlyFull')
  assert.equal(reasonOf(new Map([[0, null]])), 'NearlyFull')
  assert.equal(reasonOf(saying([], null)), 'NearlyFull')
  assert.equal(reasonOf(saying([])), 'Bound')
  const two: Host = { ...before, spec: { ...before.spec, replicas: 2 } }
  const claims = [0, 1].flatMap((ordinal) =>
    [keys, placed('data')].map(({ volume, claim }) => {
      const name = `${volume}-mainnet-host-${ordinal}`
      return { volume, ordinal, claim: { ...claim, name } }
    }),
  )
  assert.equal(reported(two, claims).reason, 'NearlyFull', 'one of them was not asked')
  assert.equal(reasonOf(saying([{ code: 'HOST_FORK_TOO_DEEP', message: 'no' }])), 'Bound')
})

test('what the storage refuses is repeated, be it of the array or of the file system', () => {
  for (const failed of ['ControllerResizeError', 'NodeResizeError']) {
    const refused = placed('data', {
      requested: '200Gi',
      conditions: { [failed]: 'no space on the array' },
    })
    assert.deepEqual(reported(larger, [keys, refused]), {
      reason: 'ExpansionFailed',
      message:
        'Claim data-mainnet-host-0 cannot grow to 200Gi: no space on the array. Free or add storage; the storage’s own log may say more.',
    })
  }
})

test('a size that the storage cannot have is reported also where it says no more', () => {
  const asked = (resizeStatus: string): StorageStatement =>
    reported(larger, [keys, placed('data', { requested: '200Gi', resizeStatus })])
  assert.deepEqual(asked('ControllerResizeInfeasible'), {
    reason: 'ExpansionFailed',
    message:
      'Claim data-mainnet-host-0 cannot grow to 200Gi: ControllerResizeInfeasible. Free or add storage; the storage’s own log may say more.',
  })
  assert.equal(asked('ControllerResizeInProgress').reason, 'Expanding')
})

test('volumes of each wanted replica are named that have little room left, and of no other one', () => {
  const two = { ...host, spec: { ...host.spec, replicas: 2 } }
  const bound = [0, 1].flatMap((ordinal) =>
    [keys, placed('data')].map(({ volume, claim }) => ({
      ...{ volume, ordinal },
      claim: { ...claim, name: `${volume}-mainnet-host-${ordinal}` },
    })),
  )
  const says = (errors: readonly object[]) => saying(errors).get(0)
  const views: Views = new Map([0, 1, 2].map((ordinal) => [ordinal, says([filling])]))
  assert.match(
    reported(two, bound, views).message,
    /^Little room is left: data-mainnet-host-0, data-mainnet-host-1\. /,
  )
  const removed: Views = new Map([0, 1, 2].map((each) => [each, says(each < 2 ? [] : [filling])]))
  assert.equal(reported(two, bound, removed).reason, 'Bound')
})

test('a claim template of another volume, or without a size, has no say or is too small', () => {
  const asked = [keys, placed('data', { requested: '100Gi' })]
  const templates = claimTemplates(host)
  const foreign = { metadata: { name: 'cache' }, spec: {} }
  assert.equal(needsLargerTemplates(host, [...templates, foreign], asked), false)
  assert.equal(needsLargerTemplates(host, [{ metadata: { name: 'data' } }], asked), true)
})

test('a claim never asks for less than it has', () => {
  assert.equal(sizeOf(host, placed('data', { requested: '500Gi' })), '500Gi')
})

test('status keeps the sizes that claims ask for, which the spec may go back to', () => {
  const second = { ...placed('data', { requested: '150Gi' }), ordinal: 1 }
  assert.deepEqual(keptSizes(larger, [keys, placed('data'), second]), {
    keys: '1Gi',
    data: '150Gi',
  })
  const reported = { ...larger, status: { storage: { data: '100Gi' } } }
  assert.deepEqual(keptSizes(reported, []), { data: '100Gi' })
  assert.deepEqual(keptSizes(larger, []), {})
})

test('a claim of another chain is named, and what to do about it', () => {
  const foreign = placed('data', { annotations: { 'viewmesh.io/network': 'Ethereum__Sepolia' } })
  assert.deepEqual(chainProblem(host, [keys, foreign]), {
    reason: 'ChainMismatch',
    message:
      'Host mainnet is for Ethereum__Mainnet, but these claims hold another chain: data-mainnet-host-0 (Ethereum__Sepolia). Delete them (their content is then gone), or create the Host under another name. No pod is touched meanwhile.',
  })
  const own = placed('data', { annotations: { 'viewmesh.io/network': 'Ethereum__Mainnet' } })
  assert.equal(chainProblem(host, [keys, own]), null)
})
