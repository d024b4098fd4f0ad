/** What becomes of a transaction whose nonce is taken is said only after its receipt and its View were asked for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownHash, stateOfSent } from '../../../src/toolkit/deploy/taken-nonce.ts'
import { assertExplained } from '../../docs/support/explained.ts'

const hex = (bytes: number): string => `0x${'11'.repeat(bytes)}`
const signed = { creator: hex(20), hash: hex(32), nonce: 3, address: hex(20) }
const waits = { signal: new AbortController().signal, appearsWithinMs: 20, stepMs: 1 }
const receipt = { succeeded: true, height: 1, gasUsed: 1n, address: signed.address }

/** A chain whose receipt is there from this question on. */
function chainOf(nonce: number, receiptAt: number, status: 'none' | 'pending' | 'registered') {
  let asked = 0
  return {
    nonce: async () => nonce,
    receipt: async () => (asked++ >= receiptAt ? receipt : null),
    getView: async () => ({ status, name: '', height: 0 }),
  }
}

test('a nonce that is not taken is free, and nothing else is asked for', async () => {
  assert.equal(await stateOfSent(chainOf(3, 0, 'registered'), signed, waits), 'free')
})

test('a receipt that comes later than the nonce is waited for', async () => {
  const patient = { ...waits, appearsWithinMs: Number.POSITIVE_INFINITY }
  assert.equal(await stateOfSent(chainOf(4, 3, 'none'), signed, patient), 'mined')
})

test('a View that another transaction registered is not said to be unregistered', async () => {
  for (const status of ['pending', 'registered'] as const)
    assert.equal(
      await stateOfSent(chainOf(4, Number.POSITIVE_INFINITY, status), signed, waits),
      'known',
    )
})

test('a nonce is taken where there is neither a receipt nor a View', async () => {
  const chain = chainOf(4, Number.POSITIVE_INFINITY, 'none')
  await assert.rejects(
    stateOfSent(chain, signed, waits),
    (error: Parameters<typeof assertExplained>[0]) => {
      assert.equal(error.code, 'TOOLKIT_NONCE_TAKEN')
      assertExplained(error)
      return true
    },
  )
})

test('of a known View the hash is returned only where its transaction registered it', async () => {
  assert.equal(await ownHash({ receipt: async () => receipt }, signed.hash), signed.hash)
  assert.equal(await ownHash({ receipt: async () => null }, signed.hash), null)
  const reverted = { ...receipt, succeeded: false }
  assert.equal(await ownHash({ receipt: async () => reverted }, signed.hash), null)
})
