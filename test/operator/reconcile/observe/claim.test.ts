/** What is kept of a claim, of which Kubernetes and others may say much more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import {
  isLasting,
  keepClaim,
  keysClaim,
  needsStart,
} from '../../../../operator/reconcile/observe/claim.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const at = (text: string): Date => text as unknown as Date

test('a claim is kept with its marks, its sizes and what is True of it, and nothing else', () => {
  const own = {
    'app.kubernetes.io/name': 'host',
    'app.kubernetes.io/instance': 'mainnet',
    'viewmesh.io/holds': 'keys',
  }
  const marks = {
    'viewmesh.io/keyring-fingerprint': 'abc',
    'viewmesh.io/network': 'Ethereum__Mainnet',
    'viewmesh.io/start': '7',
  }
  const claim: V1PersistentVolumeClaim = {
    metadata: {
      name: 'keys-mainnet-host-0',
      uid: 'claim',
      creationTimestamp: at('2026-01-01T00:00:00Z'),
      deletionTimestamp: at('2026-01-02T00:00:00Z'),
      labels: { ...own, team: 'a' },
      annotations: { ...marks, 'volume.kubernetes.io/selected-node': 'one' },
      ownerReferences: [{ ...ownerReference(host), controller: true }],
    },
    spec: {
      storageClassName: 'fast',
      volumeName: 'pv-1',
      resources: { requests: { storage: '2Gi' } },
    },
    status: {
      phase: 'Bound',
      capacity: { storage: '1Gi' },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      conditions: [
        { type: 'Resizing', status: 'False', message: 'over' },
        { type: 'NodeResizeError', status: 'True' },
        {
          type: 'FileSystemResizePending',
          status: 'True',
          message: 'waiting',
          lastTransitionTime: at('2026-01-01T00:10:00Z'),
        },
      ],
    },
  }
  assert.deepEqual(keepClaim(claim), {
    name: 'keys-mainnet-host-0',
    uid: 'claim',
    createdMs: Date.parse('2026-01-01T00:00:00Z'),
    labels: own,
    annotations: marks,
    owners: [ownerReference(host)],
    isTerminating: true,
    isBound: true,
    storageClassName: 'fast',
    volumeName: 'pv-1',
    requested: '2Gi',
    capacity: '1Gi',
    conditions: { NodeResizeError: '', FileSystemResizePending: 'waiting' },
    startWantedMs: Date.parse('2026-01-01T00:10:00Z'),
    resizeStatus: 'NodeResizePending',
  })
})

test('a claim of which nothing is known yet is neither bound nor being deleted', () => {
  const empty = {
    name: '',
    uid: '',
    createdMs: null,
    labels: {},
    annotations: {},
    owners: [],
    isTerminating: false,
    isBound: false,
    storageClassName: null,
    volumeName: null,
    requested: '0',
    capacity: null,
    conditions: {},
    startWantedMs: null,
    resizeStatus: null,
  }
  assert.deepEqual(keepClaim({}), empty)
  const pending = { spec: { volumeName: '' }, status: { phase: 'Pending' } }
  assert.deepEqual(keepClaim(pending), empty)
})

test('a start is needed once the claim has said so for three minutes, for as long as it does', () => {
  const conditionIs = (status: string) => {
    const lastTransitionTime = new Date(60_000)
    const conditions = [{ type: 'FileSystemResizePending', status, lastTransitionTime }]
    return keepClaim({ status: { conditions } })
  }
  assert.equal(needsStart(conditionIs('True'), 239_999), false)
  assert.equal(needsStart(conditionIs('True'), 240_000), true)
  assert.equal(needsStart(conditionIs('False'), 240_000), false)
  assert.equal(needsStart(keepClaim({}), 240_000), false)
})

test('of a keys claim it is known with which key its directory opens, as soon as it is marked', () => {
  const annotations = { 'viewmesh.io/keyring-fingerprint': 'abc' }
  const marked = keepClaim({ metadata: { uid: 'claim', annotations }, spec: { volumeName: 'pv' } })
  const known = { uid: 'claim', fingerprint: 'abc', isTerminating: false, volumeName: 'pv' }
  assert.deepEqual(keysClaim(marked), known)
  assert.equal(keysClaim({ ...marked, annotations: {} }).fingerprint, null)
})

test('a claim lasts unless it is being deleted, or goes with a deleted resource of the name', () => {
  const claim = keepClaim({})
  const former = { ...ownerReference(host), uid: 'former' }
  assert.equal(isLasting(host, claim), true)
  assert.equal(isLasting(host, { ...claim, owners: [ownerReference(host)] }), true)
  assert.equal(isLasting(host, { ...claim, owners: [former] }), false)
  assert.equal(isLasting(host, { ...claim, isTerminating: true }), false)
})
