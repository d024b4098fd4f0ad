/** What is followed in which namespaces, and on what there all that is reconciled depends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ClusterView,
  openClusterView,
} from '../../../../operator/reconcile/observe/cluster-view.ts'
import type { OpenReflector } from '../../../../operator/reconcile/observe/informer.ts'
import type { Reflector } from '../../../../operator/runtime/cache/reflector.ts'

/** A view of these namespaces, in which nothing is. */
function viewIn(namespaces: readonly string[] | null): ClusterView {
  const open: OpenReflector = ({ type, namespace, standsAlone = false }) =>
    ({ type, namespace, standsAlone, get: () => undefined }) as unknown as Reflector<never>
  return openClusterView(open, namespaces)
}

const kindsOf = (reflectors: readonly Reflector<unknown>[]): readonly string[] =>
  reflectors.map(({ type }) => type.kind)

test('each watched namespace is followed by itself, and what is in others is not known', () => {
  const { pods, reflectors } = viewIn(['apps', 'shop'])
  const followed = ['apps', 'shop', 'other'].map((namespace) => pods.reflectorOf(namespace))
  assert.deepEqual(
    followed.map((reflector) => reflector?.namespace),
    ['apps', 'shop', undefined],
  )
  assert.equal(followed[2], undefined)
  assert.equal(pods.get('other', 'a'), undefined)
  assert.equal(reflectors.length, 2 * viewIn(null).reflectors.length)
})

test('all namespaces together are followed at once', () => {
  const { pods } = viewIn(null)
  const reflector = pods.reflectorOf('any') ?? assert.fail()
  assert.equal(reflector.namespace, undefined)
  assert.equal(pods.reflectorOf('other'), reflector)
})

test('Views, and the Jobs that register them, are nothing that pods depend on', () => {
  const { reflectors, reflectorsOf } = viewIn(['apps'])
  const alone = ['Job', 'View']
  const kinds = kindsOf(reflectors)
  assert.deepEqual(
    kindsOf(reflectorsOf('apps')),
    kinds.filter((kind) => !alone.includes(kind)),
  )
  assert.ok(alone.every((kind) => kinds.includes(kind)))
  assert.deepEqual(reflectorsOf('other'), [])
})
