import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answerError,
  type Call,
  jsonPatchError,
  retryAfterOf,
  statusError,
} from '../../../../operator/runtime/client/api-error.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import { ServiceError } from '../../../../src/errors.ts'
import { status } from '../../support/kubernetes-server.ts'

const call: Call = { verb: 'patch', type: builtinTypes.ConfigMap, namespace: 'apps', name: 'a' }
const ofSecret: Call = { ...call, type: builtinTypes.Secret }

/** The error for this Status. */
const refusal = (body: object, retryAfter?: string): ServiceError =>
  statusError(call, body, retryAfter)

test('an answer without a Status has the code of its HTTP status, and the first of its words', () => {
  const codes = [
    [302, 'OPERATOR_API_FAILED'],
    [399, 'OPERATOR_API_FAILED'],
    [400, 'OPERATOR_API_REFUSED'],
    [401, 'OPERATOR_API_UNAUTHORIZED'],
    [429, 'OPERATOR_API_BUSY'],
    [499, 'OPERATOR_API_REFUSED'],
    [500, 'OPERATOR_API_FAILED'],
    [503, 'OPERATOR_API_FAILED'],
  ] as const
  for (const [code, expected] of codes) {
    const error = answerError(call, code, ' a proxy speaks\n')
    assert.deepEqual(
      [error.code, error.message],
      [expected, `patch configmaps apps/a: ${code} a proxy speaks`],
    )
  }
  const long = answerError(call, 500, 'x'.repeat(1_025))
  assert.equal(long.message, `patch configmaps apps/a: 500 ${'x'.repeat(1_024)}`)
  for (const text of ['{"message": "of another kind"}', 'null', '"text"'])
    assert.equal(answerError(call, 404, text).message, 'patch configmaps apps/a: 404')
})

test('the Status of an answer goes before the status of HTTP, and its reason stands in for words', () => {
  const text = JSON.stringify(status(409, 'AlreadyExists', ''))
  const error = answerError(call, 400, text)
  assert.equal(error.code, 'OPERATOR_API_EXISTS')
  assert.equal(error.message, 'patch configmaps apps/a: 409 AlreadyExists')
  const facts = { verb: 'patch', kind: 'ConfigMap', namespace: 'apps', name: 'a' }
  assert.deepEqual(error.facts, { ...facts, status: 409, reason: 'AlreadyExists' })
  assert.deepEqual(refusal({ code: 500, message: 7, reason: 8 }).facts, {
    ...facts,
    status: 500,
    reason: '',
  })
})

test('of a long message the first 1,024 characters are repeated', () => {
  const { message } = refusal({ code: 500, message: 'x'.repeat(1_025) })
  assert.equal(message, `patch configmaps apps/a: 500 ${'x'.repeat(1_024)}`)
})

test('a Status without a code is a failure of the API server', () => {
  const error = refusal({ message: 'odd' })
  assert.deepEqual(
    [error.code, error.message],
    ['OPERATOR_API_FAILED', 'patch configmaps apps/a: 0 odd'],
  )
})

test('what to do about a refusal depends on who refused: a role, a policy, or a quota', () => {
  const quota = 'exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2'
  const refusals = [
    [403, 'pods is forbidden: User "a" cannot create resource "pods" in', /^Give the role of/],
    [403, 'cannot set blockOwnerDeletion if an ownerReference refers to', /^Give the role of/],
    [403, '', /^Give the role of/],
    [403, 'violates PodSecurity "restricted:latest"', /^A policy of the cluster refuses it/],
    [403, `pods "a" is forbidden: ${quota}`, /^Raise the quota of the namespace/],
    [422, 'violates PodSecurity "restricted:latest"', /^Correct what the message names/],
    [500, 'it is broken', /^See the log of the API server/],
  ] as const
  for (const [code, message, remedy] of refusals)
    assert.match(refusal({ code, message }).remedy ?? '', remedy, message)
})

test('a call is named with all that it is about', () => {
  const ofStatus: Call = { ...call, verb: 'apply', subresource: 'status' }
  const all: Call = { verb: 'list', type: builtinTypes.Pod }
  assert.equal(statusError(ofStatus, { code: 500 }).message, 'apply configmaps/status apps/a: 500')
  const error = statusError(all, { code: 500 })
  assert.equal(error.message, 'list pods: 500')
  assert.deepEqual(error.facts, { verb: 'list', kind: 'Pod', status: 500, reason: '' })
})

test('the pause that is asked for is that of the header, else of the Status, in milliseconds', () => {
  const body = { code: 429, details: { retryAfterSeconds: 3 } }
  const pauses = [
    [refusal(body, '7'), 7_000],
    [refusal(body, '0'), 0],
    [refusal(body), 3_000],
    [refusal(body, 'Wed, 21 Oct 2026 07:28:00 GMT'), undefined],
    [refusal(body, '-1'), undefined],
    [refusal({ code: 429 }), undefined],
    [new Error('no answer'), undefined],
  ] as const
  for (const [error, pauseMs] of pauses) assert.equal(retryAfterOf(error), pauseMs)
})

test('of a Secret nothing is repeated but the reason, the fields, and what a quota says', () => {
  const causes = [{ field: 'data.x', message: 'c2VjcmV0' }, { message: 'c2VjcmV0' }]
  const invalid = statusError(ofSecret, { code: 422, reason: 'Invalid', details: { causes } })
  assert.equal(invalid.message, 'patch secrets apps/a: 422 Invalid')
  assert.equal(invalid.facts['fields'], 'data.x')
  const quota =
    'exceeded quota: few, requested: count/secrets=1,requests.storage=1Gi, used: count/secrets=2, limited: count/secrets=2'
  const said = `secrets "c2VjcmV0" is forbidden: ${quota} c2VjcmV0`
  const full = statusError(ofSecret, { code: 403, reason: 'Forbidden', message: said })
  assert.equal(full.message, `patch secrets apps/a: 403 ${quota}`)
  assert.equal(full.remedy, 'Raise the quota of the namespace, or free something.')
  const cut = { code: 403, reason: 'Forbidden', message: 'exceeded quota: few, requested: a=1' }
  assert.equal(statusError(ofSecret, cut).message, 'patch secrets apps/a: 403 Forbidden')
})

test('all fields that a refusal names are facts of it', () => {
  const fields = (causes: unknown): unknown =>
    statusError(call, { code: 409, details: { causes } } as object).facts['fields']
  assert.equal(
    fields([{ field: '.data.x' }, { field: '' }, {}, { field: '.data.y' }]),
    '.data.x, .data.y',
  )
  assert.equal(fields([{ message: 'no field' }]), undefined)
  assert.equal(fields('none'), undefined)
})

test('of a JSON patch, only what is invalid and names no field is a conflict', () => {
  const unfit = refusal({ code: 422, reason: 'Invalid', message: 'it does not fit' })
  const conflict = jsonPatchError(unfit)
  assert.ok(conflict instanceof ServiceError)
  assert.deepEqual(
    [conflict.code, conflict.facts, conflict.cause],
    ['OPERATOR_API_CONFLICT', unfit.facts, unfit],
  )
  const details = { causes: [{ field: 'spec' }] }
  for (const other of [refusal({ code: 422, details }), refusal({ code: 403 }), new Error('no')])
    assert.equal(jsonPatchError(other), other)
})
