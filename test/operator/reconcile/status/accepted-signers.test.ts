import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { acceptedSigners } from '../../../../operator/reconcile/status/accepted-signers.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const identity = (digit: number): string => `02${String(digit).padStart(64, '0')}`
const signer = (digit: number, source: string) => ({ identity: identity(digit), source })

const saying = (...signers: readonly object[]): HealthView =>
  parseHealth(JSON.stringify({ program: 'host', signers })) ?? assert.fail('this is no report')

/** What status says of a Host that said `before`, and whose replicas say this. */
function said(
  before: Host['status'],
  ...views: readonly (HealthView | null | undefined)[]
): unknown {
  return acceptedSigners({ ...minimal, status: before ?? {} }, new Map(views.entries()))
    .acceptedSigners
}

test('every signer that a replica accepts is in status once, as the first replica has it', () => {
  const [first, second] = [
    saying(signer(3, 'file'), signer(1, 'setting')),
    saying({ ...signer(3, 'bootstrap'), peer: 'other' }, signer(2, 'file')),
  ]
  assert.deepEqual(said({}, first, null, second), [
    signer(1, 'setting'),
    signer(2, 'file'),
    signer(3, 'file'),
  ])
})

test('signers are in the order of their identities, whichever replica accepts them', () => {
  const views = [3, 1, 2].map((digit) => saying(signer(digit, 'file')))
  assert.deepEqual(
    said({}, ...views),
    [1, 2, 3].map((digit) => signer(digit, 'file')),
  )
})

test('what replicas said stays until all that run were asked, and while none answers', () => {
  const before = { acceptedSigners: [signer(1, 'file')] }
  const view = saying(signer(2, 'file'))
  assert.deepEqual(said(before, view, undefined), before.acceptedSigners)
  assert.deepEqual(said(before, null), before.acceptedSigners)
  assert.deepEqual(said(before), before.acceptedSigners)
  assert.deepEqual(said(before, view, null), [signer(2, 'file')])
  assert.equal(said(before, saying()), undefined)
})

test('a status has room for 64 of them', () => {
  const many = (count: number): object[] =>
    Array.from({ length: count }, (_, digit) => signer(digit, 'setting'))
  assert.deepEqual(said({}, saying(...many(64))), many(64))
  assert.deepEqual(said({}, saying(...many(65))), many(64))
})
