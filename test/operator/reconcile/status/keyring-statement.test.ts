import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { keyringStatement } from '../../../../operator/reconcile/status/keyring-statement.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)
const hostWith = (more: Partial<Host['spec']>): Host => ({
  ...host,
  spec: { ...host.spec, ...more },
})
const own = hostWith({ identity: { ...host.spec.identity, secretRef: { name: 'mine' } } })

for (const [state, resting] of [
  ['is suspended', { suspend: true }],
  ['has no replicas', { replicas: 0 }],
] as const) {
  test(`no keyring is made for a new Host that ${state}, nor is one said to be`, async () => {
    const idle = hostWith(resting)
    await room.put(idle)
    await room.reconcile(idle)
    assert.deepEqual(
      room.writes().filter((write) => write.includes('keyring')),
      [],
    )
    const { status, reason } = room.condition(host, 'IdentityReady') ?? {}
    assert.deepEqual([status, reason], ['True', 'NotNeeded'])
    assert.equal(room.events.join('\n').includes('Keyring'), false)
    await room.edit<Host>('Host', 'mainnet', (live) =>
      Object.assign(live, { spec: { ...host.spec, replicas: 1 } }),
    )
    await room.reconcile(host)
    assert.ok(room.writes().includes('POST secrets mainnet-host-keyring'))
    assert.equal(room.condition(host, 'IdentityReady')?.reason, 'KeyringGenerated')
    assert.equal(room.events.filter((event) => event.startsWith('KeyringGenerated ')).length, 1)
  })
}

test('of a keyring no pod needs now the keys that it has are named, and no others', () => {
  const two = { fingerprints: new Map([1, 0].map((ordinal) => [ordinal, 'abc'])) }
  const idle = { suspend: true, replicas: 3 }
  const messageOf = (of: Host): string => keyringStatement(of, two).message
  assert.equal(
    messageOf(hostWith(idle)),
    'Secret mainnet-host-keyring has keys "0", "1": keep a copy of it.',
  )
  assert.equal(
    messageOf({ ...own, spec: { ...own.spec, ...idle } }),
    'Secret mine has keys "0", "1".',
  )
  const one = { fingerprints: new Map([[1, 'abc']]) }
  assert.match(keyringStatement(hostWith(idle), one).message, /^Secret \S+ has key "1": keep/)
})

test('a Secret of identity.secretRef that nobody needs yet is not said to be there', () => {
  const none = { fingerprints: new Map<number, string>() }
  const idle = { ...own, spec: { ...own.spec, suspend: true } }
  assert.equal(keyringStatement(idle, none).reason, 'NotNeeded')
})
