import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host, Resource } from '../../../operator/api.ts'
import { type GeneratorFacts, generatorLogic } from '../../../operator/reconcile/generator-logic.ts'
import { createHostLogic } from '../../../operator/reconcile/host-logic.ts'
import { createLook } from '../../../operator/reconcile/look.ts'
import { createLookPace } from '../../../operator/reconcile/look-pace.ts'
import type { ReconcileParts } from '../../../operator/reconcile/reconcile-parts.ts'
import { createMemories } from '../../../operator/reconcile/resource-memory.ts'
import type { SchemaFacts } from '../../../operator/reconcile/schema-source.ts'
import type { Occurrence } from '../../../operator/runtime/event-recorder.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { hostContext, readGenerator, readHost } from '../../support/operator-cases.ts'
import { emptyPicture, podWith } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const signal = new AbortController().signal
const path = `/api/v1/namespaces/${host.metadata.namespace}/secrets/mainnet-host-connection`

const room = kubernetesRoom()

/** Looks of a Host at a time that stands still; notes of Events go to `told`. */
function lookEvery(
  intervalMs: number,
  told: string[] = [],
): ReturnType<typeof createLook<Host, SchemaFacts>> {
  return createLook(
    createHostLogic(viewOf([]).generators),
    partsOf<Host>(intervalMs, told),
    new Map(),
  )
}

function partsOf<R extends Resource>(intervalMs: number, told: string[]): ReconcileParts<R> {
  const events = { record: (_type: unknown, _of: unknown, { note }: Occurrence) => told.push(note) }
  const { clusterDomain, defaults } = hostContext
  return {
    api: room.client.api,
    options: { clusterDomain, defaults },
    events,
    now: () => new Date(0),
    nowMs: () => 0,
    pace: { ...createLookPace(() => 1), intervalMs: () => intervalMs },
  } as unknown as ReconcileParts<R>
}

test('between two looks nothing is asked, unless the wish changes or a pod comes', async () => {
  const look = lookEvery(1_000)
  const memory = createMemories<SchemaFacts>().of(host)
  const asks = async (of: Host, picture = emptyPicture): Promise<boolean> => {
    const before = room.server.requests.length
    await look(of, memory, picture, signal)
    return room.server.requests.length > before
  }
  const changed = { ...host, metadata: { ...host.metadata, generation: 2 } }
  const running = { ...emptyPicture, pods: new Map([[0, podWith(host, {})]]) }
  const asked = [await asks(host), await asks(host), await asks(changed), await asks(changed)]
  assert.deepEqual(asked, [true, false, true, false])
  assert.equal(await asks(changed, running), true)
  assert.equal(await asks(changed, running), false)
})

test('a Secret that was there and is made again is told in an Event, a new one is not', async () => {
  const told: string[] = []
  const look = lookEvery(0, told)
  const memory = createMemories<SchemaFacts>().of(host)

  await look(host, memory, emptyPicture, signal)
  assert.deepEqual(told, [])
  room.server.remove(path)
  await look(host, memory, emptyPicture, signal)
  assert.ok(room.server.get(path))
  assert.deepEqual(told, ['Secret mainnet-host-connection had been deleted.'])
  room.server.put(path, { ...room.server.get(path), data: {} } as never)
  await look(host, memory, emptyPicture, signal)
  assert.equal(told.at(-1), 'Secret mainnet-host-connection had been changed.')
})

test('a Secret that follows other schema keys is no drift', async () => {
  const told: string[] = []
  const minimal = readGenerator('generator-minimal')
  const schemaAuth = { keysSecretRef: { name: 'followed', key: 'keys' } }
  const generator = { ...minimal, spec: { ...minimal.spec, schemaAuth } }
  const { namespace, name } = generator.metadata
  const secrets = `/api/v1/namespaces/${namespace}/secrets`
  const look = createLook(generatorLogic, partsOf<Generator>(0, told), new Map())
  const memory = createMemories<GeneratorFacts>().of(generator)

  for (const keys of ['one', 'two']) {
    room.server.put(`${secrets}/followed`, { data: { keys: btoa(keys) } } as never)
    await look(generator, memory, emptyPicture, signal)
  }
  assert.deepEqual(told, [])
  const connection = `${secrets}/${name}-generator-connection`
  room.server.put(connection, { ...room.server.get(connection), data: {} } as never)
  await look(generator, memory, emptyPicture, signal)
  assert.deepEqual(told, [`Secret ${name}-generator-connection had been changed.`])
})

test('a Secret of generated keys that was deleted to renew them is no drift', async () => {
  const told: string[] = []
  const generator = readGenerator('generator-minimal')
  const { namespace, name } = generator.metadata
  const keys = `/api/v1/namespaces/${namespace}/secrets/${name}-generator-schema-keys`
  const look = createLook(generatorLogic, partsOf<Generator>(0, told), new Map())
  const memory = createMemories<GeneratorFacts>().of(generator)
  await look(generator, memory, emptyPicture, signal)
  const before = room.server.get(keys)
  room.server.remove(keys)
  await look(generator, memory, emptyPicture, signal)
  assert.notDeepEqual(
    Reflect.get(room.server.get(keys) ?? {}, 'data'),
    Reflect.get(before ?? {}, 'data'),
  )
  assert.deepEqual(told, [])
})

test('no Secret is read twice in a look, and one of a Generator with everything is six requests', async () => {
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
  const look = createLook(generatorLogic, partsOf<Generator>(0, []), new Map())
  const memory = createMemories<GeneratorFacts>().of(generator)
  await look(generator, memory, emptyPicture, signal)

  const before = room.server.requests.length
  await look(generator, memory, emptyPicture, signal)
  const asked = room.server.requests.slice(before).map(({ path: seen }) => seen)
  assert.equal(asked.length, 6, asked.join('\n'))
  assert.equal(new Set(asked).size, 6, asked.join('\n'))
  const connection = room.server.get(`${secrets}/${name}-generator-connection`)
  assert.ok(Object.values(Reflect.get(connection ?? {}, 'data')).includes(btoa('own key')))
})
