/** What is read of a keyring Secret, and which keys are made. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Secret } from '@kubernetes/client-node'
import type { Host } from '../../../../operator/api.ts'
import {
  type FingerprintCache,
  generateKeys,
  type Keyring,
  knownOrdinals,
  readKeyring,
} from '../../../../operator/reconcile/fetch/keyring.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { secretValue } from '../../../../operator/resources/names/secret.ts'
import {
  keyringFingerprint,
  keyringSecret,
} from '../../../../operator/resources/secrets/keyring-secret.ts'
import { hasCode } from '../../../../operator/runtime/client/api-error.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'

const host = readHost('host-minimal')
const path = '/api/v1/namespaces/apps/secrets/mainnet-host-keyring'
const { signal } = new AbortController()
const key = (letter: string): string => letter.repeat(43)
const room = kubernetesRoom()

/** Puts the Secret there with these keys. */
function put(keys: Readonly<Record<string, string>>, metadata: object = {}): void {
  const secret = keyringSecret(host, new Map())
  const data = Object.entries(keys).map(([name, value]) => [name, Buffer.from(value)] as const)
  const encoded = data.map(([name, bytes]) => [name, bytes.toString('base64')])
  const live = {
    ...secret,
    metadata: { ...secret.metadata, ...metadata },
    data: Object.fromEntries(encoded),
  }
  room.server.put(path, live as unknown as KubernetesObject)
}

const read = async (cache: FingerprintCache = new Map()): Promise<Keyring> =>
  await readKeyring(room.client.api, host, cache, signal)
const generate = async (exists: boolean, ordinals: readonly number[]): Promise<Keyring> =>
  await generateKeys(room.client.api, host, { exists, ordinals }, new Map(), signal)

/** The keys that the Secret has now. */
function keysNow(): Map<string, string> {
  const secret = (room.server.get(path) ?? {}) as V1Secret
  return new Map(
    Object.keys(secret.data ?? {}).map((name) => [name, secretValue(secret, name) ?? '']),
  )
}

test('a keyring that is not there has no keys', async () => {
  const none = { exists: false, fingerprints: new Map(), isOwned: false, createdMs: null }
  assert.deepEqual(await read(), none)
})

test('of a keyring the fingerprints of its keys are known, by ordinals as Kubernetes writes them', async () => {
  const creationTimestamp = '2026-01-01T00:00:00Z'
  const others = { '01': key('c'), '100': key('d'), x: key('e'), '1x': key('f'), '2': '' }
  put({ 0: key('a'), 10: key('b'), ...others }, { creationTimestamp })
  assert.deepEqual(await read(), {
    exists: true,
    fingerprints: new Map([
      [0, await keyringFingerprint(key('a'))],
      [10, await keyringFingerprint(key('b'))],
    ]),
    isOwned: false,
    createdMs: Date.parse(creationTimestamp),
  })
  put({}, { ownerReferences: [ownerReference(host)] })
  assert.equal((await read()).isOwned, true)
})

test('fingerprints are computed once for each version of a Secret', async () => {
  const cache: FingerprintCache = new Map()
  put({ 0: key('a') })
  const { fingerprints } = await read(cache)
  assert.equal((await read(cache)).fingerprints, fingerprints)
  put({ 0: key('b') })
  assert.equal((await read(cache)).fingerprints.get(0), await keyringFingerprint(key('b')))
})

test('the cache of fingerprints begins again once it has 4,096 of them', async () => {
  const filled = (size: number): FingerprintCache =>
    new Map(Array.from({ length: size }, (_, index) => [`${index}`, new Map()]))
  put({ 0: key('a') })
  const [full, nearly] = [filled(4_096), filled(4_095)]
  await read(full)
  await read(nearly)
  assert.deepEqual([full.size, nearly.size], [1, 4_096])
})

test('a Secret that is not there is made with a random key for each replica', async () => {
  const { exists, fingerprints } = await generate(false, [0, 1])
  const keys = keysNow()
  assert.equal(exists, true)
  assert.deepEqual([...keys.keys()], ['0', '1'])
  for (const [name, value] of keys) {
    assert.match(value, /^[A-Za-z0-9_-]{43}$/)
    assert.equal(fingerprints.get(Number(name)), await keyringFingerprint(value))
  }
  assert.equal(new Set(keys.values()).size, 2)
  await assert.rejects(generate(false, [0]), (error) => hasCode(error, 'OPERATOR_API_EXISTS'))
  assert.deepEqual(keysNow(), keys)
})

test('a key that is there is never made again, and one that is missing is added', async () => {
  put({ 0: key('a') })
  await generate(true, [0])
  assert.deepEqual(keysNow(), new Map([['0', key('a')]]))
  assert.ok(room.server.requests.every(({ method }) => method === 'GET'))
  const { fingerprints } = await generate(true, [0, 1])
  const keys = keysNow()
  assert.deepEqual([...keys.keys()], ['0', '1'])
  assert.equal(keys.get('0'), key('a'))
  assert.equal(fingerprints.get(1), await keyringFingerprint(keys.get('1') ?? ''))
})

test('a Secret that went after it was read is made, with the keys that are asked for', async () => {
  await generate(true, [1])
  assert.deepEqual([...keysNow().keys()], ['1'])
})

test('replicas that a resource had are those whose key its status remembers', () => {
  const nodes = [{ ordinal: 0 }, { ordinal: 2, keyringFingerprint: 'abc' }]
  const before: Host = { ...host, status: { nodes } }
  assert.deepEqual(knownOrdinals(before), [2])
  assert.deepEqual(knownOrdinals({ ...host, status: {} }), [])
})

test('a keyring that goes is waited for, but by a resource that had its keys', async () => {
  put({ 0: key('a') }, { deletionTimestamp: '2026-01-01T00:00:00Z' })
  await assert.rejects(read(), { code: 'OPERATOR_TERMINATING' })
  const status = { nodes: [{ ordinal: 0, keyringFingerprint: 'abc' }] }
  const before = await readKeyring(room.client.api, { ...host, status }, new Map(), signal)
  assert.equal(before.exists, true)
})

test('a keyring of a deleted resource of the same name is waited for by any', async () => {
  const status = { nodes: [{ ordinal: 0, keyringFingerprint: 'abc' }] }
  put({ 0: key('a') }, { ownerReferences: [{ ...ownerReference(host), uid: 'former' }] })
  for (const each of [host, { ...host, status }])
    await assert.rejects(readKeyring(room.client.api, each, new Map(), signal), {
      code: 'OPERATOR_TERMINATING',
    })
})
