import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { createKeyHolders, logHolders } from '../../../../operator/reconcile/fetch/key-holders.ts'
import { captureLog } from '../../../support/captured-log.ts'
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

test('the log names the holders once each time they are others', () => {
  const { log, lines } = captureLog()
  const memory = { keyHolders: '' }
  const one = { holder: 'shop/one', fingerprint: 'one' }
  const two = { holder: 'apps/two', fingerprint: 'two' }
  for (const shared of [[], [one], [one], [one, two], [], [one]]) logHolders(memory, shared, log)
  assert.deepEqual(
    lines.map(({ msg, holders }) => [msg, holders]),
    [['shop/one'], ['apps/two', 'shop/one'], ['shop/one']].map((holders) => [
      'other resources have a keyring key of this one',
      holders,
    ]),
  )
})
