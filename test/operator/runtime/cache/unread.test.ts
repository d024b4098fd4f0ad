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

/** Pods and Services of a namespace; of the pods that is the state. */
function followed(
  namespace: string | undefined,
  pods: 'read' | 'refused' | 'awaited' = 'read',
): Reflectors {
  const isSynced = pods === 'read'
  const isInitialized = pods !== 'awaited'
  const failure = pods === 'refused' ? refused : null
  const all = { namespace, isSynced: () => true, isInitialized: () => true, failure: () => null }
  return [
    { ...all, type: builtinTypes.Service },
    {
      namespace,
      type: builtinTypes.Pod,
      isSynced: () => isSynced,
      isInitialized: () => isInitialized,
      failure: () => failure,
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
  assert.equal(unreadProblem(all), 'not read yet: Pod in b')
  assert.equal(unreadRemark(all), null)
  assert.match(String(unreadFailure(all)), /pods have not been listed yet/)
})

test('a namespace that may not be read is remarked, and keeps nothing else from being ready', () => {
  const all = [...followed('a'), ...followed('b', 'refused')]
  assert.equal(unreadProblem(all), null)
  assert.equal(unreadRemark(all), 'nothing is done where something may not be read: Pod in b')
  assert.deepEqual(unreadNamespaces(all), [{ namespace: 'b', kinds: ['Pod'] }])
  assert.equal(unreadFailure(all), refused)
})

test('an operator that may not read something in any of its namespaces is not ready', () => {
  const both = [...followed('a', 'refused'), ...followed('b', 'refused')]
  assert.equal(unreadProblem(both), 'not read yet: Pod in a; Pod in b')
  assert.equal(unreadRemark(both), null)
  assert.equal(unreadProblem(followed(undefined, 'refused')), 'not read yet: Pod')
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
