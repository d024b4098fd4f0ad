/** Limits that a caller sets for a run, each at its edge, and what a run says that it took. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareProgram } from '../../../src/lens/program/program.ts'
import { type RunLimits, runLimits } from '../../../src/lens/program/run-limits.ts'
import { documents, lens, single } from '../support/collect.ts'
import { at, buildLens, globals, item, op } from '../support/lens.ts'

/** How many documents come out before the lens is stopped, and with which message; null where it is not. */
function run(
  transform: readonly number[],
  limits: Partial<RunLimits>,
  given: readonly string[] = [],
): [number, string | null] {
  const wasm = buildLens({ transform, text: item(1, 'abc') })
  let count = 0
  try {
    prepareProgram([lens(wasm)], 'stream').run(
      given,
      () => {
        count += 1
      },
      { ...runLimits, ...limits },
    )
    return [count, null]
  } catch (error) {
    assert.ok(error instanceof Error)
    return [count, error.message]
  }
}

const endless = op.const(at.text)

test('a lens returns as many items as it may, and the next one stops it', () => {
  const message = 'lens 1 returns more than 4 items beside one for each document'
  assert.deepEqual(run(endless, { items: 4 }), [4, message])
})

test('each document that a lens took gives it one item more, and an end takes none', () => {
  assert.deepEqual(run(op.callNext, { items: 0 }, documents), [3, null])
  const more = [...op.callNext, ...op.drop, ...endless]
  const message = 'lens 1 returns more than 1 items beside one for each document'
  assert.deepEqual(run(more, { items: 1 }, documents), [4, message])
})

test('nil is an item, and takes none of the bytes', () => {
  const message = 'lens 1 returns more than 4 items beside one for each document'
  assert.deepEqual(run(op.const(at.nil), { items: 4, outputBytes: 0 }), [0, message])
})

test('a lens returns as many bytes as it may, and one more stops it', () => {
  assert.deepEqual(run(endless, { outputBytes: 9 }), [3, 'lens 1 returns more than 9 bytes'])
  assert.deepEqual(run(endless, { outputBytes: 8 }), [2, 'lens 1 returns more than 8 bytes'])
})

test('a run says how much memory all of its lenses have at its end', () => {
  const page = 65_536
  const small = lens(buildLens({ pages: [1, 2] }))
  const large = lens(buildLens({ pages: [3, 3] }))
  const program = prepareProgram([small, large], null)
  const ignore = (): void => undefined
  assert.deepEqual(program.run(documents, ignore), { memoryBytes: 4 * page })
  assert.deepEqual(program.run(['x'.repeat(page)], ignore), { memoryBytes: 5 * page })
  const limits = { ...runLimits, memoryBytes: 4 * page }
  assert.deepEqual(program.run(documents, ignore, limits), { memoryBytes: 4 * page })
  assert.throws(() => program.run(['x'.repeat(page)], ignore, limits), {
    code: 'LENS_OUTPUT_LIMIT',
    message: 'the lenses grow to more than 262144 bytes of memory together, at lens 1',
    facts: { lens: 1, memoryBytes: 5 * page },
  })
})

test('a lens that traps only after its first end is fed one document at a time', () => {
  const transform = [
    ...op.getGlobal(globals.first),
    ...op.when(op.unreachable),
    ...op.const(1),
    ...op.setGlobal(globals.first),
    ...op.callNext,
  ]
  assert.deepEqual(single(buildLens({ transform })).feeds, ['single'])
})
