/** What of its Generators has a Host fetch again, and ask its replicas again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1NetworkPolicy } from '@kubernetes/client-node'
import type { Generator, Host } from '../../../operator/api.ts'
import type { FetchParts } from '../../../operator/reconcile/fetch/kind-logic.ts'
import { createHostLogic } from '../../../operator/reconcile/host-logic.ts'
import { childNames } from '../../../operator/resources/names/names.ts'
import { secretValue } from '../../../operator/resources/names/secret.ts'
import { ports } from '../../../src/service/contract.ts'
import {
  hostContext,
  identity,
  peerID,
  readGenerator,
  readHost,
} from '../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'
import { emptyState, noViews } from '../support/operator-findings.ts'
import { viewOf } from '../support/operator-view.ts'

const room = kubernetesRoom()
const minimal = readHost('host-minimal')
const reference = { name: 'source', namespace: 'elsewhere' }
const host: Host = { ...minimal, spec: { ...minimal.spec, generators: [reference] } }
const base = readGenerator('generator-minimal')
const source: Generator = {
  ...base,
  metadata: { ...base.metadata, ...reference, uid: 'first' },
  status: { observedGeneration: -1 },
}

const logicWith = (...generators: readonly Generator[]) =>
  createHostLogic(viewOf(generators).resources.Generator, noViews)

/** How many of these texts there are, each counted once. */
const differing = (texts: readonly (string | undefined)[]): number => new Set(texts).size

test('a Host fetches again when its Generator comes, is another one, has keys, or allows others', () => {
  const keyOf = (...generators: readonly Generator[]): string | undefined =>
    logicWith(...generators).refetchKey?.(host)
  const { spec, metadata } = source
  const allowing = (...allowedNamespaces: readonly string[]): Generator => ({
    ...source,
    spec: { ...spec, schemaAuth: { allowedNamespaces } },
  })
  const keysSecretRef = { name: 'own', key: 'keys' }
  const keys = [
    keyOf(),
    keyOf(source),
    keyOf({ ...source, metadata: { ...metadata, uid: 'second' } }),
    keyOf({ ...source, status: { observedGeneration: 0 } }),
    keyOf(allowing(host.metadata.namespace)),
    keyOf({ ...source, spec: { ...spec, schemaAuth: { keysSecretRef } } }),
    keyOf({ ...source, status: { observedGeneration: -1, nodes: [{ ordinal: 0, peerID }] } }),
  ]
  assert.equal(differing(keys), keys.length)
  const others = { ...spec, chain: { ...spec.chain, id: 7 } }
  const same = [source, { ...source, spec: others }, allowing('another')].map((one) => keyOf(one))
  assert.equal(differing(same), 1)
})

test('its replicas may say something else when a Generator is up, or says who and where it is', () => {
  const occasionOf = (status: Generator['status'] = {}): string | undefined =>
    logicWith({ ...source, status }).occasion?.(host)
  const ready = { type: 'Ready', status: 'True', reason: 'AllReady', message: '' } as const
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const occasions = [
    occasionOf(),
    occasionOf({ conditions: [{ ...ready, lastTransitionTime }] }),
    occasionOf({ nodes: [{ ordinal: 0, peerID }] }),
    occasionOf({ nodes: [{ ordinal: 0, genesis: `0x${'ab'.repeat(32)}` }] }),
  ]
  assert.equal(differing(occasions), occasions.length)
  assert.equal(differing([occasionOf(), occasionOf({ head: 7 })]), 1)
})

/** What a Host that has pods is fetched with, at the beginning of 1970. */
function fetchParts(): FetchParts {
  const { clusterDomain, defaults } = hostContext
  return {
    api: room.client.api,
    options: { clusterDomain, defaults },
    recorded: emptyState.recordedDiscovered,
    named: new Map(),
    hadPods: true,
    addresses: [],
    now: () => new Date(0),
    signal: new AbortController().signal,
  }
}

test('a key that is no longer allowed is overwritten, where one was handed out', async () => {
  const tokenAfter = async (schemaSource: typeof reference | null): Promise<unknown> => {
    const recorded = { ...emptyState.recordedDiscovered, schemaSource }
    const { secrets } = await logicWith(source).fetch(host, { ...fetchParts(), recorded })
    return secrets.map((secret) => [secret.metadata?.name, secretValue(secret, 'token')])
  }
  assert.deepEqual(await tokenAfter(null), [['mainnet-host-connection', undefined]])
  assert.deepEqual(await tokenAfter(reference), [
    ['mainnet-host-schema-keys', undefined],
    ['mainnet-host-connection', undefined],
  ])
})

test('a Host is handed the key of a Generator that allows its namespace', async () => {
  const { metadata, spec } = source
  const allowing: Generator = {
    ...source,
    spec: { ...spec, schemaAuth: { allowedNamespaces: [host.metadata.namespace] } },
  }
  const { schemaKeys } = childNames(allowing)
  const data = { keys: Buffer.from('one').toString('base64') }
  room.server.put(`/api/v1/namespaces/${metadata.namespace}/secrets/${schemaKeys}`, {
    ...{ kind: 'Secret', metadata: { name: schemaKeys }, data },
  })
  const { facts, secrets } = await logicWith(allowing).fetch(host, fetchParts())
  assert.deepEqual(facts.schemaSource, reference)
  const [handed] = secrets.filter((secret) => secret.metadata?.name === 'mainnet-host-schema-keys')
  assert.equal(handed && secretValue(handed, 'token'), 'one')
})

test('what is read for a Host are also the Generators that it names, where they are watched', () => {
  const { Generator } = viewOf([]).resources
  assert.deepEqual(
    logicWith()
      .alsoRead?.(host)
      .map(({ type }) => type.kind),
    ['Generator'],
  )
  const unwatched = createHostLogic({ ...Generator, reflectorOf: () => undefined }, noViews)
  assert.deepEqual(unwatched.alsoRead?.(host), [])
})

test('schemas are asked for at pods of Generators, unless one is in the network of its machine', () => {
  const onMachine = { podTemplate: { spec: { hostNetwork: true } } }
  const another = { ...source, metadata: { ...source.metadata, name: 'another' } }
  const references = [reference, { ...reference, name: 'another' }]
  const ofBoth: Host = {
    ...host,
    spec: { ...host.spec, generators: references, networkPolicy: { enabled: true } },
  }
  const targetsWith = (...generators: readonly Generator[]): unknown => {
    const facts = { schemaSource: null, keyless: null, isRefused: false, awaited: null }
    const { objects } = logicWith(...generators).objects(ofBoth, facts, hostContext)
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy') as V1NetworkPolicy
    const rules = policy.spec?.egress?.filter(({ ports: all }) =>
      all?.some(({ port }) => port === ports.health),
    )
    return rules?.map(({ to }) => to?.length)
  }
  assert.deepEqual(targetsWith(), [2])
  assert.deepEqual(targetsWith(source, another), [2])
  const moved = { ...another, spec: { ...another.spec, ...onMachine } }
  assert.deepEqual(targetsWith(source, moved), [undefined])
})

test('chain IDs are those of the Generators of its chain, by the block 0 that each says', () => {
  const genesis = `0x${'ab'.repeat(32)}`
  const saying = (name: string, chainID: number, chain: object = {}): Generator => ({
    ...source,
    metadata: { ...source.metadata, name },
    spec: { ...source.spec, chain: { ...source.spec.chain, ...chain } },
    status: { nodes: [{ ordinal: 0, genesis, chainID }] },
  })
  const named = ['own', 'foreign'].map((name) => ({ ...reference, name }))
  const ofBoth: Host = { ...host, spec: { ...host.spec, generators: named } }
  const logic = logicWith(saying('own', 1), saying('foreign', 7, { network: 'Another' }))
  assert.deepEqual(logic.chainIDs(ofBoth), new Map([[genesis, 1]]))
})

test('what was accepted of its Generators is remembered, and nothing before that', () => {
  assert.deepEqual(logicWith().remembered?.(host), {})
  const signers = [{ generator: 'elsewhere/source', identity }]
  assert.deepEqual(logicWith().remembered?.({ ...host, status: { signers } }), { signers })
})

test('a Generator that is not there is waited for where it would be seen', async () => {
  const awaitedOf = async (isWatched: boolean): Promise<unknown> => {
    const { Generator } = viewOf([]).resources
    const reflectorOf: typeof Generator.reflectorOf = (namespace) =>
      isWatched ? Generator.reflectorOf(namespace) : undefined
    const logic = createHostLogic({ ...Generator, reflectorOf }, noViews)
    const metadata = { ...host.metadata, creationTimestamp: new Date(0).toISOString() }
    const { facts } = await logic.fetch({ ...host, metadata }, { ...fetchParts(), hadPods: false })
    return [facts.awaited, logic.hold(host, facts)?.reason]
  }
  assert.deepEqual(await awaitedOf(true), [reference, 'Pending'])
  assert.deepEqual(await awaitedOf(false), [null, undefined])
})
