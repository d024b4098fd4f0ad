import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import {
  placesOf,
  reportingReplicas,
  type SharedFailure,
  sharedFailures,
} from '../../../../operator/reconcile/observe/reporting-replicas.ts'

/** What a replica says that has these failures, each as its code and message. */
function saying(...failures: readonly [code: string, message: string][]): HealthView {
  const errors = failures.map(([code, message]) => ({ code, message, remedy: 'Do this.' }))
  return parseHealth(JSON.stringify({ program: 'host', errors })) ?? assert.fail('no report')
}

function shared(...views: readonly HealthView[]): SharedFailure[] {
  return sharedFailures(views.map((view, ordinal) => ({ ordinal, view })))
}

test('replicas that did not answer report nothing', () => {
  const view = saying()
  const views = new Map([
    [0, null],
    [2, view],
    [3, view],
  ])
  const reporting = reportingReplicas(views)
  assert.deepEqual(reporting, [
    { ordinal: 2, view },
    { ordinal: 3, view },
  ])
  assert.equal(placesOf(reporting), 'replica 2, 3')
})

test('a failure of several replicas is said in the words of the first, with all of them', () => {
  const found = shared(
    saying(['A', 'first.']),
    saying(['B', 'other.'], ['A', 'second.'], ['A', 'third.']),
  )
  assert.deepEqual(found, [
    {
      failure: { code: 'A', message: 'first.', remedy: 'Do this.' },
      text: 'first',
      ordinals: [0, 1],
    },
    { failure: { code: 'B', message: 'other.', remedy: 'Do this.' }, text: 'other', ordinals: [1] },
  ])
})

test('of one code a replica is quoted with three failures, and how many more there are', () => {
  const textOf = (count: number): string | undefined => {
    const failures = Array.from({ length: count }, (_, at): [string, string] => ['A', `${at}.`])
    return shared(saying(...failures))[0]?.text
  }
  assert.deepEqual([textOf(1), textOf(3)], ['0', '0; 1; 2'])
  assert.equal(textOf(5), '0; 1; 2; and 2 more')
})
