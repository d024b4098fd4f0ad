import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../operator/api.ts'
import { ownerChanges } from '../../../operator/reconcile/deletion-policy.ts'
import type { IdentityPlan } from '../../../operator/reconcile/identity.ts'
import {
  type PausedPlan,
  waitingChanges,
  waitingSecrets,
} from '../../../operator/reconcile/pause.ts'
import type { ReconcileParts } from '../../../operator/reconcile/reconcile-parts.ts'
import { hostConnectionSecret } from '../../../operator/resources/connection-secret.ts'
import { hostObjects } from '../../../operator/resources/host-objects.ts'
import { schemaTokenSecret } from '../../../operator/resources/schema-secrets.ts'
import type { KubernetesObject } from '../../../operator/runtime/kubernetes-object.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { hostContext, readHost } from '../../support/operator-cases.ts'
import { boundClaims, emptyPicture, podWith, readyCounts } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const signal = new AbortController().signal
const identity: IdentityPlan = { problem: null, lack: null, generate: [] }
const keyring = { exists: true, isOwned: false, fingerprints: new Map() }
const secrets = [
  schemaTokenSecret(host, 'schema key'),
  hostConnectionSecret(host, { clusterDomain: 'cluster.local', peers: [] }),
]
const { objects } = hostObjects(host, hostContext)
const owners = { keyring: false, claims: [] }
const quiet = { changes: [], owners, problem: null, picture: emptyPicture }
const plan = { objects, updateAvailable: false, isGrowing: false, isSetLeaving: false }

const room = kubernetesRoom()

/** What a paused reconcile of the Host uses, in a cluster with these objects. */
function partsWith(live: readonly object[]): ReconcileParts<Host> {
  const view = viewOf(live as KubernetesObject[])
  return { api: room.client.api, view } as unknown as ReconcileParts<Host>
}

const pathOf = (name = ''): string =>
  `/api/v1/namespaces/${host.metadata.namespace}/secrets/${name}`

test('while paused a Secret that is missing or was changed waits, and is not written', async () => {
  const told = (): Promise<string[]> => waitingSecrets(partsWith([]), host, secrets, signal)
  assert.deepEqual(await told(), [
    'Secret mainnet-host-schema-keys created',
    'Secret mainnet-host-connection created',
  ])
  for (const secret of secrets) room.server.put(pathOf(secret.metadata?.name), secret as never)
  assert.deepEqual(await told(), [])
  const [token] = secrets
  room.server.put(pathOf(token?.metadata?.name), { ...token, data: { token: 'b3RoZXI=' } } as never)
  assert.deepEqual(await told(), ['Secret mainnet-host-schema-keys changed'])
  room.server.put(pathOf(token?.metadata?.name), { metadata: { labels: {} } })
  assert.deepEqual(await told(), ['Secret mainnet-host-schema-keys, which is refused (NameTaken)'])
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
    const looked = { waiting: ['Secret a created'] }
    const changed = ownerChanges(of, { keyring: { ...keyring, isOwned }, claims: [] })
    const none = { ...plan, objects: [] }
    const paused = { ...quiet, owners: changed, plan: none, identity, looked, hold: null }
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
    looked: { waiting: [] },
    hold: null,
  }
  const removed = 'StatefulSet mainnet-host removed without its pods'
  assert.deepEqual(await waitingChanges(partsWith(objects), host, paused, signal), [removed])
  assert.deepEqual(await waitingChanges(partsWith([]), host, paused, signal), [])
})

test('while paused a StatefulSet that would have to wait anyway is not among what waits', async () => {
  const looked = { waiting: [] }
  const paused = { ...quiet, plan, identity, looked }
  const told = async (hold: { reason: string; message: string } | null): Promise<string[]> =>
    await waitingChanges(partsWith([]), host, { ...paused, hold }, signal)
  const set = 'StatefulSet mainnet-host created'
  assert.equal((await told(null)).at(-1), set)
  const held = await told({ reason: 'SecretMissing', message: 'no' })
  assert.ok(held.length > 0 && !held.includes(set))
})

test('while paused a changed object is told with the fields that would change', async () => {
  const live = objects.map((object) => {
    if (object.kind !== 'StatefulSet') return object
    return { ...object, spec: { ...Reflect.get(object, 'spec'), replicas: 7 } }
  })
  const looked = { waiting: [] }
  const paused = { ...quiet, plan, identity, looked, hold: null }
  const told = await waitingChanges(partsWith(live), host, paused, signal)
  assert.ok(told.includes('StatefulSet mainnet-host changed (spec.replicas)'), told.join('; '))
})

const storage = { ...host.spec.storage, restartToResize: true }
const restarting: Host = { ...host, spec: { ...host.spec, storage } }
/** Pod 0 is older than the wait of its claims for a start. */
const waitingForStart = {
  ...emptyPicture,
  set: {},
  counts: readyCounts,
  claims: boundClaims(host).map((placed) => ({
    ...placed,
    claim: { ...placed.claim, startWantedMs: 2_000 },
  })),
  pods: new Map([[0, { ...podWith(host, {}), createdMs: 1_000 }]]),
}

test('while paused a pod that would be made anew for a file system to grow waits as well', async () => {
  const looked = { waiting: [] }
  const none = { ...plan, objects: [] }
  const paused = { ...quiet, picture: waitingForStart, plan: none, identity, looked, hold: null }
  assert.deepEqual(await waitingChanges(partsWith([]), restarting, paused, signal), [
    'Pod mainnet-host-0 made anew, to grow a file system',
  ])
  const hold = { reason: 'SecretMissing', message: 'no' }
  assert.deepEqual(await waitingChanges(partsWith([]), restarting, { ...paused, hold }, signal), [])
})

test('while paused nothing waits that something else would stop, but who goes with the resource', async () => {
  const looked = { waiting: ['Secret a created'] }
  const paused = { ...quiet, picture: waitingForStart, plan, identity, looked, hold: null }
  const told = async (more: Partial<PausedPlan>): Promise<string[]> =>
    await waitingChanges(partsWith([]), restarting, { ...paused, ...more }, signal)
  assert.ok((await told({})).length > 2)
  const problem = { reason: 'ChainMismatch', message: 'no' } as const
  assert.deepEqual(await told({ problem }), looked.waiting)
  const lack = { reason: 'SecretMissing', message: 'no' } as const
  assert.deepEqual(await told({ identity: { ...identity, lack } }), looked.waiting)
  const owned = { keyring: true, claims: boundClaims(host).slice(0, 1) }
  assert.deepEqual(await told({ problem, owners: owned }), [
    ...looked.waiting,
    'Secret mainnet-host-keyring to outlive the resource',
    'PersistentVolumeClaim keys-mainnet-host-0 to be deleted with the resource',
  ])
})
