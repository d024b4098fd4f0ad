import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import {
  findNamedKeys,
  missingSecretStatement,
} from '../../../../operator/reconcile/fetch/named-secrets.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readGenerator, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type Fault, send, status } from '../../support/kubernetes-server.ts'

const minimal = readGenerator('generator-minimal')
const { namespace } = minimal.metadata
const generator: Generator = {
  ...minimal,
  spec: {
    ...minimal.spec,
    upstream: {
      ...minimal.spec.upstream,
      auth: { header: 'Authorization', secretRef: { name: 'node', key: 'token' } },
    },
    schemaAuth: { keysSecretRef: { name: 'schema', key: 'keys' } },
  },
}
const plainHost = readHost('host-minimal')
const host: Host = {
  ...plainHost,
  spec: { ...plainHost.spec, registry: { adminTokenSecretRef: { name: 'admin', key: 'token' } } },
}
const secrets = `/api/v1/namespaces/${namespace}/secrets`
const secret = (data: Readonly<Record<string, string>>): KubernetesObject => {
  const made: KubernetesObject & { readonly data: object } = { kind: 'Secret', data }
  return made
}
const { signal } = new AbortController()

const room = kubernetesRoom()

test('each missing Secret that the spec names is reported with the command that creates it', async () => {
  const { missing } = await findNamedKeys(room.client.api, generator, signal)
  assert.deepEqual(missingSecretStatement(generator, missing), {
    reason: 'SecretMissing',
    message: `No new pod can start; what runs is left alone. Secret node of spec.upstream.auth.secretRef does not exist: run \`kubectl create secret generic node --namespace ${namespace} --from-file=token=FILE\`. Secret schema of spec.schemaAuth.keysSecretRef does not exist: run \`kubectl create secret generic schema --namespace ${namespace} --from-file=keys=FILE\`.`,
  })
  const found = await findNamedKeys(room.client.api, host, signal)
  const ofHost = missingSecretStatement(host, found.missing)
  assert.match(ofHost?.message ?? '', /Secret admin of spec.registry.adminTokenSecretRef does not/)
})

test('a Secret without the key is reported with the command that adds it, which holds no secret', async () => {
  room.server.put(`${secrets}/node`, secret({ other: 'YQ==' }))
  room.server.put(`${secrets}/schema`, secret({ keys: 'YQ==' }))
  const { missing } = await findNamedKeys(room.client.api, generator, signal)
  assert.deepEqual(missingSecretStatement(generator, missing), {
    reason: 'SecretMissing',
    message: `No new pod can start; what runs is left alone. Secret node of spec.upstream.auth.secretRef lacks the key token: write \`stringData: {"token": VALUE}\` into a FILE and run \`kubectl patch secret node --namespace ${namespace} --patch-file FILE\`.`,
  })
  room.server.put(`${secrets}/node`, secret({ token: 'YQ==' }))
  const found = await findNamedKeys(room.client.api, generator, signal)
  assert.equal(missingSecretStatement(generator, found.missing), null)
  assert.equal(found.values.get('spec.upstream.auth.secretRef'), 'a')
})

test('a Secret that the operator may not read is not called missing', async () => {
  const refuse: Fault = (_, response) => {
    send(response, 403, status(403, 'Forbidden'))
    return true
  }
  room.server.faults.add(refuse)
  assert.deepEqual((await findNamedKeys(room.client.api, host, signal)).missing, [])
})

test('what the API server fails at otherwise is thrown, and no Secret taken to be there', async () => {
  room.server.faults.add((_, response) => {
    send(response, 422, status(422, 'Invalid'))
    return true
  })
  await assert.rejects(findNamedKeys(room.client.api, host, signal), {
    code: 'OPERATOR_API_INVALID',
  })
})
