import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GeneratorReference } from '../../../../operator/api/common-spec.ts'
import type { Generator, Host } from '../../../../operator/api.ts'
import type { Referred } from '../../../../operator/reconcile/fetch/generator-peers.ts'
import type { FetchParts } from '../../../../operator/reconcile/fetch/kind-logic.ts'
import {
  findSchemaSource,
  type GeneratorSchema,
} from '../../../../operator/reconcile/fetch/schema-source.ts'
import { createHostLogic } from '../../../../operator/reconcile/host-logic.ts'
import { secretValue } from '../../../../operator/resources/names/secret.ts'
import { hostContext, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { emptyState, noViews } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const madeAt = '2026-01-01T12:00:00Z'
const minimal = readHost('host-minimal')
const { metadata, spec } = minimal
const { namespace } = metadata
const host: Host = {
  ...minimal,
  metadata: { ...metadata, creationTimestamp: madeAt },
  spec: { ...spec, generators: [{ name: 'beside' }] },
}
const generator = readGenerator('generator-minimal')
const beside: Generator = {
  ...generator,
  metadata: { ...generator.metadata, namespace, name: 'beside' },
}

const room = kubernetesRoom()

interface Given {
  /** How long after the Host was made; default 0. */
  readonly afterMs?: number
  readonly hadPods?: boolean
  readonly of?: Host
}

/** What keeps the first pods from being made; null where nothing does. */
async function heldBy(
  generators: readonly Generator[],
  { afterMs = 0, hadPods = false, of = host }: Given = {},
): Promise<string | null> {
  const { facts, logic } = await fetchFor(generators, { afterMs, hadPods, of })
  return logic.hold(of, facts)?.message ?? null
}

async function fetchFor(
  generators: readonly Generator[],
  { afterMs = 0, hadPods = false, of = host }: Given = {},
) {
  const logic = createHostLogic(viewOf(generators).resources.Generator, noViews)
  const { clusterDomain, defaults } = hostContext
  const fetched = await logic.fetch(of, {
    api: room.client.api,
    options: { clusterDomain, defaults },
    recorded: emptyState.recordedDiscovered,
    named: new Map(),
    hadPods,
    addresses: [],
    now: () => new Date(Date.parse(madeAt) + afterMs),
    signal: new AbortController().signal,
  })
  return { ...fetched, logic }
}

test('the first pods of a new Host wait half a minute for the schema key of a Generator', async () => {
  for (const generators of [[], [beside]]) {
    assert.match(
      (await heldBy(generators, { afterMs: 29_000 })) ?? '',
      /^The first pods wait for Generator apps\/beside to have a schema key, 30 seconds at most; /,
    )
    assert.equal(await heldBy(generators, { afterMs: 30_000 }), null)
  }
})

test('a Host that is older by the operator’s clock, or will only be made by it, starts at once', async () => {
  assert.equal(await heldBy([beside], { afterMs: 3_600_000 }), null)
  assert.equal(await heldBy([beside], { afterMs: -3_600_000 }), null)
})

test('pods wait no longer once there is a key, and where there were pods before', async () => {
  assert.equal(await heldBy([beside], { hadPods: true }), null)
  const path = `/api/v1/namespaces/${namespace}/secrets/beside-generator-schema-keys`
  room.server.put(path, { data: { keys: btoa('key') } } as never)
  assert.equal(await heldBy([beside]), null)
})

test('a Host does not wait for a Generator that gives its namespace no key', async () => {
  const elsewhere = { name: 'beside', namespace: 'elsewhere' }
  const of: Host = { ...host, spec: { ...spec, generators: [elsewhere] } }
  const theirs = { ...beside, metadata: { ...beside.metadata, ...elsewhere } }
  assert.equal(await heldBy([theirs], { of }), null)
})

test('a Host is handed the key that the connection Secret says, where it is one of the keys', async () => {
  const put = (name: string, data: object): void => {
    const path = `/api/v1/namespaces/${namespace}/secrets/beside-generator-${name}`
    room.server.put(path, { data } as never)
  }
  const token = async (): Promise<string | undefined> => {
    const { secrets } = await fetchFor([beside])
    const own = secrets.find(({ metadata: found }) => found?.name === 'mainnet-host-schema-keys')
    return own && secretValue(own, 'token')
  }
  assert.equal(await token(), undefined)
  put('schema-keys', { keys: btoa('new,old') })
  assert.equal(await token(), 'new')
  for (const [handed, expected] of [
    ['old', 'old'],
    ['new', 'new'],
    ['written by others', 'new'],
    ['', 'new'],
  ] as const) {
    put('connection', { 'schema-key': btoa(handed) })
    assert.equal(await token(), expected, handed)
  }
  put('schema-keys', { keys: btoa('only') })
  put('connection', { 'schema-key': btoa('old') })
  assert.equal(await token(), 'only')
})

const reference = { name: 'beside', namespace }
const open: Referred = { reference, generator: beside, isWatched: true }
const closed: Referred = {
  ...{ reference: { name: 'beside', namespace: 'elsewhere' }, isWatched: true },
  generator: { ...beside, metadata: { ...beside.metadata, namespace: 'elsewhere' } },
}
const absent: Referred = { ...closed, generator: null }

/** Where a Host without pods has its schema from, and whether a key is taken back. */
async function schemaOf(
  all: readonly Referred[],
  schemaSource: Required<GeneratorReference> | null = null,
): Promise<GeneratorSchema> {
  const parts = {
    api: room.client.api,
    recorded: { ...emptyState.recordedDiscovered, schemaSource },
  }
  const now = (): Date => new Date(madeAt)
  const { signal } = new AbortController()
  return await findSchemaSource(host, all, { ...parts, hadPods: false, now, signal } as FetchParts)
}

test('a Host does not wait for a Generator whose namespace nobody watches', async () => {
  const waits = async (isWatched: boolean): Promise<boolean> => {
    const { facts } = await schemaOf([{ reference, generator: null, isWatched }])
    return facts.awaited !== null
  }
  assert.deepEqual([await waits(true), await waits(false)], [true, false])
})

test('the schema is that of a Generator with a key, or the same as before without one', async () => {
  const found = { schemaSource: reference, keyless: null, isRefused: false, awaited: null }
  const keyless = { ...found, schemaSource: null, keyless: reference, awaited: reference }
  assert.deepEqual((await schemaOf([open])).facts, keyless)
  assert.deepEqual((await schemaOf([open], reference)).facts, found)
  const namesakes = [
    { ...reference, name: 'another' },
    { ...reference, namespace: 'elsewhere' },
  ]
  for (const other of namesakes) assert.deepEqual((await schemaOf([open], other)).facts, keyless)
  const path = `/api/v1/namespaces/${namespace}/secrets/beside-generator-schema-keys`
  room.server.put(path, { data: { keys: btoa('key') } } as never)
  assert.deepEqual(await schemaOf([open]), { facts: found, token: 'key', isTakenBack: false })
})

test('a Host is refused where Generators are there and none lets its namespace have a key', async () => {
  const isRefused = async (...all: readonly Referred[]): Promise<boolean> =>
    (await schemaOf(all)).facts.isRefused
  const unknown = { ...absent, reference: { name: 'none', namespace } }
  assert.equal(await isRefused(closed), true)
  assert.equal(await isRefused(unknown, closed), true)
  assert.equal(await isRefused(unknown), false)
  assert.equal(await isRefused(closed, open), false)
  assert.equal(await isRefused(), false)
})

test('a key that a Host was handed is taken back when no Generator allows it any more', async () => {
  const isTakenBack = async (
    all: readonly Referred[],
    before: Required<GeneratorReference> | null,
  ): Promise<boolean> => (await schemaOf(all, before)).isTakenBack
  assert.equal(await isTakenBack([closed], closed.reference), true)
  assert.equal(await isTakenBack([], reference), true)
  assert.equal(await isTakenBack([closed], null), false)
  assert.equal(await isTakenBack([absent], absent.reference), false)
  assert.equal(await isTakenBack([closed, open], closed.reference), false)
})
