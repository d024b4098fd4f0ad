import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Host } from '../../../../operator/api.ts'
import { possiblyUnused } from '../../../../operator/reconcile/evaluate/unused-claims.ts'
import { keepClaim, type PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const host: Host = {
  ...minimal,
  metadata: { ...minimal.metadata, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { ...minimal.spec, replicas: 3 },
}
const keyring = {
  createdMs: Date.parse('2026-01-01T00:00:10Z'),
  fingerprints: new Map([[0, 'first']]),
}

interface Given {
  readonly at?: string
  readonly more?: object
}

const keysClaim = (ordinal: number, { at = '00:00:11', more = {} }: Given = {}): PlacedClaim => ({
  volume: 'keys',
  ordinal,
  claim: keepClaim({
    metadata: {
      name: `keys-mainnet-host-${ordinal}`,
      uid: `claim-${ordinal}`,
      // In JSON it is a text, whatever the type says.
      creationTimestamp: `2026-01-01T${at}Z` as unknown as Date,
      ...more,
    },
  }),
})
const found = (
  claims: readonly PlacedClaim[],
  of: Host = host,
  keys: Parameters<typeof possiblyUnused>[2] = keyring,
): number[] => possiblyUnused(of, claims, keys).map(({ ordinal }) => ordinal)

test('claims above the last key that are newer than Secret and Host are taken for unused', () => {
  assert.deepEqual(found([keysClaim(1), keysClaim(2)]), [1, 2])
})

test('a claim as old as the Secret, or older than the Host, may have an identity', () => {
  assert.deepEqual(found([keysClaim(1, { at: '00:00:10' })]), [])
  const later = { ...host.metadata, creationTimestamp: '2026-01-01T00:00:12Z' }
  assert.deepEqual(found([keysClaim(1)], { ...host, metadata: later }), [])
})

test('a marked claim, and one below a key of the Secret or of the status, is left alone', () => {
  const annotations = { 'viewmesh.io/keyring-fingerprint': 'abc' }
  assert.deepEqual(found([keysClaim(1, { more: { annotations } }), keysClaim(2)]), [2])
  const fingerprints = new Map([
    [0, 'first'],
    [2, 'third'],
  ])
  assert.deepEqual(found([keysClaim(1)], host, { ...keyring, fingerprints }), [])
  const status = { nodes: [{ ordinal: 5, keyringFingerprint: 'sixth' }] }
  assert.deepEqual(found([keysClaim(1)], { ...host, status }), [])
})

test('without a Secret, without a key in it, or without times, no claim is taken for unused', () => {
  const claims = [keysClaim(0), keysClaim(1)]
  assert.deepEqual(found(claims, host, { ...keyring, createdMs: null }), [])
  assert.deepEqual(found(claims, host, { ...keyring, fingerprints: new Map() }), [])
  assert.deepEqual(found(claims, { ...host, metadata: minimal.metadata }), [])
  const timeless = keysClaim(1, { more: { creationTimestamp: undefined } })
  assert.deepEqual(found([timeless]), [])
})

test('claims for data, of replicas that are not wanted, or about to go are left alone', () => {
  assert.deepEqual(found([{ ...keysClaim(1), volume: 'data' }]), [])
  assert.deepEqual(found([keysClaim(3)]), [])
  assert.deepEqual(found([keysClaim(1, { more: { deletionTimestamp: 'now' } })]), [])
  const ownerReferences = [{ ...ownerReference(host), uid: 'former' }]
  assert.deepEqual(found([keysClaim(1, { more: { ownerReferences } })]), [])
})

test('whoever takes marks and labels off a claim, it is not taken below or at a recorded key', () => {
  const ordinals = fc.uniqueArray(fc.nat({ max: 8 }))
  fc.assert(
    fc.property(ordinals, ordinals, fc.nat({ max: 8 }), (inSecret, inStatus, ordinal) => {
      const wide = { ...host.spec, replicas: 9 }
      const nodes = inStatus.map((one) => ({ ordinal: one, keyringFingerprint: 'abc' }))
      const fingerprints = new Map(inSecret.map((one) => [one, 'abc']))
      const taken = found(
        [keysClaim(ordinal)],
        { ...host, spec: wide, status: { nodes } },
        { ...keyring, fingerprints },
      )
      const recorded = [...inSecret, ...inStatus]
      const isAbove = recorded.length > 0 && recorded.every((one) => one < ordinal)
      assert.deepEqual(taken, isAbove ? [ordinal] : [])
    }),
  )
})
