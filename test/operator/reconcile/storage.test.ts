import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeptClaim, keepClaim, type PlacedClaim } from '../../../operator/reconcile/claim.ts'
import {
  chainProblem,
  growing,
  keptSizes,
  needsLargerTemplates,
  sizeOf,
  storageStatement,
} from '../../../operator/reconcile/storage.ts'
import { claimTemplates } from '../../../operator/resources/claims.ts'
import type { Volume } from '../../../operator/resources/names.ts'
import { readHost } from '../../support/operator-cases.ts'

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

test('bound claims of the wanted size are ready', () => {
  assert.equal(storageStatement(host, [keys, placed('data')], null).reason, 'Bound')
})

test('claims that are not bound are named, and apart from them those that are not there', () => {
  assert.deepEqual(storageStatement(host, [placed('data', { isBound: false })], null), {
    reason: 'Pending',
    message: 'Not bound: data-mainnet-host-0. Not made yet: keys-mainnet-host-0.',
  })
})

test('no pods need no volumes', () => {
  const none = { ...host, spec: { ...host.spec, replicas: 0 } }
  assert.equal(storageStatement(none, [], null).reason, 'NotNeeded')
})

test('growing asks on the claim first, and makes the StatefulSet anew when all have asked', () => {
  const templates = claimTemplates(host)
  const before = [keys, placed('data')]
  assert.deepEqual(growing(larger, before), [placed('data')])
  assert.equal(sizeOf(larger, placed('data')), '200Gi')
  assert.equal(needsLargerTemplates(larger, templates, before), false)

  const asked = [keys, placed('data', { requested: '200Gi' })]
  assert.deepEqual(growing(larger, asked), [])
  assert.equal(needsLargerTemplates(larger, templates, asked), true)
  assert.equal(storageStatement(larger, asked, null).reason, 'Expanding')

  const grown = [keys, placed('data', { requested: '200Gi', capacity: '200Gi' })]
  assert.equal(needsLargerTemplates(larger, claimTemplates(larger), grown), false)
  assert.equal(storageStatement(larger, grown, null).reason, 'Bound')
})

test('a file system that grows at the next start of the pod is told as such', () => {
  const waiting = placed('data', {
    requested: '200Gi',
    conditions: { FileSystemResizePending: 'waiting for the pod' },
  })
  assert.equal(storageStatement(larger, [keys, waiting], null).reason, 'FileSystemResizePending')
})

test('what the storage refuses is repeated', () => {
  const refused = placed('data', {
    requested: '200Gi',
    conditions: { ControllerResizeError: 'no space on the array' },
  })
  assert.deepEqual(storageStatement(larger, [keys, refused], null), {
    reason: 'ExpansionFailed',
    message:
      'Claim data-mainnet-host-0 cannot grow to 200Gi: no space on the array. Free or add storage; the storage’s own log may say more.',
  })
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
  const told = { ...larger, status: { storage: { data: '100Gi' } } }
  assert.deepEqual(keptSizes(told, []), { data: '100Gi' })
  assert.deepEqual(keptSizes(larger, []), {})
})

test('a claim of another chain is named, and what to do about it', () => {
  const foreign = placed('data', { annotations: { 'viewmesh.io/network': 'Ethereum__Sepolia' } })
  assert.deepEqual(chainProblem(host, [keys, foreign]), {
    reason: 'ChainMismatch',
    message:
      'Host mainnet is for Ethereum__Mainnet, but these claims hold another chain: data-mainnet-host-0 (Ethereum__Sepolia). Delete them (their content is then gone), or create the Host under another name. No pod is touched meanwhile.',
  })
  assert.equal(chainProblem(host, [keys, placed('data')]), null)
})
