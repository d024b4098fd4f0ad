import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packObject, unpackObject } from '../../../../operator/reconcile/observe/packed-object.ts'

const object = (name: string, more: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { name, namespace: 'apps', ...more },
  data: { text: 'größer '.repeat(1_000) },
})

test('an object is unpacked as it was packed, without its status, and takes a tenth', () => {
  const given = object('a')
  const packed = packObject({ ...given, status: { replicas: 7 } })
  assert.deepEqual(unpackObject(packed), given)
  assert.ok(packed.packed.length * 10 < JSON.stringify(given).length)
})

test('of a packed object it is known who owns it, and whether it is being deleted', () => {
  const owner = { apiVersion: 'v1', kind: 'Host', name: 'a', uid: 'the owner' }
  const going = { ownerReferences: [owner], deletionTimestamp: '2026-01-01T00:00:00Z' }
  const { ownerUIDs, isTerminating } = packObject(object('a', going))
  assert.deepEqual([ownerUIDs, isTerminating], [['the owner'], true])
  const plain = packObject(object('a'))
  assert.deepEqual([plain.ownerUIDs, plain.isTerminating], [[], false])
})

test('of objects that were read the last 32 are kept unpacked', () => {
  const [first, ...others] = Array.from({ length: 33 }, (_, at) => packObject(object(`${at}`)))
  assert.ok(first)
  const before = unpackObject(first)
  for (const other of others.slice(1)) unpackObject(other)
  assert.equal(unpackObject(first), before)
  unpackObject(others[0] ?? assert.fail())
  assert.equal(unpackObject(first), before, 'it was read later than others')
  for (const other of others) unpackObject(other)
  const again = unpackObject(first)
  assert.notEqual(again, before)
  assert.deepEqual(again, before)
})
