/** The table of codes, and what a Host or Generator of this version says, which it has to know. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ConditionDefinition,
  conditions as definitions,
} from '../../../../operator/api/conditions.ts'
import {
  observedCodes,
  observedRow,
  rowOf,
} from '../../../../operator/reconcile/evaluate/observed-codes.ts'
import { errorCodes } from '../../../../src/errors.ts'

const conditions: Readonly<Record<string, ConditionDefinition>> = definitions

test('every code leads to a reason that its condition has', () => {
  for (const [code, { condition, reason }] of Object.entries(observedCodes)) {
    assert.ok(conditions[condition]?.reasons[reason], code)
  }
})

test('every lasting failure of signers, peers and the schema of a Host has its condition', () => {
  const reported = Object.keys(errorCodes).filter((code) =>
    /^HOST_(?:SIGNER|SCHEMA|STANDS|TRUSTS|NO_|FORK|GENESIS|NETWORK)|_RUNS_TWICE$/.test(code),
  )
  assert.deepEqual(
    reported.filter((code) => observedRow(code) === undefined),
    [],
  )
})

test('a code that is not in the table leads nowhere, whatever it is called', () => {
  assert.equal(observedRow('HOST_OF_TOMORROW'), undefined)
  assert.equal(observedRow('constructor'), undefined)
  assert.equal(rowOf('HOST_NO_SIGNER', 'PeersConnected'), undefined)
})
