import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseOutcome } from '../../../../operator/reconcile/fetch/registration-outcome.ts'
import { registrationTerms } from '../../../../src/service/contract.ts'

const terms = {
  kind: registrationTerms,
  creator: `0x${'a'.repeat(40)}`,
  chainId: 5,
  transaction: {
    hash: `0x${'b'.repeat(64)}`,
    ...{ nonce: 1, gas: '2', maxFeePerGas: '3', maxPriorityFeePerGas: '4' },
  },
}

test('whatever a container says is one outcome, of bounded texts', () => {
  const said = fc.oneof(
    fc.string({ maxLength: 4_096, size: 'max' }),
    fc.json(),
    fc
      .record({
        error: fc.record({
          code: fc.string(),
          message: fc.string({ maxLength: 4_096, size: 'max' }),
        }),
      })
      .map((value) => JSON.stringify(value)),
  )
  fc.assert(
    fc.property(said, (text) => {
      const { prepared, registered, failure } = parseOutcome(text)
      assert.equal([prepared, registered, failure].filter((one) => one !== null).length, 1)
      assert.ok((failure?.message.length ?? 0) <= 500)
    }),
  )
})

test('terms with any field of another shape are none', () => {
  assert.ok(parseOutcome(JSON.stringify(terms)).prepared)
  const { transaction } = terms
  const wrong = [
    { ...terms, creator: `${terms.creator}00` },
    { ...terms, kind: 'viewmesh/registration-terms/2' },
    { ...terms, chainId: 0 },
    { ...terms, chainId: -1 },
    { ...terms, transaction: undefined },
    { ...terms, transaction: { ...transaction, hash: '0x' } },
    { ...terms, transaction: { ...transaction, nonce: 1.5 } },
    { ...terms, transaction: { ...transaction, gas: 2 } },
    { ...terms, transaction: { ...transaction, maxFeePerGas: '-3' } },
    { ...terms, transaction: { ...transaction, maxPriorityFeePerGas: '9'.repeat(31) } },
  ]
  for (const one of wrong) assert.equal(parseOutcome(JSON.stringify(one)).prepared, null)
})

test('an end is one of registration terms, or none', () => {
  const { hash } = terms.transaction
  const ended = { kind: registrationTerms, height: 12, transaction: hash, gasUsed: '90000' }
  const { kind, ...registered } = ended
  assert.deepEqual(parseOutcome(JSON.stringify(ended)).registered, registered)
  const foreign = parseOutcome(JSON.stringify({ ...ended, transaction: 'none' })).registered
  assert.deepEqual(foreign, { ...registered, transaction: null })
  assert.equal(parseOutcome(JSON.stringify({ ...ended, kind: undefined })).registered, null)
})
