import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import type { Difference } from '../../../../operator/reconcile/apply/children.ts'
import {
  type PausedPlan,
  tryDifference,
  waitingChanges,
  waitingSecrets,
} from '../../../../operator/reconcile/apply/pause.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { nothingKnown } from '../../../../operator/reconcile/apply/resource-memory.ts'
import { ownerChanges } from '../../../../operator/reconcile/evaluate/deletion-policy.ts'
import type { IdentityPlan } from '../../../../operator/reconcile/evaluate/identity.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import { hostConnectionSecret } from '../../../../operator/resources/secrets/connection-secret.ts'
import { schemaTokenSecret } from '../../../../operator/resources/secrets/schema-secrets.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { hostContext, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { boundClaims, emptyState, podWith, readyCounts } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const signal = new AbortController().signal
const identity: IdentityPlan = { problem: null, lack: null, generate: [] }
const keyring = { exists: true, isOwned: false, createdMs: null, fingerprints: new Map() }
const secrets = [
  schemaTokenSecret(host, 'schema key'),
  hostConnectionSecret(host, { clusterDomain: 'cluster.local', peers: [] }),
]
const { objects } = hostObjects(host, hostContext)
const owners = { keyring: false, claims: [] }
const known = nothingKnown()
const quiet = { changes: [], owners, problem: null, state: emptyState, known }
const plan = { objects, updateAvailable: null, isGrowing: false, isSetBeingRemoved: false }

const room = kubernetesRoom()

/** What a paused reconcile of the Host uses, in a cluster with these objects. */
function partsWith(live: readonly object[]): ReconcileParts<Host> {
  const view = viewOf(live as KubernetesObject[])
  return { api: room.client.api, view } as unknown as ReconcileParts<Host>
}

const pathOf = (name = ''): string =>
  `/api/v1/namespaces/${host.metadata.namespace}/secrets/${name}`

test('while paused a Secret that is missing or was changed waits, and is not written', async () => {
  const reported = (): Promise<string[]> =>
    waitingSecrets(partsWith([]), host, { secrets, known }, signal)
  assert.deepEqual(await reported(), [
    'Secret mainnet-host-schema-keys created',
    'Secret mainnet-host-connection created',
  ])
  for (const secret of secrets) room.server.put(pathOf(secret.metadata?.name), secret as never)
  assert.deepEqual(await reported(), [])
  const [token] = secrets
  room.server.put(pathOf(token?.metadata?.name), { ...token, data: { token: 'b3RoZXI=' } } as never)
  assert.deepEqual(await reported(), ['Secret mainnet-host-schema-keys changed'])
  room.server.put(pathOf(token?.metadata?.name), { metadata: { labels: {} } })
  assert.deepEqual(await reported(), [
    'Secret mainnet-host-schema-keys, which is refused (NameTaken)',
  ])
  const metadata = { ...token?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
  room.server.put(pathOf(token?.metadata?.name), { ...token, metadata } as never)
  await assert.rejects(reported(), { code: 'OPERATOR_TERMINATING' })
  assert.deepEqual(
    room.server.requests.filter(({ method }) => method !== 'GET'),
    [],
  )
})

test('while paused the keyring’s deletion policy waits as well', async () => {
  const waiting = async (
    deletionPolicy: 'Retain' | 'Delete',
    isOwned: boolean,
  ): Promise<string> => {
    const spec = { ...host.spec, identity: { ...host.spec.identity, deletionPolicy } }
    const of = { ...host, spec }
    const inputs = { keyring, waiting: ['Secret a created'] }
    const changed = ownerChanges(of, { keyring: { ...keyring, isOwned }, claims: [] })
    const none = { ...plan, objects: [] }
    const paused = { ...quiet, owners: changed, plan: none, identity, inputs, hold: null }
    const changes = await waitingChanges(partsWith([]), of, paused, signal)
    return changes.join('; ')
  }
  const first = 'Secret a created'
  const secret = 'Secret mainnet-host-keyring'
  assert.equal(
    await waiting('Delete', false),
    `${first}; ${secret} to be deleted with the resource`,
  )
  assert.equal(await waiting('Retain', true), `${first}; ${secret} to outlive the resource`)
  assert.equal(await waiting('Retain', false), first)
  assert.equal(await waiting('Delete', true), first)
})

test('while paused the StatefulSet of a lost keys claim waits to be removed, and nothing else', async () => {
  const problem = { reason: 'KeysClaimMissing', message: 'gone' } as const
  const paused = {
    ...quiet,
    plan,
    identity,
    problem,
    inputs: { keyring, waiting: [] },
    hold: null,
  }
  const removed = 'StatefulSet mainnet-host removed without its pods'
  assert.deepEqual(await waitingChanges(partsWith(objects), host, paused, signal), [removed])
  assert.deepEqual(await waitingChanges(partsWith([]), host, paused, signal), [])
})

test('while paused a StatefulSet that would have to wait anyway is not among what waits', async () => {
  const inputs = { keyring, waiting: [] }
  const paused = { ...quiet, plan, identity, inputs }
  const reported = async (hold: { reason: string; message: string } | null): Promise<string[]> =>
    await waitingChanges(partsWith([]), host, { ...paused, hold }, signal)
  const set = 'StatefulSet mainnet-host created'
  assert.equal((await reported(null)).at(-1), set)
  const held = await reported({ reason: 'SecretMissing', message: 'no' })
  assert.ok(held.length > 0 && !held.includes(set))
})

test('while paused a changed object is reported with the fields that would change', async () => {
  const live = objects.map((object) => {
    if (object.kind !== 'StatefulSet') return object
    return { ...object, spec: { ...Reflect.get(object, 'spec'), replicas: 7 } }
  })
  const inputs = { keyring, waiting: [] }
  const paused = { ...quiet, plan, identity, inputs, hold: null }
  const reported = await waitingChanges(partsWith(live), host, paused, signal)
  assert.ok(
    reported.includes('StatefulSet mainnet-host changed (spec.replicas)'),
    reported.join('; '),
  )
})

test('while paused an object that lost its owner, label or annotation is reported, no other', async () => {
  const [object] = objects
  assert.ok(object)
  const { metadata } = object
  const name = metadata?.name ?? ''
  const found = async (lost: object): Promise<string | null> => {
    const live = { ...object, metadata: { ...metadata, resourceVersion: '7', ...lost } }
    const kind = 'ServiceAccount'
    const difference: Difference = { kind, name, action: 'correct', drift: [], object, live }
    return await tryDifference(partsWith([]), difference, signal)
  }
  assert.equal(await found({}), null)
  for (const lost of [{ ownerReferences: [] }, { labels: {} }, { annotations: { a: 'b' } }])
    assert.equal(await found(lost), `ServiceAccount ${name} changed`)
})

test('while paused an object that was only added to is reported, though a dry run leaves that', async () => {
  const [object] = objects
  assert.ok(object)
  const difference = { kind: 'ServiceAccount', name: 'x', action: 'correct', object } as const
  const found = async (addition: string | null): Promise<string | null> => {
    const drift = [{ path: 'spec.a', live: 'b', addition }]
    return await tryDifference(partsWith([]), { ...difference, drift, live: object }, signal)
  }
  assert.equal(await found('/spec/a'), 'ServiceAccount x changed (spec.a)')
  assert.equal(await found(null), null)
})

test('while paused an object that the API server would refuse is reported with the reason', async () => {
  const [object] = objects
  assert.ok(object)
  const { name = '' } = object.metadata ?? {}
  const kind = 'ServiceAccount'
  const created: Difference = { kind, name, action: 'create', drift: [], object, live: null }
  const tried = async (code: number): Promise<string | null> => {
    room.server.faults.clear()
    room.server.faults.add((_, response) => {
      send(response, code, status(code, 'Refused'))
      return true
    })
    return await tryDifference(partsWith([]), created, signal)
  }
  const refused = `ServiceAccount ${name}, which is refused`
  assert.equal(await tried(403), `${refused} (Forbidden)`)
  assert.equal(await tried(422), `${refused} (InvalidSpec)`)
  await assert.rejects(tried(409), { code: 'OPERATOR_API_CONFLICT' })
})

const storage = { ...host.spec.storage, restartToResize: true }
const restarting: Host = { ...host, spec: { ...host.spec, storage } }
/** Pod 0 is older than the wait of its claims for a start. */
const waitingForStart = {
  ...emptyState,
  set: {},
  counts: readyCounts,
  claims: boundClaims(host).map((placed) => ({
    ...placed,
    claim: { ...placed.claim, startWantedMs: 2_000 },
  })),
  pods: new Map([[0, { ...podWith(host, {}), createdMs: 1_000 }]]),
}

test('while paused a pod that would be recreated for a file system to grow waits as well', async () => {
  const inputs = { keyring, waiting: [] }
  const none = { ...plan, objects: [] }
  const paused = { ...quiet, state: waitingForStart, plan: none, identity, inputs, hold: null }
  assert.deepEqual(await waitingChanges(partsWith([]), restarting, paused, signal), [
    'Pod mainnet-host-0 recreated, to grow a file system',
  ])
  const hold = { reason: 'SecretMissing', message: 'no' }
  assert.deepEqual(await waitingChanges(partsWith([]), restarting, { ...paused, hold }, signal), [])
  const growing = { ...paused, plan: { ...none, isGrowing: true } }
  assert.deepEqual(await waitingChanges(partsWith([]), restarting, growing, signal), [
    'StatefulSet recreated for larger volumes',
  ])
})

test('while paused nothing waits that something else would stop, but changes of owners', async () => {
  const inputs = { keyring, waiting: ['Secret a created'] }
  const paused = { ...quiet, state: waitingForStart, plan, identity, inputs, hold: null }
  const reported = async (more: Partial<PausedPlan>): Promise<string[]> =>
    await waitingChanges(partsWith([]), restarting, { ...paused, ...more }, signal)
  assert.ok((await reported({})).length > 2)
  const problem = { reason: 'ChainMismatch', message: 'no' } as const
  assert.deepEqual(await reported({ problem }), inputs.waiting)
  const withSet = partsWith(objects)
  const ofProblem = await waitingChanges(withSet, restarting, { ...paused, problem }, signal)
  assert.deepEqual(ofProblem, inputs.waiting)
  const lack = { reason: 'SecretMissing', message: 'no' } as const
  assert.deepEqual(await reported({ identity: { ...identity, lack } }), inputs.waiting)
  const owned = { keyring: true, claims: boundClaims(host).slice(0, 1) }
  assert.deepEqual(await reported({ problem, owners: owned }), [
    ...inputs.waiting,
    'Secret mainnet-host-keyring to outlive the resource',
    'PersistentVolumeClaim keys-mainnet-host-0 to be deleted with the resource',
  ])
})

test('while paused a pod that began without its key waits as well, unless all pods have to', async () => {
  const message = 'DB_KEYRING_SECRET_FILE points to /run/key, which is a directory'
  const terminationMessage = { code: 'CONFIG_INVALID', message, remedy: null, difference: null }
  const pod = { ...podWith(host, {}), createdMs: 0, terminationMessage }
  const state = { ...emptyState, set: {}, counts: readyCounts, pods: new Map([[0, pod]]) }
  const fingerprints = new Map([[0, 'abc']])
  const inputs = { keyring: { ...keyring, fingerprints }, waiting: [] }
  const paused = { ...quiet, state, plan: { ...plan, objects: [] }, identity, inputs }
  const reported = async (hold: { reason: string; message: string } | null): Promise<string[]> =>
    await waitingChanges(partsWith([]), host, { ...paused, hold }, signal)
  assert.deepEqual(await reported(null), ['Pod mainnet-host-0 recreated, to have its key'])
  assert.deepEqual(await reported({ reason: 'SecretMissing', message: 'no' }), [])
})

test('while paused an object that is wanted no longer is reported, and asked of nobody', async () => {
  const without = { ...host, spec: { ...host.spec, networkPolicy: { enabled: false } } }
  const wanted = hostObjects(without, hostContext).objects
  const paused = {
    ...{ ...quiet, identity, inputs: { keyring, waiting: [] }, hold: null },
    plan: { ...plan, objects: wanted.filter(({ kind }) => kind === 'ServiceAccount') },
  }
  const [policy] = objects.filter(({ kind }) => kind === 'NetworkPolicy')
  assert.ok(policy)
  const changes = await waitingChanges(partsWith([policy]), without, paused, signal)
  assert.ok(changes.includes('NetworkPolicy mainnet-host deleted'), changes.join('; '))
  assert.ok(!room.server.requests.some(({ path }) => path.includes('networkpolicies')))
})
