import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { V1Service } from '@kubernetes/client-node'
import type { Colocation, Upstream } from '../../../../operator/api/generator-spec.ts'
import type { Generator } from '../../../../operator/api.ts'
import {
  apartRemark,
  executionNodeOf,
  findUpstream,
  homelessStatement,
  type UpstreamFacts,
} from '../../../../operator/reconcile/fetch/upstream.ts'
import type { ExecutionNode } from '../../../../operator/resources/pod/context.ts'
import {
  discoveredAnnotations,
  readDiscovered,
} from '../../../../operator/resources/pod/discovered.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readGenerator } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'

const room = kubernetesRoom()
const minimal = readGenerator('generator-minimal')
const reading = (upstream: Upstream): Generator => ({
  ...minimal,
  spec: { ...minimal.spec, upstream },
})
const service = (name: string): Upstream => ({
  service: { name, namespace: 'nodes', httpPort: 8545, colocate: 'Preferred' },
})
const geth = executionNodeOf(
  reading(service('geth')),
  { spec: { selector: { app: 'geth' } } },
  null,
)

const unknown: UpstreamFacts = {
  executionNode: null,
  missingService: null,
  hiddenService: null,
  closedService: null,
}

test('pods behind a Service are remembered together with its name', () => {
  assert.deepEqual(geth, { namespace: 'nodes', labels: { app: 'geth' }, service: 'nodes/geth' })
  const { executionNode } = readDiscovered(discoveredAnnotations({ executionNode: geth }))
  assert.deepEqual(executionNode, geth)
})

test('a Service beside the Generator needs no consent, and is reported where it does not exist', async () => {
  const { namespace } = minimal.metadata
  const beside = reading({ service: { name: 'geth', httpPort: 8545, colocate: 'Preferred' } })
  const find = async (): Promise<UpstreamFacts> => {
    const { signal } = new AbortController()
    const recorded = readDiscovered(undefined)
    return await findUpstream(beside, { api: room.client.api, recorded, signal })
  }
  const name = `${namespace}/geth`
  assert.deepEqual(await find(), { ...unknown, missingService: name })
  const object: V1Service = { spec: { selector: { app: 'geth' } } }
  room.server.put(`/api/v1/namespaces/${namespace}/services/geth`, object as KubernetesObject)
  const executionNode = { namespace, labels: { app: 'geth' }, service: name }
  assert.deepEqual(await find(), { ...unknown, executionNode })
})

test('a Service that names no pods for a while keeps those it named', () => {
  assert.deepEqual(executionNodeOf(reading(service('geth')), null, geth), geth)
  assert.deepEqual(executionNodeOf(reading(service('geth')), { spec: {} }, geth), geth)
})

test('pods of one Service are never taken for those of another, of a URL or of a selector', () => {
  const url = reading({ url: { http: ['http://node:8545'] } })
  assert.equal(executionNodeOf(url, null, geth), null)
  assert.equal(executionNodeOf(reading(service('other')), { spec: {} }, geth), null)
  assert.equal(executionNodeOf(reading(service('other')), null, geth), null)
  const forged = { namespace: 'other', labels: { app: 'geth' }, service: 'nodes/geth' }
  assert.equal(executionNodeOf(reading(service('geth')), null, forged), null)
  const labels = { app: 'anvil' }
  const selected = reading({
    podSelector: { matchLabels: labels, httpPort: 8545, colocate: 'None' },
  })
  assert.deepEqual(executionNodeOf(selected, null, geth), {
    namespace: minimal.metadata.namespace,
    labels,
  })
})

test('a Generator that must run beside unknown pods waits, and says what to change', () => {
  const required = reading({
    service: { name: 'geth', namespace: 'nodes', httpPort: 8545, colocate: 'Required' },
  })
  assert.deepEqual(homelessStatement(required, unknown), {
    reason: 'ExecutionNodeUnknown',
    message:
      'spec.upstream.service.colocate is Required, and Service nodes/geth has no selector that says which pods the execution node is: give it one, name the pods in spec.upstream.podSelector, or set colocate to Preferred.',
  })
  assert.equal(homelessStatement(required, { ...unknown, executionNode: geth }), null)
  assert.equal(homelessStatement(reading(service('geth')), unknown), null)
})

test('pods in the network of their machines are known as such, also while none is there', async () => {
  const { signal } = new AbortController()
  const generator = reading({
    podSelector: { matchLabels: { app: 'geth' }, httpPort: 8545, colocate: 'None' },
  })
  const { namespace } = generator.metadata
  const path = `/api/v1/namespaces/${namespace}/pods/geth-0`
  const plain = { namespace, labels: { app: 'geth' } }
  const find = async (before: UpstreamFacts['executionNode']): Promise<unknown> => {
    const recorded = { ...readDiscovered(undefined), executionNode: before }
    return (await findUpstream(generator, { api: room.client.api, recorded, signal })).executionNode
  }
  assert.deepEqual(await find(null), plain)
  const pod: KubernetesObject & { readonly spec: object } = {
    kind: 'Pod',
    metadata: { labels: { app: 'geth' } },
    spec: { hostNetwork: true },
  }
  room.server.put(path, pod)
  const found = { ...plain, isHostNetwork: true }
  assert.deepEqual(await find(null), found)
  const asked = room.server.requests.at(-1)?.query['labelSelector']
  assert.equal(asked, 'app=geth')
  const { executionNode } = readDiscovered(discoveredAnnotations({ executionNode: found }))
  assert.deepEqual(executionNode, found)
  room.server.put(path, { ...pod, spec: { hostNetwork: false } } as KubernetesObject)
  assert.deepEqual(await find(found), plain)
  room.server.remove(path)
  assert.deepEqual(await find(found), found)
  assert.deepEqual(await find({ ...found, labels: { app: 'besu' } }), plain)
  assert.deepEqual(await find({ ...found, service: 'nodes/geth' }), plain)
})

test('pods that may not be read may be in the network of machines, other failures are thrown', async () => {
  const podSelector = { matchLabels: { app: 'geth' }, httpPort: 8545, colocate: 'None' } as const
  const find = async (code: number, reason: string): Promise<unknown> => {
    room.server.faults.clear()
    room.server.faults.add((_, response) => {
      send(response, code, status(code, reason))
      return true
    })
    const parts = { api: room.client.api, recorded: readDiscovered(undefined) }
    const { signal } = new AbortController()
    const found = await findUpstream(reading({ podSelector }), { ...parts, signal })
    return found.executionNode?.isHostNetwork
  }
  assert.equal(await find(403, 'Forbidden'), true)
  await assert.rejects(find(422, 'Invalid'), { code: 'OPERATOR_API_INVALID' })
})

test('a Service that the operator may not read holds up nothing, and is reported with the remedy', async () => {
  const generator = reading(service('geth'))
  const { signal } = new AbortController()
  const find = async (executionNode: ExecutionNode | null = null): Promise<UpstreamFacts> => {
    const recorded = { ...readDiscovered(undefined), executionNode }
    return await findUpstream(generator, { api: room.client.api, recorded, signal })
  }
  room.server.faults.add((_, response) => {
    send(response, 403, status(403, 'Forbidden'))
    return true
  })
  const hidden = await find()
  assert.deepEqual(hidden, { ...unknown, hiddenService: 'nodes/geth' })
  assert.deepEqual(await find(geth), {
    ...hidden,
    executionNode: { ...geth, isHostNetwork: true },
  })
  assert.ok(room.server.requests.every(({ path }) => path.endsWith('/services/geth')))
  room.server.faults.clear()
  room.server.faults.add((_, response) => {
    send(response, 422, status(422, 'Invalid'))
    return true
  })
  await assert.rejects(find(), { code: 'OPERATOR_API_INVALID' })
  assert.equal(
    apartRemark(generator, hidden),
    "The Generator is not kept near its execution node, since the operator may not read Service nodes/geth: add its namespace to the operator's (scope.namespaces of its chart).",
  )
  assert.equal(apartRemark(generator, { ...hidden, executionNode: geth }), null)
  assert.equal(apartRemark(generator, unknown), null)
})

describe('an execution node of another namespace', () => {
  const { namespace } = minimal.metadata
  const find = async (generator: Generator, before = readDiscovered(undefined).executionNode) => {
    const recorded = { ...readDiscovered(undefined), executionNode: before }
    const { signal } = new AbortController()
    return await findUpstream(generator, { api: room.client.api, recorded, signal })
  }
  const put = (allowed?: string): void => {
    const annotations = allowed === undefined ? {} : { 'viewmesh.io/allowed-namespaces': allowed }
    const object: V1Service = { metadata: { annotations }, spec: { selector: { app: 'geth' } } }
    room.server.put('/api/v1/namespaces/nodes/services/geth', object as KubernetesObject)
  }
  const podQueries = (): number =>
    room.server.requests.filter(({ path }) => path === '/api/v1/namespaces/nodes/pods').length

  test('is not read without consent, and does not show whether there is one', async () => {
    const closed = { ...unknown, closedService: 'nodes/geth' }
    assert.deepEqual(await find(reading(service('geth'))), closed)
    for (const allowed of [undefined, '', 'shop', `${namespace}s`, `not${namespace}`]) {
      put(allowed)
      assert.deepEqual(await find(reading(service('geth'))), closed, allowed)
    }
    assert.equal(podQueries(), 0)
  })

  test('is known where its Service names the namespace of the Generator', async () => {
    put(`shop, ${namespace}`)
    assert.deepEqual(await find(reading(service('geth'))), { ...unknown, executionNode: geth })
    assert.equal(podQueries(), 1)
  })

  test('stays what a pod was made with when the consent goes, and no policy relies on it', async () => {
    put()
    const { executionNode } = await find(reading(service('geth')), geth)
    assert.deepEqual(executionNode, { ...geth, isHostNetwork: true })
    assert.equal(podQueries(), 0)
  })

  test('that does not consent is reported with the remedy, and holds up what must be near it', () => {
    const facts = { ...unknown, closedService: 'nodes/geth' }
    const reason =
      'Service nodes/geth is in another namespace, and does not exist or does not allow this one to know its pods: have its owner name validators in its annotation viewmesh.io/allowed-namespaces'
    assert.equal(
      apartRemark(reading(service('geth')), facts),
      `The Generator is not kept near its execution node, since ${reason}.`,
    )
    const { service: near } = service('geth')
    const colocated = (colocate: Colocation): Generator =>
      reading({ service: { name: 'geth', httpPort: 8545, ...near, colocate } })
    assert.equal(apartRemark(colocated('None'), facts), null)
    assert.deepEqual(homelessStatement(colocated('Required'), facts), {
      reason: 'ExecutionNodeUnknown',
      message: `spec.upstream.service.colocate is Required, and ${reason}, or set colocate to None.`,
    })
    assert.equal(homelessStatement(colocated('Preferred'), facts), null)
  })
})
