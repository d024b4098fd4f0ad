/** What an error keeps on its way between threads and processes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../src/errors.ts'
import { fromPlainError, toPlainError } from '../src/plain-error.ts'

const overTheWire = (error: unknown): Error => fromPlainError(structuredClone(toPlainError(error)))

function causesOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...causesOf(error.cause)] : []
}

test('a ServiceError keeps its code, facts, remedy and causes', () => {
  const cause = Object.assign(new RangeError('too far'), { code: 'ERR_X' })
  const options = { facts: { height: 7 }, remedy: 'Go back.', cause }
  const found = overTheWire(new ServiceError('STORE_FULL', 'no space', options))
  assert.ok(found instanceof ServiceError)
  assert.deepEqual(
    [found.code, found.message, found.facts, found.remedy],
    ['STORE_FULL', 'no space', { height: 7 }, 'Go back.'],
  )
  assert.deepEqual(
    [(found.cause as Error).name, (found.cause as Error & { code: string }).code],
    ['RangeError', 'ERR_X'],
  )
})

test('an error without a code of ours keeps its name and stack, and gets no more', () => {
  const error = new RangeError('too far')
  const found = overTheWire(error)
  const { name, stack, ...others } = found
  assert.deepEqual([name, stack, others], ['RangeError', error.stack, {}])
  assert.ok(!('cause' in found))
})

test('causes are kept eight deep, also where they go round in a circle', () => {
  const errors = Array.from({ length: 12 }, (_, index) => new Error(`${index}`))
  for (const [index, error] of errors.entries()) error.cause = errors[(index + 1) % errors.length]
  assert.deepEqual(causesOf(overTheWire(errors[0])), ['0', '1', '2', '3', '4', '5', '6', '7', '8'])
})

test('what was thrown and is no error keeps its text', () => {
  const { message, stack } = overTheWire('out of order')
  assert.equal(message, 'out of order')
  assert.match(String(stack), /plain-error/, 'that of where it arrived')
})
