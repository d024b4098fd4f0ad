import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimApplied, claimTemplates } from '../../../../operator/resources/objects/claims.ts'
import { readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const facts = { uid: 'u1', size: '200Gi', keyringFingerprint: null, start: null }

test('claim templates hold nothing but the size that could ever change', () => {
  const other = { ...host, spec: { ...host.spec, replicas: 9, paused: true, podTemplate: {} } }
  assert.deepEqual(claimTemplates(other), claimTemplates(host))
})

test('a claim is labelled, records its chain and its keyring, and has no owner', () => {
  assert.deepEqual(claimApplied(host, 'keys', 1, { ...facts, keyringFingerprint: 'ab' }), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'keys-mainnet-host-1',
      namespace: 'apps',
      uid: 'u1',
      labels: {
        'app.kubernetes.io/name': 'host',
        'app.kubernetes.io/instance': 'mainnet',
        'viewmesh.io/holds': 'keys',
      },
      annotations: {
        'viewmesh.io/network': 'Ethereum__Mainnet',
        'viewmesh.io/keyring-fingerprint': 'ab',
      },
    },
    spec: { resources: { requests: { storage: '200Gi' } } },
  })
})

test('a claim of data records where its store began, once that is known', () => {
  const recordsOf = (start: string | null): object | undefined =>
    claimApplied(host, 'data', 0, { ...facts, start }).metadata?.annotations
  const chain = { 'viewmesh.io/network': 'Ethereum__Mainnet' }
  assert.deepEqual(recordsOf(null), chain)
  assert.deepEqual(recordsOf('100'), { ...chain, 'viewmesh.io/start': '100' })
})

test('exactly the claim that may go with the resource has it as its owner', () => {
  const owners = (name: string): (number | undefined)[] =>
    (['keys', 'data'] as const).map((volume) => {
      const claim = claimApplied(readGenerator(name), volume, 0, facts)
      return claim.metadata?.ownerReferences?.length
    })
  assert.deepEqual(owners('generator-minimal'), [undefined, undefined])
  assert.deepEqual(owners('generator-full'), [1, 1])
  const keysOnly = { ...host.spec, identity: { deletionPolicy: 'Delete' as const } }
  const claim = claimApplied({ ...host, spec: keysOnly }, 'data', 0, facts)
  assert.equal(claim.metadata?.ownerReferences, undefined)
})
