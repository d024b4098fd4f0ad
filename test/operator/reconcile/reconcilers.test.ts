/** What the reconciles of all kinds share, as the operator opens it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewKind, workloadKinds } from '../../../operator/api/resource-kinds.ts'
import type { Resource } from '../../../operator/api.ts'
import {
  type ClusterView,
  openClusterView,
} from '../../../operator/reconcile/observe/cluster-view.ts'
import { openReconcilers, type Reconcilers } from '../../../operator/reconcile/reconcilers.ts'
import { selectorLabels } from '../../../operator/resources/names/metadata.ts'
import { openReflector, type Reflector } from '../../../operator/runtime/cache/reflector.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes, objectPath } from '../../../operator/runtime/client/resource-type.ts'
import { createStatusWriter } from '../../../operator/runtime/status-writer.ts'
import { hostContext, readGenerator, readHost } from '../../support/resources/operator-cases.ts'
import { lensDefinition, plainDefinition, viewWith } from '../../support/resources/view-cases.ts'
import { kubernetesRoom } from '../support/kubernetes-room.ts'

const room = kubernetesRoom()
const host = readHost('host-minimal')
const { namespace } = host.metadata
const view = viewWith('senders', { definition: plainDefinition }, namespace)
const minimal = readGenerator('generator-url')
const generator = { ...minimal, metadata: { ...minimal.metadata, namespace } }
/** Where nothing answers at /health, which is an answer as well. */
const pod = {
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name: 'mainnet-host-0', namespace, uid: 'pod', labels: selectorLabels(host) },
  status: { phase: 'Running', podIP: '127.0.0.1' },
}
const types = { ...workloadKinds, ...builtinTypes, View: viewKind }

/** Follows a cluster in which these objects are. */
async function follow(
  objects: readonly object[],
): Promise<{ readonly cluster: ClusterView; readonly reflectors: readonly Reflector<unknown>[] }> {
  for (const object of objects as readonly KubernetesObject[]) {
    const { name = '' } = object.metadata ?? {}
    const type = types[object.kind as keyof typeof types]
    room.server.put(objectPath({ type, namespace, name }), object)
  }
  const reflectors: Reflector<unknown>[] = []
  const cluster = openClusterView((options) => {
    const reflector = openReflector(options, { ...room.client, log: room.client.log.log })
    reflectors.push(reflector)
    return reflector
  }, null)
  const { signal } = new AbortController()
  await Promise.all(reflectors.map((reflector) => reflector.initialized(signal)))
  return { cluster, reflectors }
}

/** Runs with the reconcilers of a cluster in which these objects are, and closes them. */
async function withReconcilers(
  objects: readonly object[],
  run: (reconcilers: Reconcilers) => Promise<void>,
): Promise<void> {
  const { cluster, reflectors } = await follow(objects)
  const { api, log } = room.client
  const { clusterDomain, defaults } = hostContext
  const reconcilers = openReconcilers(
    { self: 'viewmesh/operator', resyncMs: 1, clusterDomain, defaults },
    {
      api,
      view: cluster,
      status: createStatusWriter({ fieldManager: 'tester' }, { api }),
      events: { record: () => undefined, close: async () => undefined },
      log: log.log,
    },
  )
  try {
    await run(reconcilers)
  } finally {
    await reconcilers.close()
    await Promise.all(reflectors.map((reflector) => reflector.close()))
  }
}

const reconcile = (
  reconcilers: Reconcilers,
  { kind, metadata: { name } }: Resource,
): ReturnType<Reconcilers['reconcile']['Host']> => {
  const run = { signal: new AbortController().signal, log: room.client.log.log }
  return reconcilers.reconcile[kind](`${namespace}/${name}`, run)
}

test('what a replica says first has its Host reconciled, and the Views that select that', async () => {
  await withReconcilers([host, view, pod], async (reconcilers) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const added = new Set<string>()
    const of = (kind: string) => ({
      add: (key: string, urgency: string) => {
        added.add(`${kind} ${key} ${urgency}`)
        if (added.has(`View ${namespace}/senders owned`)) resolve()
      },
    })
    reconcilers.startWatches({ Generator: of('Generator'), Host: of('Host'), View: of('View') })
    // What is written now has nothing reconciled.
    room.server.freezeWatches()
    added.clear()
    await reconcile(reconcilers, host)
    await promise
    assert.ok(added.has(`Host ${namespace}/mainnet owned`))
  })
})

test('resources of all kinds take turns with each other', async () => {
  await withReconcilers([host, view, generator], async (reconcilers) => {
    const { requeueAfterMs } = await reconcile(reconcilers, view)
    assert.equal(requeueAfterMs, 1_200)
  })
})

/** Resources that wait: a Host for its Secret, a View for its lens. */
const waiting: readonly ((name: string) => Resource)[] = [
  (name) => ({
    ...host,
    metadata: { ...host.metadata, name, uid: name },
    spec: { ...host.spec, identity: { ...host.spec.identity, secretRef: { name: 'missing' } } },
  }),
  (name) => viewWith(name, { definition: lensDefinition }, namespace),
]
for (const named of waiting) {
  const [first, second] = [named('first'), named('second')]
  test(`a deleted ${first.kind} that waited for something takes the turn of no other`, async () => {
    await withReconcilers([first, second], async (reconcilers) => {
      await reconcile(reconcilers, first)
      assert.equal((await reconcile(reconcilers, second)).requeueAfterMs, 800)
      const { promise, resolve } = Promise.withResolvers<void>()
      let isDeleted = false
      const add = (key: string): void => {
        if (isDeleted && key === `${namespace}/first`) resolve()
      }
      reconcilers.startWatches({ Generator: { add }, Host: { add }, View: { add } })
      isDeleted = true
      room.server.remove(
        objectPath({ type: types[first.kind], namespace, name: first.metadata.name }),
      )
      await promise
      await reconcile(reconcilers, first)
      assert.equal((await reconcile(reconcilers, second)).requeueAfterMs, 400)
    })
  })
}
