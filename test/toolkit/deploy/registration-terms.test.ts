/** What came of a registration fits into the message of a container, whatever a stranger says. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import {
  failedOutcome,
  readTerms,
  writeOutcome,
} from '../../../src/toolkit/deploy/registration-terms.ts'
import { testDirectory } from '../../support/test-store.ts'

for (const [what, text] of [
  ['lone surrogates', '\ud800'.repeat(2_000)],
  ['pairs that the limit splits', `a${'\u{1f600}'.repeat(2_000)}`],
  ['quotes', '"'.repeat(2_000)],
] as const)
  test(`a failure of ${what} has at most 4,096 bytes`, async (t) => {
    const path = join(testDirectory(t), 'outcome')
    const error = new ServiceError('REGISTRY_REFUSED', text, { remedy: text })
    await writeOutcome(path, failedOutcome(error))
    const bytes = await readFile(path)
    assert.ok(bytes.length <= 4_096, `${bytes.length} bytes`)
    assert.doesNotMatch(bytes.toString(), /\\ud[89a-f]/)
  })

test('a failure is written with its code, message and remedy, a mistake of ours without a code', () => {
  const error = new ServiceError('REGISTRY_REFUSED', 'no', { remedy: 'Ask.' })
  assert.deepEqual(failedOutcome(error), {
    error: { code: 'REGISTRY_REFUSED', message: 'no', remedy: 'Ask.' },
  })
  assert.deepEqual(failedOutcome(new Error('a\nmistake')), {
    error: { code: null, message: 'a mistake', remedy: null },
  })
})

const hex = (bytes: number): string => `0x${'1f'.repeat(bytes)}`
const price = { gas: '1', maxFeePerGas: '2', maxPriorityFeePerGas: '0' }
const transaction = { hash: hex(32), nonce: 0, ...price }
const terms = { id: hex(32), address: hex(20), creator: hex(20), chainId: 1, transaction }

test('terms are read as they were written, with and without a transaction', async (t) => {
  const path = join(testDirectory(t), 'terms')
  for (const written of [terms, { ...terms, transaction: null }]) {
    await writeOutcome(path, written)
    assert.deepEqual(await readTerms(path), { kind: 'viewmesh/registration-terms/1', ...written })
  }
})

test('what is no terms of a registration is refused by name', async (t) => {
  const path = join(testDirectory(t), 'terms')
  const refused = {
    code: 'TOOLKIT_PREPARED_INVALID',
    message: `${path} has no terms of a registration`,
  }
  await assert.rejects(readTerms(path), refused)
  for (const changed of [
    { kind: 'viewmesh/registration-terms/2' },
    { chainId: 0 },
    { id: hex(31) },
    { address: hex(21) },
    { creator: 'me' },
    { transaction: { ...transaction, nonce: -1 } },
    { transaction: { ...transaction, hash: hex(33) } },
    { transaction: { ...transaction, gas: '-1' } },
    { transaction: { ...transaction, maxFeePerGas: '1'.repeat(31) } },
  ]) {
    await writeOutcome(path, { ...terms, ...changed })
    await assert.rejects(readTerms(path), refused, JSON.stringify(changed))
  }
  await writeOutcome(path, { ...terms, note: 'x'.repeat(4_096) })
  await assert.rejects(readTerms(path), refused)
  await writeFile(path, '{')
  await assert.rejects(readTerms(path), refused)
})
