import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { createKeyHolders } from '../../../../operator/reconcile/fetch/key-holders.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const hostWith = (name: string, keyringFingerprint: string): Host => ({
  ...minimal,
  metadata: { ...minimal.metadata, namespace: 'apps', name },
  status: { nodes: [{ ordinal: 0, keyringFingerprint }] },
})

test('of two resources with one key the first has it, until it has another or is gone', () => {
  const holders = createKeyHolders(() => [])
  assert.deepEqual(holders.hold('apps/a', ['one', 'two']), [])
  assert.deepEqual(holders.hold('apps/b', ['two', 'three']), [
    { holder: 'apps/a', fingerprint: 'two' },
  ])
  assert.deepEqual(holders.hold('apps/a', ['one', 'two']), [])
  assert.deepEqual(holders.hold('apps/a', ['one']), [])
  assert.deepEqual(holders.hold('apps/b', ['two', 'three']), [])
  holders.release('apps/b')
  assert.deepEqual(holders.hold('apps/a', ['one', 'two', 'three']), [])
})

test('after a restart of the operator a key belongs to the resource that has run with it', () => {
  const holders = createKeyHolders(() => [hostWith('old', 'one')])
  assert.deepEqual(holders.hold('apps/new', ['one']), [{ holder: 'apps/old', fingerprint: 'one' }])
  assert.deepEqual(holders.hold('apps/old', ['one']), [])
})
