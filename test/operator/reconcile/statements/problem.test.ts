import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import {
  isPassing,
  problemOf,
  problemOfSpec,
} from '../../../../operator/reconcile/statements/problem.ts'
import { ServiceError } from '../../../../src/errors.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { refusedApply } from '../../support/operator-findings.ts'

test('what only a person can mend stalls, with a reason of its own', () => {
  const cases: readonly (readonly [number, string, string])[] = [
    [403, 'statefulsets.apps is forbidden: User "op" cannot patch resource', 'Forbidden'],
    [403, 'exceeded quota: none, requested: pods=1', 'QuotaExceeded'],
    [422, 'updates to statefulset spec for fields other than replicas', 'ImmutableFieldChange'],
    [422, 'spec.loadBalancerClass: may not change once set', 'ImmutableFieldChange'],
    [422, 'spec.template.spec.containers[0].image: Required value', 'InvalidSpec'],
    [400, 'strict decoding error: unknown field "spec.foo"', 'InvalidSpec'],
    [500, 'failed to create typed patch object: .spec.foo: field not declared', 'InvalidSpec'],
  ]
  for (const [code, message, reason] of cases) {
    const problem = problemOf(refusedApply(code, message))
    assert.equal(problem?.reason, reason, message)
    assert.ok(problem.message.includes(message))
  }
})

test('what a role does not allow is reported with another remedy than what a policy refuses', () => {
  const role =
    /Give the role of the operator this verb on this kind; its chart has the whole list\.$/
  const policy =
    /\. A policy of the cluster refuses it, whatever the role of the operator is: correct in the spec, /
  const cases: readonly (readonly [string, RegExp])[] = [
    ['statefulsets.apps "a" is forbidden: User "op" cannot patch resource "statefulsets"', role],
    ['a is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to it', role],
    ['', role],
    ['admission webhook "validation.gatekeeper.sh" denied the request: no limits.', policy],
    [
      'statefulsets.apps "a" is forbidden: ValidatingAdmissionPolicy \'p\' denied request: x',
      policy,
    ],
    ['pods "a-0" is forbidden: violates PodSecurity "restricted:latest": hostNetwork', policy],
  ]
  for (const [message, remedy] of cases) {
    const problem = problemOf(refusedApply(403, message, 'Forbidden'))
    assert.equal(problem?.reason, 'Forbidden')
    assert.match(problem.message, remedy)
    assert.doesNotMatch(problem.message, /\.\./)
  }
})

test('a quantity that the API server refuses is named by its place in podTemplate', () => {
  const words =
    "failed to convert new object (apps/a; apps/v1, Kind=StatefulSet) to proper version: unable to convert unstructured object to apps/v1, Kind=StatefulSet: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const host = readHost('host-minimal')
  const withMemory = (memory: string): Host => {
    const containers = [{ name: 'host', resources: { limits: { cpu: 1, memory } } }]
    return { ...host, spec: { ...host.spec, podTemplate: { spec: { containers } } } }
  }
  const wrong = withMemory('2 Gi')
  assert.deepEqual(problemOfSpec(wrong, refusedApply(500, words)), {
    reason: 'InvalidSpec',
    message:
      'Not a quantity, such as 500m or 2Gi: spec.podTemplate.spec.containers[host].resources.limits.memory is "2 Gi". Correct it in the spec.',
  })
  const long = problemOfSpec(withMemory(`2 ${'G'.repeat(99)}`), refusedApply(500, words))
  assert.match(long?.message ?? '', / is "2 G{61}\. Correct it/)
  assert.match(problemOfSpec(host, refusedApply(500, words))?.message ?? '', /regular expression/)
  const other = problemOfSpec(wrong, refusedApply(422, 'image: Required value'))
  assert.match(other?.message ?? '', /image: Required value/)
})

test('what passes by itself does not', () => {
  for (const code of [409, 429, 500, 503, 504]) {
    assert.equal(problemOf(refusedApply(code, 'try again')), null)
  }
  assert.equal(problemOf(new Error('a mistake of ours')), null)
})

test('a namespace that is terminating is no problem of anybody', () => {
  const error = refusedApply(
    403,
    'unable to create new content in namespace a because it is being terminated',
  )
  assert.equal(problemOf(error), null)
  assert.equal(isPassing(error), true)
  assert.equal(isPassing(new ServiceError('OPERATOR_TERMINATING', 'it is still there')), true)
  assert.equal(isPassing(refusedApply(500, 'try again')), false)
  assert.equal(isPassing(new Error('a mistake of ours')), false)
})
