import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  readSecret,
  readSecretValue,
  secretDrift,
} from '../../../../operator/reconcile/fetch/secrets.ts'
import { childMetadata } from '../../../../operator/resources/names/metadata.ts'
import { opaqueSecret } from '../../../../operator/resources/names/secret.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const place = { namespace, name: 'some' }
const path = `/api/v1/namespaces/${namespace}/secrets/some`
const { signal } = new AbortController()
const room = kubernetesRoom()

/** Has the API server refuse everything so. */
function refuse(code: number, reason: string): void {
  room.server.faults.clear()
  room.server.faults.add((_, response) => {
    send(response, code, status(code, reason))
    return true
  })
}

test('of a Secret that is missing, lacks the key or may not be read there is no value', async () => {
  const read = async (key: string): Promise<string | null> =>
    await readSecretValue(room.client.api, { ...place, key }, signal)
  assert.equal(await read('token'), null)
  room.server.put(path, { data: { token: btoa('a'), empty: '' } } as never)
  assert.deepEqual(await Promise.all(['token', 'empty', 'other'].map(read)), ['a', null, null])
  refuse(403, 'Forbidden')
  assert.equal(await read('token'), null)
})

test('what the API server fails at otherwise is not taken for a Secret that is missing', async () => {
  refuse(422, 'Invalid')
  await assert.rejects(readSecret(room.client.api, place, signal), { code: 'OPERATOR_API_INVALID' })
})

test('of a Secret it is said where it differs, unless it goes or belongs to something else', async () => {
  const wanted = opaqueSecret(childMetadata(host, 'some'), { token: 'a' })
  const drifts = async (live: object): Promise<unknown> => {
    room.server.put(path, { ...wanted, ...live } as never)
    const found = await secretDrift(room.client.api, host, wanted, signal)
    return found?.map((one) => one.path)
  }
  assert.equal(await secretDrift(room.client.api, host, wanted, signal), null)
  assert.deepEqual(await drifts({}), [])
  assert.deepEqual(await drifts({ data: { token: btoa('b') } }), ['data.token'])
  const going = { ...wanted.metadata, deletionTimestamp: '2026-01-01T12:00:00Z' }
  await assert.rejects(drifts({ metadata: going }), {
    code: 'OPERATOR_TERMINATING',
    message: /^Secret some of a deleted resource is still there/,
  })
  await assert.rejects(drifts({ metadata: { name: 'some', namespace } }), {
    code: 'OPERATOR_NAME_TAKEN',
    message: /^Secret some belongs to something else/,
  })
})
