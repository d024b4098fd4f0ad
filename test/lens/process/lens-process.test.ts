import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildLens, op } from '../support/lens.ts'
import { openLenses } from './support/open-lenses.ts'

test('a lens runs in a process of its own, and its documents come back', async (context) => {
  const lenses = openLenses(context)
  const documents = ['{"a":1}', '{"b":"ü"}']
  assert.deepEqual(await lenses.run('identity', buildLens(), documents), documents)
  assert.deepEqual(await lenses.run('identity', buildLens(), documents), documents)
  assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'done' }), 2)
})

test('an endless loop ends its own job, and the next job is done', async (context) => {
  const lenses = openLenses(context)
  const loop = buildLens({ transform: [...op.forever(), ...op.const(0)] })
  await assert.rejects(lenses.run('loop', loop, [], { processorMs: 200 }), {
    code: 'LENS_TIME_LIMIT',
  })
  assert.deepEqual(await lenses.run('identity', buildLens()), ['{"n":1}'])
})
