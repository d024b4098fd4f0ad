/** What docs/troubleshooting.md says of lenses is what their process says. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { at, buildLens, item, op, terminal } from '../support/lens.ts'
import { openLenses } from './support/open-lenses.ts'

const loop = buildLens({ transform: [...op.forever(), ...op.const(0)] })
const failures: Readonly<Record<string, Uint8Array>> = {
  LENS_TRAPPED: buildLens({ transform: op.unreachable }),
  LENS_FAILED: buildLens({ transform: op.const(at.error) }),
  LENS_ARGUMENTS_REFUSED: buildLens({
    setParam: op.const(at.text),
    text: item(-1, "missing argument 'abi'"),
  }),
  LENS_MODULE_REFUSED: Buffer.from('no module'),
  LENS_TIME_LIMIT: loop,
}

describe('the page about troubles explains', () => {
  for (const [code, wasm] of Object.entries(failures))
    test(code, async (context) => {
      await explained(openLenses(context).run(code, wasm, { processorMs: 200 }), code)
    })

  test('LENS_OUTPUT_INVALID', async (context) => {
    const wasm = buildLens({ transform: terminal })
    const lenses = openLenses(context, { feed: 'single' })
    await explained(
      lenses.run('terminal', wasm, { documents: ['{}', '{}'] }),
      'LENS_OUTPUT_INVALID',
    )
  })

  test('LENS_MEMORY_LIMIT', async (context) => {
    const lenses = openLenses(context, { memoryBytes: 1024 * 1024 })
    await explained(lenses.run('any', loop), 'LENS_MEMORY_LIMIT')
  })
})

/** Asserts that a job fails with this code, and that the page explains it. */
async function explained(job: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(job, (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, code)
    assertExplained(error)
    return true
  })
}
