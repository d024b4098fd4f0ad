import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labels } from '../../../../operator/api/annotations.ts'
import type { ViewResource } from '../../../../operator/api.ts'
import {
  askedViews,
  currentParts,
  isForeign,
  placedViews,
  storedView,
} from '../../../../operator/reconcile/evaluate/host-views.ts'
import { selectedHosts } from '../../../../operator/reconcile/evaluate/view-situations.ts'
import { viewConfigName, viewPartName } from '../../../../operator/resources/names/names.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../../support/resources/view-cases.ts'
import { viewOf } from '../../support/operator-view.ts'

const minimal = readHost('host-minimal')
const { namespace } = minimal.metadata
const host = { ...minimal, metadata: { ...minimal.metadata, uid: 'uid-of-host' } }
const idOf = (digit: string): string => `0x${digit.repeat(64)}`

interface Changes {
  readonly created?: string
  readonly deleted?: string
  readonly paused?: boolean
  readonly registryID?: string
  readonly viewID?: string
  readonly query?: string
}

/** A View that selects every Host of the namespace. */
function viewNamed(name: string, changes: Changes = {}): ViewResource {
  const { created, deleted, registryID, viewID, paused = false, query } = changes
  const definition = { ...plainDefinition, ...(query && { query }) }
  const view = viewWith(
    name,
    { paused, ...(registryID === undefined ? { definition } : { registryID }) },
    namespace,
  )
  const metadata = {
    ...view.metadata,
    ...(created && { creationTimestamp: created }),
    ...(deleted && { deletionTimestamp: deleted }),
  }
  return { ...view, metadata, ...(viewID && { status: { viewID } }) } as ViewResource
}

/** A ConfigMap with these files that this resource owns. */
function mapOf(name: string, owner: string, files: readonly string[]): KubernetesObject {
  const map = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: {
      ...{ name, namespace },
      labels: { [labels.partOf]: 'viewmesh', [labels.managedBy]: 'viewmesh-operator' },
      ownerReferences: [{ uid: owner }],
    },
    binaryData: Object.fromEntries(files.map((file) => [file, `bytes of ${file}`])),
  }
  return map as unknown as KubernetesObject
}

const keeping = (view: ViewResource, ...files: string[]): KubernetesObject =>
  mapOf(viewConfigName(view), view.metadata.uid, files)
const fileOf = (digit: string): string => `${idOf(digit)}.view`
const clusterOf = (...objects: object[]) => viewOf(objects as KubernetesObject[])

test('a Host is asked for its Views by the ID of each, the oldest View first', () => {
  const cluster = clusterOf(
    viewNamed('young', { created: '2026-03-01T00:00:00Z', viewID: idOf('3') }),
    viewNamed('old', { created: '2026-01-01T00:00:00Z', viewID: idOf('1') }),
    viewNamed('b', { created: '2026-02-01T00:00:00Z', registryID: idOf('4') }),
    viewNamed('a', { created: '2026-02-01T00:00:00Z', viewID: idOf('2') }),
    viewNamed('new', { created: '2026-04-01T00:00:00Z' }),
    viewNamed('gone', { viewID: idOf('5'), deleted: '2026-05-01T00:00:00Z' }),
  )
  assert.deepEqual(askedViews(cluster, host), ['1', '2', '4', '3'].map(idOf))
})

test('a View is on the Hosts of its namespace that are not deleted, by name', () => {
  const named = (name: string, more: object = {}) => ({
    ...host,
    metadata: { ...host.metadata, name, ...more },
  })
  const cluster = clusterOf(
    named('b'),
    named('a'),
    named('c', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    named('d', { namespace: 'elsewhere' }),
  )
  const names = selectedHosts(cluster, viewNamed('x')).map(({ metadata: { name } }) => name)
  assert.deepEqual(names, ['a', 'b'])
})

test('the file of a View is in a ConfigMap that is its own, whatever others wrote beside it', () => {
  const view = viewNamed('x', { viewID: idOf('2') })
  const stored = (object: KubernetesObject) => {
    const found = storedView(clusterOf(object), view)
    if (found !== null) assert.equal(found.bytes, `bytes of ${found.name}`)
    return found?.name ?? found
  }
  assert.equal(stored(keeping(view, fileOf('2'))), fileOf('2'))
  assert.equal(stored(keeping(view, fileOf('1'), fileOf('2'))), fileOf('2'))
  assert.equal(stored(keeping(view, 'note', fileOf('1'))), fileOf('1'))
  assert.equal(stored(keeping(view, 'note')), null)
  assert.equal(stored(mapOf(viewConfigName(view), 'another', [fileOf('2')])), null)
  assert.equal(storedView(clusterOf(), view), null)
})

test('a Host has the Views that select it and are of its chain', () => {
  const own = viewNamed('own', { viewID: idOf('1') })
  const foreign = viewNamed('foreign', {
    viewID: idOf('2'),
    query: 'Arbitrum__One__Log { address }',
  })
  const { parts, left } = placedViews(
    clusterOf(own, foreign, keeping(own, fileOf('1')), keeping(foreign, fileOf('2'))),
    host,
  )
  assert.deepEqual(left, [])
  assert.deepEqual(
    parts.map((part) => Object.keys(part ?? {})).filter((files) => files.length > 0),
    [[fileOf('1')]],
  )
})

test('a View that is to be registered is on Hosts once its ID is that of its file', () => {
  const view = viewNamed('x', { viewID: idOf('1') })
  const registered = { ...view, spec: { ...view.spec, registration } }
  const filesOf = (of: ViewResource, file: string): string[] =>
    placedViews(clusterOf(of, keeping(of, file)), host).parts.flatMap((part) =>
      Object.keys(part ?? {}),
    )
  assert.deepEqual(filesOf(registered, fileOf('1')), [fileOf('1')])
  assert.deepEqual(filesOf(registered, fileOf('2')), [])
  assert.deepEqual(filesOf(view, fileOf('2')), [fileOf('2')])
})

test('a Host keeps a View that it has while the View is paused or its ConfigMap missing', () => {
  const filesWith = (changes: Changes, ...more: KubernetesObject[]): string[] => {
    const view = viewNamed('x', { viewID: idOf('1'), ...changes })
    const { parts } = placedViews(clusterOf(view, ...more), host)
    return parts.flatMap((part) => Object.keys(part ?? {}))
  }
  const part = mapOf(viewPartName(host, 0), host.metadata.uid, [fileOf('1')])
  assert.deepEqual(filesWith({}, part), [fileOf('1')])
  assert.deepEqual(filesWith({ paused: true }, part), [fileOf('1')])
  const second = mapOf(viewPartName(host, 1), host.metadata.uid, [fileOf('1')])
  const first = mapOf(viewPartName(host, 0), host.metadata.uid, [])
  assert.deepEqual(filesWith({ paused: true }, first, second), [fileOf('1')])
  const newer = keeping(viewNamed('x'), fileOf('2'))
  assert.deepEqual(filesWith({ paused: true }, part, newer), [fileOf('1')])
  assert.deepEqual(filesWith({ paused: true }, newer), [])
  assert.deepEqual(filesWith({}, part, newer), [fileOf('2')])
  const stranger = mapOf(viewPartName(host, 0), 'another', [fileOf('1')])
  assert.deepEqual(filesWith({}, stranger), [])
})

test('a ConfigMap of a Host is known as empty where it has no files, and others as missing', () => {
  const { binaryData: _, ...empty } = mapOf(viewPartName(host, 0), host.metadata.uid, []) as {
    readonly binaryData?: unknown
  }
  const [first, ...others] = currentParts(clusterOf(empty), host)
  assert.deepEqual(first, {})
  assert.deepEqual(new Set(others), new Set([null]))
})

test('a View is of another chain by its collection alone; one that is not valid is of none', () => {
  assert.equal(isForeign(viewNamed('x', { query: 'Arbitrum__One__Log { address }' }), host), true)
  assert.equal(isForeign(viewNamed('x', { query: 'Ethereum__Mainnet__Log { data }' }), host), false)
  assert.equal(isForeign(viewNamed('x', { query: '{' }), host), false)
  assert.equal(isForeign(viewNamed('x', { registryID: idOf('1') }), host), false)
})
