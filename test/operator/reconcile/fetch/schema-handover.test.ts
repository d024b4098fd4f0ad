/** A schema key that is renewed: what the Generator accepts and what Hosts are handed, until it is over. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Generator } from '../../../../operator/api.ts'
import { nextHandedKey } from '../../../../operator/reconcile/fetch/schema-handover.ts'
import { findSchemaKeys } from '../../../../operator/reconcile/fetch/schema-keys.ts'
import { secretValue } from '../../../../operator/resources/names/secret.ts'
import { generatorConnectionSecret } from '../../../../operator/resources/secrets/connection-secret.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { readGenerator } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { emptyState } from '../../support/operator-findings.ts'

const room = kubernetesRoom()
const generator = readGenerator('generator-minimal')
const { namespace } = generator.metadata
const secretPath = (name: string): string =>
  `/api/v1/namespaces/${namespace}/secrets/mainnet-generator-${name}`
const noonMs = Date.parse('2026-01-01T12:00:00Z')
const atMinute = (minute: number): Date => new Date(noonMs + minute * 60_000)

interface Seen {
  /** In the order of the Secret that the pod mounts. */
  readonly accepted: readonly string[]
  readonly handed: string
}

/** What is found at this minute, and then written; `own` are keys of the user's own. */
async function reconcile(minute: number, of: Generator = generator, own?: string): Promise<Seen> {
  const found = await findSchemaKeys(of, {
    api: room.client.api,
    recorded: emptyState.recordedDiscovered,
    named: new Map(own === undefined ? [] : [['spec.schemaAuth.keysSecretRef', own]]),
    hadPods: true,
    now: () => atMinute(minute),
    signal: new AbortController().signal,
  })
  const facts = { clusterDomain: 'cluster.local', peers: [] }
  const connection = generatorConnectionSecret(of, facts, found.handed)
  for (const secret of [found.made, connection]) {
    if (secret !== null) await room.client.api.apply(builtinTypes.Secret, secret)
  }
  const written = room.server.get(secretPath('schema-keys')) as { data?: Record<string, string> }
  const keys = own ?? secretValue(written ?? {}, 'keys') ?? ''
  return { accepted: keys.split(','), handed: found.handed.key }
}

describe('a generated schema key whose Secret was deleted', () => {
  test('is accepted beside the new one, and handed out until the Generator has that', async () => {
    const { handed: old } = await reconcile(-60)
    room.server.remove(secretPath('schema-keys'))
    const { accepted, handed } = await reconcile(0)
    const [renewed = ''] = accepted
    assert.notEqual(renewed, old)
    assert.deepEqual({ accepted, handed }, { accepted: [renewed, old], handed: old })
    assert.deepEqual(await reconcile(4.9), { accepted: [renewed, old], handed: old })
    assert.deepEqual(await reconcile(5), { accepted: [renewed, old], handed: renewed })
    assert.deepEqual(await reconcile(59.9), { accepted: [renewed, old], handed: renewed })
    assert.deepEqual(await reconcile(60), { accepted: [renewed], handed: renewed })
    assert.deepEqual(await reconcile(61), { accepted: [renewed], handed: renewed })
  })

  test('at each moment what is handed out is accepted, however often it is renewed', async () => {
    await reconcile(-60)
    for (const minute of [0, 2, 7, 8, 30, 100]) {
      room.server.remove(secretPath('schema-keys'))
      for (const later of [0, 1, 5]) {
        const { accepted, handed } = await reconcile(minute + later / 10)
        assert.ok(accepted.includes(handed), `${minute} ${later}`)
      }
    }
  })

  test('takes no key along that a user added to the Secret when its time is over', async () => {
    const { handed: old } = await reconcile(-60)
    room.server.remove(secretPath('schema-keys'))
    const [renewed = ''] = (await reconcile(0)).accepted
    const live = room.server.get(secretPath('schema-keys')) as { data: Record<string, string> }
    const data = { ...live.data, keys: btoa(`${renewed},${old},added`) }
    room.server.put(secretPath('schema-keys'), { ...live, data } as never)
    assert.deepEqual((await reconcile(60)).accepted, [renewed, 'added'])
  })

  test('stays where it is all that is left, and while the Generator is paused', async () => {
    const { handed: old } = await reconcile(-60)
    room.server.remove(secretPath('schema-keys'))
    const { accepted } = await reconcile(0)
    const paused = { ...generator, spec: { ...generator.spec, paused: true } }
    assert.deepEqual((await reconcile(90, paused)).accepted, accepted)
    const live = room.server.get(secretPath('schema-keys')) as { data: Record<string, string> }
    const data = { ...live.data, keys: btoa(old) }
    room.server.put(secretPath('schema-keys'), { ...live, data } as never)
    assert.deepEqual((await reconcile(91)).accepted, [old])
  })
})

test("a key of the user's own is handed out when the Generator has had time to see it", async () => {
  const keysSecretRef = { name: 'mine', key: 'keys' }
  const own = { ...generator, spec: { ...generator.spec, schemaAuth: { keysSecretRef } } }
  const handedAt = async (minute: number, keys: string): Promise<string> =>
    (await reconcile(minute, own, keys)).handed
  assert.equal(await handedAt(-60, 'one'), 'one')
  assert.equal(await handedAt(0, 'two, one'), 'one')
  assert.equal(await handedAt(4.9, 'two, one'), 'one')
  assert.equal(await handedAt(5, 'two, one'), 'two')
  assert.equal(await handedAt(5.1, 'three, two'), 'two')
  assert.equal(await handedAt(10.1, 'three, two'), 'three')
  assert.equal(await handedAt(10.2, ''), '')
  assert.equal(await handedAt(10.3, 'four'), 'four')
  assert.equal(await handedAt(200, 'five, four'), 'four')
})

test('a key that the Generator does not take is not handed out a moment longer', () => {
  const next = nextHandedKey('two,one', { key: 'edited', waits: '' }, atMinute(0))
  assert.deepEqual(next, { key: 'two', waits: '' })
  const never = nextHandedKey('two,one', { key: 'edited', waits: null }, atMinute(0))
  assert.deepEqual(never, { key: 'two', waits: null }, 'none has ever waited')
})

test('a key that came back before it was replaced does not shorten the wait of the next one', () => {
  const waiting = nextHandedKey('two,one', { key: 'one', waits: null }, atMinute(0))
  assert.deepEqual(waiting, { key: 'one', waits: atMinute(0).toISOString() })
  const back = nextHandedKey('one,two', waiting, atMinute(1))
  assert.deepEqual(back, { key: 'one', waits: '' })
  const again = nextHandedKey('three,one', back, atMinute(20))
  assert.deepEqual(again, { key: 'one', waits: atMinute(20).toISOString() })
})

test('a wait that begins in the future or over a day ago, or says no time, begins now', () => {
  for (const waits of [atMinute(99).toISOString(), atMinute(-1_440.1).toISOString(), 'soon', '']) {
    const next = nextHandedKey('two,one', { key: 'one', waits }, atMinute(0))
    assert.deepEqual(next, { key: 'one', waits: atMinute(0).toISOString() })
  }
  const dayAgo = { key: 'one', waits: atMinute(-1_440).toISOString() }
  assert.deepEqual(nextHandedKey('two,one', dayAgo, atMinute(0)), { key: 'two', waits: '' })
})

test('a connection Secret of somebody else hands out nothing', async () => {
  const foreign = { metadata: { labels: {} }, data: { 'schema-key': btoa('theirs') } }
  room.server.put(secretPath('connection'), foreign as never)
  const { accepted, handed } = await findAndKeep()
  assert.deepEqual(accepted, [handed])
})

/** What is found where nothing is written. */
async function findAndKeep(): Promise<Seen> {
  const { keys, handed } = await findSchemaKeys(generator, {
    api: room.client.api,
    recorded: emptyState.recordedDiscovered,
    named: new Map(),
    hadPods: true,
    now: () => atMinute(0),
    signal: new AbortController().signal,
  })
  return { accepted: keys.split(','), handed: handed.key }
}
