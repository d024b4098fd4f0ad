/** What came of a registration fits into the message of a container, whatever a stranger says. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { failedOutcome, writeOutcome } from '../../../src/toolkit/deploy/registration-terms.ts'
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
