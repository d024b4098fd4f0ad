import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { V1ConfigMap, V1StatefulSet } from '@kubernetes/client-node'
import { Registry } from 'prom-client'
import { openReflector, type Reflector } from '../../../../operator/runtime/cache/reflector.ts'
import { writeThrough } from '../../../../operator/runtime/cache/write-through.ts'
import { type KubernetesApi, openApi } from '../../../../operator/runtime/client/api.ts'
import { openConnection } from '../../../../operator/runtime/client/connection.ts'
import { createFence } from '../../../../operator/runtime/client/fence.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { type Elector, openElector } from '../../../../operator/runtime/elector.ts'
import { openEventRecorder } from '../../../../operator/runtime/event-recorder.ts'
import { openRuntimeMetrics } from '../../../../operator/runtime/metrics.ts'
import { createStatusWriter } from '../../../../operator/runtime/status-writer.ts'
import type { ServiceError } from '../../../../src/errors.ts'
import { captureLog } from '../../../support/captured-log.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { eventually } from '../support/cluster-resources.ts'
import { openTestNamespace } from '../support/test-namespace.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const { ConfigMap, Event, Lease, StatefulSet } = builtinTypes
const generators = { apiVersion: 'viewmesh.io/v1alpha1', kind: 'Generator', plural: 'generators' }

describe('the runtime of the operator, on a real API server', () => {
  const { log } = captureLog()
  let cluster: Cluster
  let namespace: string
  let close: () => Promise<void>
  let api: KubernetesApi
  let reflectors: Reflector<unknown>[]
  const registry = new Registry()
  const metrics = openRuntimeMetrics(registry)

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    ;({ cluster, namespace, close } = await openTestNamespace())
    reflectors = []
    api = await openOwnApi()
  })
  after(async () => {
    for (const reflector of reflectors) await reflector.close()
    await api.close()
    await close()
  })

  async function openOwnApi(fieldManager = 'runtime-test'): Promise<KubernetesApi> {
    const connection = await openConnection({
      kubeconfig: process.env['KUBECONFIG'] ?? '',
      serviceHost: null,
      servicePort: null,
      serviceAccount: '/nonexistent',
    })
    const guards = [writeThrough(() => reflectors)]
    return openApi(
      { fieldManager, userAgent: 'runtime-test' },
      { connection, log, metrics, guards },
    )
  }

  function configMap(name: string, value: string, labels = {}): V1ConfigMap {
    return { metadata: { name, namespace, labels }, data: { value } }
  }

  function addressOf(name: string) {
    return { type: ConfigMap, namespace, name }
  }

  function follow(labelSelector: string, pageSize = 2): Reflector<string> {
    const reflector = openReflector<V1ConfigMap & KubernetesObject, string>(
      {
        type: ConfigMap,
        namespace,
        labelSelector,
        pageSize,
        keep: ({ data }) => data?.['value'] ?? '',
      },
      { api, log, metrics },
    )
    reflectors.push(reflector)
    return reflector
  }

  function changed(reflector: Reflector<string>, name: string): Promise<string | null> {
    return new Promise((resolve) => {
      const end = reflector.onChange(({ key, after: found }) => {
        if (key !== `${namespace}/${name}`) return
        end()
        resolve(found?.value ?? null)
      })
    })
  }

  test('a reflector lists page by page, follows changes and knows our own writes at once', async () => {
    const labels = { follow: 'yes' }
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await api.create(ConfigMap, configMap(name, name, labels))
    await api.create(ConfigMap, configMap('other', 'other'))
    const reflector = follow('follow in (yes),follow')
    await reflector.initialized(soon())
    const values = [...reflector.list()].map(({ value }) => value)
    assert.deepEqual(values.toSorted(), ['a', 'b', 'c', 'd', 'e'])

    const reported = changed(reflector, 'b')
    await cluster.request('PATCH', `/api/v1/namespaces/${namespace}/configmaps/b`, {
      body: { data: { value: 'theirs' } },
      type: 'application/merge-patch+json',
    })
    assert.equal(await reported, 'theirs')

    await api.apply(ConfigMap, configMap('c', 'ours', labels))
    assert.equal(reflector.get(namespace, 'c')?.value, 'ours')
    await api.delete(addressOf('d'))
    assert.equal(reflector.get(namespace, 'd'), undefined)
    const gone = changed(reflector, 'e')
    await cluster.request('DELETE', `/api/v1/namespaces/${namespace}/configmaps/e`)
    assert.equal(await gone, null)
  })

  test('a watch from a time that is forgotten says so', async () => {
    const watch = api.watch(
      { type: ConfigMap, namespace },
      { resourceVersion: '1', seconds: 30, silenceMs: 30_000 },
    )
    await assert.rejects(watch[Symbol.asyncIterator]().next(), { code: 'OPERATOR_API_EXPIRED' })
  })

  test('an apply reports whose fields it takes, and refuses unknown fields', async () => {
    await api.create(ConfigMap, configMap('contested', 'first'))
    const other = await openOwnApi('another-manager')
    const reported: string[] = []
    const onConflict = (conflict: string): void => void reported.push(conflict)
    const applied = await other.apply(ConfigMap, configMap('contested', 'second'), { onConflict })
    assert.equal(applied.data?.['value'], 'second')
    assert.match(reported.join(), /409 .*conflict with "runtime-test".*: \.data\.value/)

    const dry = await other.dryRunApply(ConfigMap, configMap('contested', 'third'))
    assert.equal(dry.data?.['value'], 'third')
    assert.equal((await other.find<V1ConfigMap>(addressOf('contested')))?.data?.['value'], 'second')
    const odd = { ...configMap('contested', 'x'), unknown: true }
    await assert.rejects(other.apply(ConfigMap, odd), /unknown|declared/)
    await other.close()
  })

  test('stale writes and writes to a later object of the name are refused', async () => {
    const first = await api.create(ConfigMap, configMap('versioned', '1'))
    await api.replace(ConfigMap, { ...first, data: { value: '2' } })
    const stale = api.replace(ConfigMap, { ...first, data: { value: '3' } })
    await assert.rejects(stale, { code: 'OPERATOR_API_CONFLICT' })
    const address = addressOf('versioned')
    await assert.rejects(api.delete(address, { uid: 'another' }), { code: 'OPERATOR_API_CONFLICT' })
    await assert.rejects(api.create(ConfigMap, configMap('versioned', '')), {
      code: 'OPERATOR_API_EXISTS',
    })
    const uid = first.metadata?.uid
    const merged = await api.patch<V1ConfigMap>(address, { data: { more: 'x' } }, { type: 'merge' })
    assert.deepEqual(merged.data, { value: '2', more: 'x' })
    assert.equal(await api.delete(address, { uid }), true)
    assert.equal(await api.find(address), null)
  })

  test('a set is scaled, and deleted so that what it owns stays', async () => {
    const labels = { app: 'none' }
    const set: V1StatefulSet = {
      metadata: { name: 'set', namespace },
      spec: {
        serviceName: 'set',
        replicas: 0,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'none', image: 'localhost/none:none' }] },
        },
      },
    }
    const created = await api.apply(StatefulSet, set)
    const address = { type: StatefulSet, namespace, name: 'set' }
    const scale = { spec: { replicas: 1 } }
    await api.patch(address, scale, { type: 'merge' })
    const pods = { type: builtinTypes.Pod, namespace, labelSelector: 'app=none' }
    const names = async (): Promise<readonly (string | undefined)[]> =>
      (await api.list(pods, { keep: ({ metadata }) => metadata?.name })).items
    await eventually(async () => assert.equal((await names()).length, 1))
    await api.delete(address, { uid: created.metadata?.uid, propagation: 'Orphan' })
    await eventually(async () => assert.equal(await api.find(address), null))
    assert.deepEqual(await names(), ['set-0'])
  })

  test('what happens again and again is one Event with a count, as kubectl shows it', async () => {
    const object = await api.create(ConfigMap, configMap('eventful', ''))
    const recorder = openEventRecorder(
      { controller: 'viewmesh.io/operator', instance: 'runtime-test' },
      { api, log },
    )
    const occurrence = { type: 'Warning', reason: 'Tested', action: 'Test', note: 'again' } as const
    for (let count = 0; count < 3; count += 1) recorder.record(ConfigMap, object, occurrence)
    await recorder.close()
    const { items } = await api.list<KubernetesObject, KubernetesObject & { series?: object }>(
      { type: Event, namespace, fieldSelector: 'reason=Tested' },
      { keep: (event) => event },
    )
    assert.deepEqual(
      items.map(({ series }) => Reflect.get(series ?? {}, 'count')),
      [3],
    )
    const shown = await cluster.kubectl(['-n', namespace, 'describe', 'configmap', 'eventful'])
    assert.match(shown.stdout, /Warning +Tested +.*x3 over.*again/)
  })

  test('a status that says what is there already is not written again', async () => {
    const spec = { upstream: { url: { http: ['http://node:8545'] } } }
    await api.create(generators, {
      metadata: { name: 'stated', namespace },
      spec,
    } as KubernetesObject)
    const address = { type: generators, namespace, name: 'stated' }
    const writer = createStatusWriter({ fieldManager: 'runtime-test-status' }, { api })
    const wanted = {
      conditions: [{ type: 'Ready', status: 'False', reason: 'Pending', message: 'not yet' }],
      facts: { pods: '0/1' },
      figures: { head: 7 },
    } as const
    const live = (await api.find(address)) ?? {}
    assert.deepEqual(await writer.write(generators, live, wanted), { written: true })
    const after = (await api.find(address)) ?? {}
    assert.deepEqual(await writer.write(generators, after, wanted), { written: false })
  })

  test('what was found about a resource is not said of the next one of its name', async () => {
    const spec = { upstream: { url: { http: ['http://node:8545'] } } }
    const resource = { metadata: { name: 'made-again', namespace }, spec } as KubernetesObject
    const address = { type: generators, namespace, name: 'made-again' }
    const writer = createStatusWriter({ fieldManager: 'runtime-test-status' }, { api })
    const wanted = { conditions: [], facts: { pods: '1/1' }, figures: {} }
    const first = await api.create(generators, resource)
    await api.delete(address)
    const second = await api.create(generators, resource)
    const outdated = await writer.write(generators, first, wanted)
    assert.deepEqual(outdated, { written: false, requeueAfterMs: 1_000 })
    const untold = await api.find<KubernetesObject & { status?: object }>(address)
    assert.deepEqual(untold?.status, { observedGeneration: -1 })
    assert.deepEqual(await writer.write(generators, second, wanted), { written: true })
  })

  test('an elector leads once the Lease is released, and reports when it is taken away', async () => {
    const compete = (identity: string): { elector: Elector; lost: Promise<ServiceError> } => {
      const lost = Promise.withResolvers<ServiceError>()
      const times = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 100 }
      const options = { namespace, name: 'tested', identity, ...times }
      const onLost = lost.resolve
      const elector = openElector(options, { api, fence: createFence(), log, metrics, onLost })
      return { elector, lost: lost.promise }
    }
    const first = compete('first')
    await first.elector.elected(soon())
    const second = compete('second')
    await first.elector.close()
    await second.elector.elected(soon())
    const address = { type: Lease, namespace, name: 'tested' }
    const lease = await api.find<KubernetesObject & { spec?: object }>(address)
    assert.equal(Reflect.get(lease?.spec ?? {}, 'holderIdentity'), 'second')
    await api.patch(address, { spec: { holderIdentity: 'thief' } }, { type: 'merge' })
    assert.equal((await second.lost).code, 'OPERATOR_LEADERSHIP_LOST')
    await second.elector.close()
  })
})
