import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { V1ObjectMeta } from '@kubernetes/client-node'
import type { Generator, Host, Workload } from '../../../../operator/api.ts'
import { applySecrets } from '../../../../operator/reconcile/apply/apply-secrets.ts'
import { fetchInputs } from '../../../../operator/reconcile/apply/fetch-inputs.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import {
  createMemories,
  type ResourceMemory,
} from '../../../../operator/reconcile/apply/resource-memory.ts'
import type { ObservedState } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import type { KindLogic } from '../../../../operator/reconcile/fetch/kind-logic.ts'
import { createResyncInterval } from '../../../../operator/reconcile/fetch/resync-interval.ts'
import type { SchemaFacts } from '../../../../operator/reconcile/fetch/schema-source.ts'
import {
  type GeneratorFacts,
  generatorLogic,
} from '../../../../operator/reconcile/generator-logic.ts'
import { createHostLogic } from '../../../../operator/reconcile/host-logic.ts'
import type { Occurrence } from '../../../../operator/runtime/event-recorder.ts'
import { hostContext, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { emptyState, noViews, podWith } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const signal = new AbortController().signal
const path = `/api/v1/namespaces/${host.metadata.namespace}/secrets/mainnet-host-connection`

const room = kubernetesRoom()

/** The time of the test that runs; it begins with 0. */
const clock = { nowMs: 0 }
beforeEach(() => {
  clock.nowMs = 0
})

type FetchAndApply<R extends Workload, F> = (
  of: R,
  memory: ResourceMemory<F>,
  state: ObservedState,
) => Promise<void>

/** Fetches the inputs of a Host, which names no Generator; notes of Events go to `reported`. */
function fetchEvery(intervalMs: number, reported: string[] = []): FetchAndApply<Host, SchemaFacts> {
  const logic = createHostLogic(viewOf([]).resources.Generator, noViews)
  return fetchAndApply(logic, partsOf<Host>(intervalMs, reported))
}

/** Fetches as a reconcile does, and writes the Secrets that follow. */
function fetchAndApply<R extends Workload, F>(
  logic: KindLogic<R, F>,
  parts: ReconcileParts<R>,
): FetchAndApply<R, F> {
  const tools = { logic, parts, fingerprints: new Map() }
  return async (of, memory, state) => {
    const before = memory.inputs
    const { inputs, secrets } = await fetchInputs(tools, of, { before, state }, signal)
    await applySecrets(parts, of, { memory, secrets }, signal)
    memory.inputs = inputs
  }
}

function partsOf<R extends Workload>(intervalMs: number, reported: string[]): ReconcileParts<R> {
  const events = {
    record: (_type: unknown, _of: unknown, { note }: Occurrence) => reported.push(note),
  }
  const { clusterDomain, defaults } = hostContext
  return {
    api: room.client.api,
    options: { clusterDomain, defaults },
    events,
    now: () => new Date(0),
    nowMs: () => clock.nowMs,
    resync: { ...createResyncInterval(5_000, () => 1), intervalMs: () => intervalMs },
  } as unknown as ReconcileParts<R>
}

test('between two polls nothing is fetched, unless the spec changes or a pod comes', async () => {
  const fetch = fetchEvery(1_000)
  const memory = createMemories<SchemaFacts>().of(host)
  const asks = async (of: Host, state = emptyState): Promise<boolean> => {
    const before = room.server.requests.length
    await fetch(of, memory, state)
    return room.server.requests.length > before
  }
  const changed = { ...host, metadata: { ...host.metadata, generation: 2 } }
  const running = { ...emptyState, pods: new Map([[0, podWith(host, {})]]) }
  const requested = [await asks(host), await asks(host), await asks(changed), await asks(changed)]
  assert.deepEqual(requested, [true, false, true, false])
  assert.equal(await asks(changed, running), true)
  assert.equal(await asks(changed, running), false)
})

test('everything is fetched again nine tenths of an interval after it was fetched', async () => {
  const fetch = fetchEvery(1_000)
  const memory = createMemories<SchemaFacts>().of(host)
  const asked: number[] = []
  for (const nowMs of [5_000, 5_899, 5_900, 6_799, 6_800]) {
    clock.nowMs = nowMs
    const before = room.server.requests.length
    await fetch(host, memory, emptyState)
    if (room.server.requests.length > before) asked.push(nowMs)
  }
  assert.deepEqual(asked, [5_000, 5_900, 6_800])
})

test('what is watched calls for another fetch where it goes into what is fetched', async () => {
  let watched = 'as it was'
  const logic = createHostLogic(viewOf([]).resources.Generator, noViews)
  const watching = { ...logic, refetchKey: () => watched }
  const fetch = fetchAndApply(watching, partsOf<Host>(1_000, []))
  const memory = createMemories<SchemaFacts>().of(host)
  const asks = async (of: Host): Promise<boolean> => {
    const before = room.server.requests.length
    await fetch(of, memory, emptyState)
    return room.server.requests.length > before
  }
  const annotations = { 'viewmesh.io/reconcile-at': 'now' }
  const requested = { ...host, metadata: { ...host.metadata, annotations } }
  const status = { nodes: [{ ordinal: 0, addresses: ['/dns4/a/tcp/9171/p2p/b'] }] }
  for (const each of [host, requested, { ...host, status }, host]) {
    assert.deepEqual([await asks(each), await asks(each)], [true, false])
  }
  watched = 'another'
  assert.deepEqual([await asks(host), await asks(host)], [true, false])
})

test('a Secret that is created again is reported in an Event, a new one is not', async () => {
  const reported: string[] = []
  const fetch = fetchEvery(0, reported)
  const memory = createMemories<SchemaFacts>().of(host)

  await fetch(host, memory, emptyState)
  assert.deepEqual(reported, [])
  room.server.remove(path)
  await fetch(host, memory, emptyState)
  assert.ok(room.server.get(path))
  assert.deepEqual(reported, ['Secret mainnet-host-connection had been deleted.'])
  room.server.put(path, { ...room.server.get(path), data: {} } as never)
  await fetch(host, memory, emptyState)
  assert.equal(reported.at(-1), 'Secret mainnet-host-connection had been changed.')
})

test('a Secret that follows other schema keys is no drift', async () => {
  const reported: string[] = []
  const minimal = readGenerator('generator-minimal')
  const schemaAuth = { keysSecretRef: { name: 'followed', key: 'keys' } }
  const generator = { ...minimal, spec: { ...minimal.spec, schemaAuth } }
  const { namespace, name } = generator.metadata
  const secrets = `/api/v1/namespaces/${namespace}/secrets`
  const fetch = fetchAndApply(generatorLogic, partsOf<Generator>(0, reported))
  const memory = createMemories<GeneratorFacts>().of(generator)

  for (const keys of ['one', 'two']) {
    room.server.put(`${secrets}/followed`, { data: { keys: btoa(keys) } } as never)
    await fetch(generator, memory, emptyState)
  }
  assert.deepEqual(reported, [])
  const connection = `${secrets}/${name}-generator-connection`
  room.server.put(connection, { ...room.server.get(connection), data: {} } as never)
  await fetch(generator, memory, emptyState)
  assert.deepEqual(reported, [`Secret ${name}-generator-connection had been changed.`])
})

test('a Secret of generated keys that was deleted to renew them is no drift', async () => {
  const reported: string[] = []
  const generator = readGenerator('generator-minimal')
  const { namespace, name } = generator.metadata
  const keys = `/api/v1/namespaces/${namespace}/secrets/${name}-generator-schema-keys`
  const fetch = fetchAndApply(generatorLogic, partsOf<Generator>(0, reported))
  const memory = createMemories<GeneratorFacts>().of(generator)
  await fetch(generator, memory, emptyState)
  const before = room.server.get(keys)
  room.server.remove(keys)
  await fetch(generator, memory, emptyState)
  assert.notDeepEqual(
    Reflect.get(room.server.get(keys) ?? {}, 'data'),
    Reflect.get(before ?? {}, 'data'),
  )
  assert.deepEqual(reported, [])
})

test('keys that are made again say when, so that pods which had the former ones restart', async () => {
  const generator = readGenerator('generator-minimal')
  const { namespace, name } = generator.metadata
  const keys = `/api/v1/namespaces/${namespace}/secrets/${name}-generator-schema-keys`
  const fetch = fetchAndApply(generatorLogic, partsOf<Generator>(0, []))
  const memory = createMemories<GeneratorFacts>().of(generator)
  const recorded = { inputs: 'hash', template: {} }
  const renewedAt = async (state: ObservedState): Promise<unknown> => {
    room.server.remove(keys)
    await fetch(generator, memory, state)
    const { metadata } = (room.server.get(keys) ?? {}) as { metadata?: V1ObjectMeta }
    return metadata?.annotations?.['viewmesh.io/schema-keys-renewed']
  }
  assert.equal(await renewedAt(emptyState), undefined)
  assert.equal(await renewedAt({ ...emptyState, recorded }), '1970-01-01T00:00:00.000Z')
})

test('no Secret is read twice in a poll, which is six requests for a Generator with everything', async () => {
  const minimal = readGenerator('generator-minimal')
  const { namespace, name } = minimal.metadata
  const secrets = `/api/v1/namespaces/${namespace}/secrets`
  const upstream = {
    ...minimal.spec.upstream,
    auth: { header: 'Authorization', secretRef: { name: 'node', key: 'token' } },
  }
  const schemaAuth = { keysSecretRef: { name: 'schema', key: 'keys' } }
  const generator = { ...minimal, spec: { ...minimal.spec, upstream, schemaAuth } }
  room.server.put('/api/v1/namespaces/validators/services/geth', {
    spec: { selector: { app: 'geth' } },
  } as never)
  room.server.put(`${secrets}/schema`, { data: { keys: btoa('own key') } } as never)
  const fetch = fetchAndApply(generatorLogic, partsOf<Generator>(0, []))
  const memory = createMemories<GeneratorFacts>().of(generator)
  await fetch(generator, memory, emptyState)

  const before = room.server.requests.length
  await fetch(generator, memory, emptyState)
  const requested = room.server.requests.slice(before).map(({ path: seen }) => seen)
  assert.equal(requested.length, 6, requested.join('\n'))
  assert.equal(new Set(requested).size, 6, requested.join('\n'))
  const connection = room.server.get(`${secrets}/${name}-generator-connection`)
  assert.ok(Object.values(Reflect.get(connection ?? {}, 'data')).includes(btoa('own key')))
})
