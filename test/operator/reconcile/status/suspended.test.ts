import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { suspendedStatement } from '../../../../operator/reconcile/status/suspended.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { podWith } from '../../support/operator-findings.ts'

const minimal = readHost('host-minimal')
const hostWith = (more: object): Host => ({ ...minimal, spec: { ...minimal.spec, ...more } })
const pods = new Map([[0, podWith(minimal, {})]])
const messageOf = (more: object, isStalled = false): string | undefined =>
  suspendedStatement(hostWith({ suspend: true, ...more }), pods, isStalled)?.message

test('nothing is said of a resource that is not suspended', () => {
  assert.equal(suspendedStatement(hostWith({}), pods, false), null)
  assert.equal(suspendedStatement(hostWith({ suspend: false }), new Map(), false), null)
})

test('pods of a suspended Host are named until they are gone, with what keeps them', () => {
  assert.equal(messageOf({}), 'Pods are being stopped: mainnet-host-0.')
  assert.equal(messageOf({ paused: true }), 'Pods go on while spec.paused is true: mainnet-host-0.')
  assert.equal(messageOf({}, true), 'Pods go on until what Stalled says is done: mainnet-host-0.')
  const gone = suspendedStatement(hostWith({ suspend: true }), new Map(), true)
  assert.equal(gone?.reason, 'PodsGone')
})
