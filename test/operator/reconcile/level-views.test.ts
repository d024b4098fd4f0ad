import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labels } from '../../../operator/api/annotations.ts'
import type { ViewResource } from '../../../operator/api.ts'
import { placedViews } from '../../../operator/reconcile/evaluate/host-views.ts'
import { createHostPlaces } from '../../../operator/reconcile/level-views.ts'
import type { ClusterView } from '../../../operator/reconcile/observe/cluster-view.ts'
import { viewConfigName, viewPartName } from '../../../operator/resources/names/names.ts'
import { maxPartBytes, maxViewParts } from '../../../operator/resources/pod/placed-views.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { ServiceError } from '../../../src/errors.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../support/resources/view-cases.ts'
import { viewOf } from '../support/operator-view.ts'

const minimal = readHost('host-minimal')
const { namespace } = minimal.metadata
const host = { ...minimal, metadata: { ...minimal.metadata, uid: 'uid-of-host' } }
const count = 50
const nobody = (): void => undefined
const fileOf = (number: number): string => `0x${String(number).padStart(64, '0')}.view`

function mapOf(
  name: string,
  owner: string,
  files: readonly string[],
  bytes = 'AAAA',
): KubernetesObject {
  const map = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: {
      ...{ name, namespace, uid: `uid-of-${name}` },
      labels: { [labels.partOf]: 'viewmesh', [labels.managedBy]: 'viewmesh-operator' },
      ownerReferences: [{ uid: owner }],
    },
    binaryData: Object.fromEntries(files.map((file) => [file, bytes])),
  }
  return map as unknown as KubernetesObject
}

const views = Array.from({ length: count }, (_, number): ViewResource => {
  const view = viewWith(`view${number}`, { definition: plainDefinition }, namespace)
  return { ...view, status: { viewID: fileOf(number).replace('.view', '') } }
})
const kept = views.map((view, number) =>
  mapOf(viewConfigName(view), view.metadata.uid, [fileOf(number)]),
)
/** The same with files of which one fills a part. */
const large = views.map((view, number) =>
  mapOf(viewConfigName(view), view.metadata.uid, [fileOf(number)], 'AAAA'.repeat(maxPartBytes / 3)),
)
const part = mapOf(
  viewPartName(host, 0),
  host.metadata.uid,
  views.map((_, number) => fileOf(number)),
)

/** A cluster that notes of which ConfigMaps the bytes are unpacked; each one is at its version. */
function watched(objects: readonly KubernetesObject[], versions: ReadonlyMap<string, string>) {
  const cluster = viewOf(objects)
  const unpacked: string[] = []
  const { ConfigMap } = cluster.children
  const get: typeof ConfigMap.get = (inNamespace, name) => {
    const found = ConfigMap.get(inNamespace, name)
    if (found === undefined) return undefined
    const { packed, ...rest } = found.value.value
    const value = {
      ...rest,
      get packed() {
        unpacked.push(name)
        return packed
      },
    }
    const resourceVersion = versions.get(name) ?? '1'
    return { ...found, resourceVersion, value: { ...found.value, value } }
  }
  const children = { ...cluster.children, ConfigMap: { ...ConfigMap, get } }
  return { cluster: { ...cluster, children } satisfies ClusterView, unpacked }
}

test('Views that lie where they have to are unpacked once, and again when one of them changes', () => {
  const versions = new Map<string, string>()
  const { cluster, unpacked } = watched([host, ...views, ...kept, part] as never, versions)
  const { placed } = createHostPlaces(cluster, nobody)
  const first = placed(host)
  assert.ok(unpacked.length > count)
  unpacked.length = 0
  assert.deepEqual(placed(host), first)
  assert.deepEqual(unpacked, [viewPartName(host, 0)])
  versions.set('view7-view', '2')
  unpacked.length = 0
  assert.deepEqual(placed(host), first)
  assert.ok(unpacked.includes('view7-view'))
  versions.set(viewPartName(host, 0), '2')
  unpacked.length = 0
  placed(host)
  assert.ok(unpacked.includes('view7-view'))
})

test('Views that have to be written are placed at every reconcile until they are', () => {
  const { cluster, unpacked } = watched([host, ...views, ...kept] as never, new Map())
  const { placed } = createHostPlaces(cluster, nobody)
  const wanted = placedViews(cluster, host)
  assert.equal(Object.keys(wanted.parts[0] ?? {}).length, count)
  for (let turn = 0; turn < 2; turn += 1) {
    unpacked.length = 0
    assert.deepEqual(placed(host), wanted)
    assert.equal(unpacked.length, count)
  }
})

test('a View that is to be registered, is paused, or gets another ID, is placed again', () => {
  const { cluster, unpacked } = watched([host, ...views, ...kept, part] as never, new Map())
  const { placed } = createHostPlaces(cluster, nobody)
  placed(host)
  const [{ value: view } = assert.fail('there is no View')] = cluster.resources.View.list()
  for (const change of [
    () => Object.assign(view, { spec: { ...view.spec, registration } }),
    () => Object.assign(view, { spec: { ...view.spec, paused: true } }),
    () => Object.assign(view, { status: { viewID: fileOf(99).replace('.view', '') } }),
  ]) {
    change()
    unpacked.length = 0
    placed(host)
    assert.ok(unpacked.length > 1)
  }
})

test('which Views have no room is known once the Host was checked, and a change is reported', () => {
  const parts = [host, ...views, ...large] as never
  const reported: string[] = []
  const { placed, isLeft } = createHostPlaces(viewOf(parts), ({ metadata: { name } }) => {
    reported.push(name)
  })
  const lacking = (): number => views.filter((_, number) => isLeft(host, fileOf(number))).length
  assert.equal(lacking(), 0)
  for (let turn = 0; turn < 2; turn += 1) placed(host)
  assert.equal(lacking(), count - maxViewParts)
  assert.deepEqual(reported, [host.metadata.name])
  placed({ ...host, metadata: { ...host.metadata, name: 'another', uid: 'another' } })
  assert.equal(lacking(), count - maxViewParts, 'Hosts are known one by one')
  assert.deepEqual(reported, [host.metadata.name, 'another'])
})

test('nothing is reported of a Host that has room for all its Views', () => {
  const { placed } = createHostPlaces(viewOf([host, ...views, ...kept] as never), () =>
    assert.fail('there is room'),
  )
  assert.deepEqual(placed(host).left, [])
})

/** The cluster, whose Views cannot be read while there is such a failure. */
function failing(cluster: ClusterView, failureOf: () => ServiceError | null): ClusterView {
  const { View } = cluster.resources
  const reflectorOf: typeof View.reflectorOf = (within) => {
    const reflector = View.reflectorOf(within)
    return reflector && { ...reflector, unread: failureOf }
  }
  return { ...cluster, resources: { ...cluster.resources, View: { ...View, reflectorOf } } }
}

test('Views that could not be read for a while are placed as soon as they can be', () => {
  const cluster = viewOf([host, ...views, ...kept] as never)
  let failure: ServiceError | null = new ServiceError('OPERATOR_API_FORBIDDEN', 'no list')
  const { placed } = createHostPlaces(
    failing(cluster, () => failure),
    nobody,
  )
  assert.deepEqual(new Set(placed(host).parts), new Set([null]))
  failure = null
  assert.deepEqual(placed(host), placedViews(cluster, host))
})

test('while Views cannot be read none of them is said to have no room', () => {
  let failure: ServiceError | null = null
  const cluster = failing(viewOf([host, ...views, ...large] as never), () => failure)
  const { placed, isLeft } = createHostPlaces(cluster, nobody)
  const [left = ''] = placed(host).left
  assert.equal(isLeft(host, left), true)
  failure = new ServiceError('OPERATOR_API_FORBIDDEN', 'no list')
  assert.deepEqual(placed(host).left, [])
  assert.equal(isLeft(host, left), false)
})
