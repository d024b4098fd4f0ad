import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { V1PersistentVolumeClaim, V1Secret } from '@kubernetes/client-node'
import type { Host } from '../../../../operator/api.ts'
import { claimName } from '../../../../operator/resources/names/names.ts'
import { secretValue } from '../../../../operator/resources/names/secret.ts'
import { claimApplied, claimTemplates } from '../../../../operator/resources/objects/claims.ts'
import {
  addKeys,
  type KeyringKeys,
  keyringSecret,
} from '../../../../operator/resources/secrets/keyring-secret.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { type Cluster, type ClusterAnswer, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { openTestNamespace } from '../support/test-namespace.ts'

describe('keys and their claims, on a real API server', () => {
  let cluster: Cluster
  let namespace: string
  let close: () => Promise<void>
  let host: Host
  let secrets: string
  let claims: string

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    ;({ cluster, namespace, close } = await openTestNamespace())
    secrets = `/api/v1/namespaces/${namespace}/secrets`
    claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`
    const { metadata, ...rest } = readHost('host-minimal')
    const { name } = metadata
    // A real one: what an owner that does not exist owns is soon deleted.
    const made = await cluster.apply(
      `/apis/viewmesh.io/v1alpha1/namespaces/${namespace}/hosts/${name}`,
      { apiVersion: rest.apiVersion, kind: rest.kind, metadata: { name }, spec: rest.spec },
    )
    host = { ...rest, metadata: { ...metadata, namespace, uid: String(made.metadata?.['uid']) } }
  })
  after(() => close())

  const patchSecret = async (secret: V1Secret, keys: KeyringKeys): Promise<ClusterAnswer> =>
    await cluster.request('PATCH', `${secrets}/mainnet-host-keyring`, {
      body: addKeys(secret, keys),
      type: 'application/json-patch+json',
    })

  test('a keyring is created once, and grows only by keys that were not written meanwhile', async () => {
    const body = keyringSecret(host, new Map([[0, 'first']]))
    const created = await expectStatus(cluster.request('POST', secrets, { body }), 201)
    const again = await cluster.request('POST', secrets, { body })
    assert.deepEqual([again.status, again.body.reason], [409, 'AlreadyExists'])

    const read = created.body as V1Secret
    const grown = await expectStatus(patchSecret(read, new Map([[1, 'second']])), 200)
    const late = await patchSecret(read, new Map([[1, 'other']]))
    assert.deepEqual([late.status, late.body.reason], [422, 'Invalid'])
    assert.deepEqual(
      late.body.details,
      {},
      'which is how an outdated patch is distinguished from a wrong one',
    )
    assert.deepEqual(
      ['0', '1'].map((ordinal) => secretValue(grown.body as V1Secret, ordinal)),
      ['first', 'second'],
    )
  })

  test('a claim takes an owner and loses it again; a later claim of its name takes nothing', async () => {
    const [template = {}] = claimTemplates(host)
    const name = claimName(host, 'keys', 0)
    const body = { ...template, metadata: { ...template.metadata, name } }
    const created = await expectStatus(cluster.request('POST', claims, { body }), 201)
    const uid = String(created.body.metadata?.['uid'])
    const facts = { uid, size: '1Gi', keyringFingerprint: '201d9061e22ceb80', start: null }
    const apply = async (policy: 'Retain' | 'Delete', given = facts): Promise<ClusterAnswer> => {
      const spec = { ...host.spec, identity: { deletionPolicy: policy } }
      return await cluster.request('PATCH', `${claims}/${name}`, {
        body: claimApplied({ ...host, spec }, 'keys', 0, given),
        query: { fieldManager: 'viewmesh-operator', force: 'true', fieldValidation: 'Strict' },
        type: 'application/apply-patch+yaml',
      })
    }
    const owners = async (answer: Promise<ClusterAnswer>): Promise<number> => {
      const { body: claim } = await expectStatus(answer, 200)
      return ((claim as V1PersistentVolumeClaim).metadata?.ownerReferences ?? []).length
    }
    assert.equal(await owners(apply('Delete')), 1)
    assert.equal(await owners(apply('Retain')), 0)

    const other = await apply('Retain', { ...facts, uid: '00000000-0000-4000-8000-000000000002' })
    assert.deepEqual([other.status, other.body.reason], [422, 'Invalid'])
  })

  test('no claim is made where there is none', async () => {
    const facts = { uid: '00000000-0000-4000-8000-000000000002', size: '1Gi' }
    const body = claimApplied(host, 'data', 7, { ...facts, keyringFingerprint: null, start: null })
    const { status } = await cluster.request('PATCH', `${claims}/${claimName(host, 'data', 7)}`, {
      body,
      query: { fieldManager: 'viewmesh-operator', force: 'true' },
      type: 'application/apply-patch+yaml',
    })
    assert.equal(status, 409)
  })
})
