import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import {
  declareUnread,
  unreadFailure,
  unreadNamespaces,
  unreadProblem,
  unreadRemark,
} from '../../../../operator/runtime/cache/unread.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { ServiceError } from '../../../../src/errors.ts'

type Reflectors = Parameters<typeof unreadProblem>[0]

const refused = new ServiceError('OPERATOR_API_FORBIDDEN', 'list pods b: 403', { remedy: '' })

const awaited = new ServiceError('OPERATOR_API_UNREACHABLE', 'not listed', { remedy: '' })

/** Pods and Services of a namespace; of the pods that is the state. */
function followed(
  namespace: string | undefined,
  pods: 'read' | 'refused' | 'awaited' = 'read',
): Reflectors {
  const failures = { read: null, refused, awaited }
  const all = { namespace, standsAlone: false, isInitialized: () => true, unread: () => null }
  return [
    { ...all, type: builtinTypes.Service },
    {
      ...all,
      type: builtinTypes.Pod,
      isInitialized: () => pods !== 'awaited',
      unread: () => failures[pods],
    },
  ]
}

test('an operator that has read everything is ready, and has nothing to remark', () => {
  const all = [...followed('a'), ...followed('b')]
  assert.deepEqual(unreadNamespaces(all), [])
  assert.deepEqual([unreadProblem(all), unreadRemark(all), unreadFailure(all)], [null, null, null])
})

test('an operator that is not connected, or still reads, is not ready', () => {
  assert.equal(unreadProblem([]), 'not connected yet')
  const all = [...followed('a'), ...followed('b', 'awaited')]
  assert.equal(unreadProblem(all), 'not read: Pod in b')
  assert.equal(unreadRemark(all), null)
  assert.equal(unreadFailure(all), awaited)
})

test('a namespace that cannot be read is remarked, and keeps nothing else from being ready', () => {
  const all = [...followed('a'), ...followed('b', 'refused')]
  assert.equal(unreadProblem(all), null)
  assert.equal(
    unreadRemark(all),
    'nothing is done with what cannot be read, or depends on it: Pod in b',
  )
  assert.deepEqual(unreadNamespaces(all), [{ namespace: 'b', kinds: ['Pod'] }])
  assert.equal(unreadFailure(all), refused)
})

test('an operator that cannot read something in any of its namespaces is not ready', () => {
  const both = [...followed('a', 'refused'), ...followed('b', 'refused')]
  assert.equal(unreadProblem(both), 'not read: Pod in a; Pod in b')
  assert.equal(unreadRemark(both), null)
  assert.equal(unreadProblem(followed(undefined, 'refused')), 'not read: Pod')
})

test('a kind that stands alone is remarked, and keeps the operator from nothing else', () => {
  const [service, pod] = followed(undefined, 'refused')
  assert.ok(service && pod)
  const all = [service, { ...pod, standsAlone: true }]
  assert.equal(unreadProblem(all), null)
  assert.equal(unreadRemark(all), 'nothing is done with what cannot be read, or depends on it: Pod')
  assert.match(unreadProblem([{ ...service, isInitialized: () => false }]) ?? '', /^not read/)
})

test('how much of which namespace is not read is a metric, and none where all of it is', async () => {
  let all = [...followed('a'), ...followed('b', 'refused')]
  const registry = new Registry()
  declareUnread(registry, () => all)
  const lines = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('viewmesh_'))
  assert.deepEqual(await lines(), ['viewmesh_operator_unread_kinds{watched="b"} 1'])
  all = followed(undefined, 'refused').slice()
  assert.deepEqual(await lines(), ['viewmesh_operator_unread_kinds{watched=""} 1'])
  all = followed('a').slice()
  assert.deepEqual(await lines(), [])
})
