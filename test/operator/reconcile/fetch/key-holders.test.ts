import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import {
  createKeyHolders,
  type HeldKey,
  logHolders,
} from '../../../../operator/reconcile/fetch/key-holders.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const hostWith = (name: string, keyringFingerprint: string): Host => ({
  ...minimal,
  metadata: { ...minimal.metadata, namespace: 'apps', name },
  status: { nodes: [{ ordinal: 0, keyringFingerprint }] },
})

const said = (...fingerprints: readonly string[]): HeldKey[] =>
  fingerprints.map((fingerprint) => ({ fingerprint, isShown: false }))
const shown = (fingerprint: string): HeldKey[] => [{ fingerprint, isShown: true }]

test('of two resources with one key the first has it, until it has another or is gone', () => {
  const holders = createKeyHolders(() => [])
  assert.deepEqual(holders.hold('apps/a', said('one', 'two')), [])
  assert.deepEqual(holders.hold('apps/b', said('two', 'three')), [
    { holder: 'apps/a', fingerprint: 'two' },
  ])
  assert.deepEqual(holders.hold('apps/a', said('one', 'two')), [])
  assert.deepEqual(holders.hold('apps/a', said('one')), [])
  assert.deepEqual(holders.hold('apps/b', said('two', 'three')), [])
  holders.release('apps/b')
  assert.deepEqual(holders.hold('apps/a', said('one', 'two', 'three')), [])
})

test('after a restart of the operator a key belongs to the resource that has run with it', () => {
  const holders = createKeyHolders(() => [hostWith('old', 'one')])
  assert.deepEqual(holders.hold('apps/new', said('one')), [
    { holder: 'apps/old', fingerprint: 'one' },
  ])
  assert.deepEqual(holders.hold('apps/old', said('one')), [])
})

test('a key that a status remembers is free once its resource has another', () => {
  const holders = createKeyHolders(() => [hostWith('old', 'one')])
  assert.deepEqual(holders.hold('apps/old', said('two')), [])
  assert.deepEqual(holders.hold('apps/new', said('one')), [])
})

test('a key that is only said gives way to one that is shown, and one that was shown does not', () => {
  const holders = createKeyHolders(() => [hostWith('a-thief', 'one'), hostWith('victim', 'one')])
  const byVictim = [{ holder: 'apps/victim', fingerprint: 'one' }]
  assert.deepEqual(holders.hold('apps/a-thief', said('one')), [])
  assert.deepEqual(holders.hold('apps/victim', shown('one')), [])
  assert.deepEqual(holders.hold('apps/a-thief', said('one')), byVictim)
  assert.deepEqual(holders.hold('apps/victim', said('one')), [])
  assert.deepEqual(holders.hold('apps/copy', shown('one')), byVictim)
  holders.release('apps/a-thief')
  assert.deepEqual(holders.hold('apps/copy', shown('one')), byVictim)
  holders.release('apps/victim')
  assert.deepEqual(holders.hold('apps/copy', shown('one')), [])
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
