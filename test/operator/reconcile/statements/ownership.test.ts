import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isOfFormer,
  isOwnedBy,
  ownership,
  ownersOf,
} from '../../../../operator/reconcile/statements/ownership.ts'
import { childLabels, ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const own = ownerReference(host)
const former = { ...own, uid: 'former' }
const others = [
  { ...former, apiVersion: 'apps/v1' },
  { ...former, kind: 'Generator' },
  { ...former, name: 'another' },
]
const marks = childLabels(host)

test('an object is of the resource that controls it, whatever its labels are', () => {
  const controller = true
  const ownerReferences = [{ ...own, controller }]
  assert.equal(ownership(host, { metadata: { ownerReferences } }), 'ours')
  const ofFormer = { ownerReferences: [{ ...former, controller }], labels: marks }
  assert.equal(ownership(host, { metadata: ofFormer }), 'terminating')
  for (const other of others) {
    const metadata = { ownerReferences: [{ ...other, controller }], labels: marks }
    assert.equal(ownership(host, { metadata }), 'foreign')
  }
  const going = { ownerReferences, deletionTimestamp: '2026-01-01T00:00:00Z' }
  assert.equal(ownership(host, { metadata: going }), 'terminating')
})

test('an object that nobody controls is an orphan where it has all labels, and foreign where not', () => {
  const ownerReferences = [{ ...own, controller: false }]
  assert.equal(ownership(host, { metadata: { ownerReferences, labels: marks } }), 'orphan')
  assert.equal(ownership(host, {}), 'foreign')
  const names = ['name', 'instance', 'managed-by'].map((name) => `app.kubernetes.io/${name}`)
  for (const name of names) {
    const labels = { ...marks, [name]: 'another' }
    assert.equal(ownership(host, { metadata: { labels } }), 'foreign', name)
  }
})

test('an object goes with any of its owners, and with a former namesake only where with no other', () => {
  const owners = ownersOf({ ownerReferences: [{ ...former, blockOwnerDeletion: true }] })
  const { apiVersion, kind, name, uid } = former
  assert.deepEqual(owners, [{ apiVersion, kind, name, uid }])
  assert.deepEqual(ownersOf(undefined), [])
  assert.deepEqual([isOwnedBy(host, owners), isOfFormer(host, owners)], [false, true])
  assert.equal(isOfFormer(host, [...owners, ...others]), true)
  const both = [...owners, own]
  assert.deepEqual([isOwnedBy(host, both), isOfFormer(host, both)], [true, false])
  assert.deepEqual([isOwnedBy(host, others), isOfFormer(host, others)], [false, false])
})
