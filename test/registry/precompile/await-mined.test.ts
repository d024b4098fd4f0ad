import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { awaitMined } from '../../../src/registry/precompile/await-mined.ts'
import { tolerateUnreachable } from '../../../src/registry/precompile/tolerate-unreachable.ts'

const { signal } = new AbortController()
const away = new ServiceError('REGISTRY_UNREACHABLE', 'away')

/** Returns what stands in the list, one after the other; errors are thrown. */
function reading(...answers: readonly (string | null | Error)[]) {
  const left = [...answers]
  return async (): Promise<string | null> => {
    const next = left.shift()
    assert.ok(next !== undefined, 'nothing is asked any more')
    if (next instanceof Error) throw next
    return next
  }
}

test('a transaction is asked for until it is in a block, also while the chain is away', async () => {
  assert.equal(await awaitMined(signal, reading('there')), 'there')
  assert.equal(await awaitMined(signal, reading(null, away, 'later')), 'later')
})

test('a transaction that is in no block after two minutes is asked for no more', async (t) => {
  const began = performance.now()
  const times = [began, began + 120_000, began + 120_001]
  t.mock.method(performance, 'now', () => times.shift() ?? assert.fail('the wait goes on'))
  assert.equal(await awaitMined(signal, reading(null, null)), null)
})

test('what else fails, and stopping, ends the wait', async () => {
  const refused = new ServiceError('REGISTRY_REFUSED', 'no')
  await assert.rejects(awaitMined(signal, reading(null, refused)), refused)
  const stopped = AbortSignal.abort(new Error('stopped'))
  await assert.rejects(awaitMined(stopped, reading(null)), { name: 'AbortError' })
})

test('a chain that is away is a failure after the deadline, and any other failure always', async () => {
  const [past, future] = [performance.now() - 1_000, performance.now() + 60_000]
  assert.equal(await tolerateUnreachable(future, reading(away)), null)
  await assert.rejects(tolerateUnreachable(past, reading(away)), away)
  const other = new Error('other')
  await assert.rejects(tolerateUnreachable(future, reading(other)), other)
  assert.equal(await tolerateUnreachable(past, reading(null)), null)
  assert.equal(await tolerateUnreachable(past, reading('there')), 'there')
})
