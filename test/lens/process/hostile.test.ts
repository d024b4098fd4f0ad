import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lensMemoryBytes } from '../../../src/compute/lens-resources.ts'
import { ServiceError } from '../../../src/errors.ts'
import { compileBomb, growsTable } from '../support/hostile-lenses.ts'
import { at, buildLens, op, terminal } from '../support/lens.ts'
import { leb } from '../support/module.ts'
import { openLenses } from './support/open-lenses.ts'

const forever = [...op.forever(), ...op.const(0)]
const identity = buildLens()
const documents = ['{"n":1}', '{"n":2}', '{"n":3}']

interface Attack {
  readonly wasm: Uint8Array
  readonly codes: readonly string[]
  readonly documents?: readonly string[]
}

const many = Array.from({ length: 20_000 }, () => '{"s":"skipped"}')

const attacks: Readonly<Record<string, Attack>> = {
  'a loop in its start section': {
    wasm: buildLens({ start: op.forever() }),
    codes: ['LENS_TIME_LIMIT'],
  },
  'a loop in alloc': { wasm: buildLens({ alloc: forever }), codes: ['LENS_TIME_LIMIT'] },
  'a loop in set_param': { wasm: buildLens({ setParam: forever }), codes: ['LENS_TIME_LIMIT'] },
  'a loop in transform': { wasm: buildLens({ transform: forever }), codes: ['LENS_TIME_LIMIT'] },
  'a loop that lets its memory grow': {
    wasm: buildLens({
      transform: [...op.forever([...op.const(1), ...op.memoryGrow, ...op.drop]), ...op.const(0)],
    }),
    codes: ['LENS_TIME_LIMIT'],
  },
  'a loop that asks for a larger table': {
    wasm: buildLens(growsTable),
    codes: ['LENS_TIME_LIMIT'],
  },
  'nil without end': {
    wasm: buildLens({ transform: op.const(at.nil) }),
    codes: ['LENS_OUTPUT_LIMIT'],
  },
  'a trap': { wasm: buildLens({ transform: op.unreachable }), codes: ['LENS_TRAPPED'] },
  'a call of itself for each skipped document': {
    wasm: buildLens({ transform: [...op.callNext, ...op.drop, ...op.callTransform] }),
    codes: ['LENS_TRAPPED'],
    documents: many,
  },
  'an address outside of its memory': {
    wasm: buildLens({ transform: op.const(-1) }),
    codes: ['LENS_OUTPUT_INVALID'],
  },
  'a length outside of its memory': {
    wasm: buildLens({ transform: op.const(at.text), text: [1, 255, 255, 255, 255] }),
    codes: ['LENS_OUTPUT_INVALID'],
  },
  'an alloc outside of its memory': {
    wasm: buildLens({ alloc: op.const(-1) }),
    codes: ['LENS_OUTPUT_INVALID'],
  },
  'functions that are hard to compile': {
    wasm: compileBomb(),
    codes: ['LENS_MEMORY_LIMIT', 'LENS_TIME_LIMIT', 'LENS_PROCESS_DIED', 'LENS_TRAPPED'],
  },
}

for (const [what, { wasm, codes, documents: given = documents }] of Object.entries(attacks))
  test(`a lens with ${what} harms its own View's job only`, async (context) => {
    const lenses = openLenses(context, { memoryBytes: 500 * 1024 * 1024 })
    const neighbour = watchNeighbour(lenses)
    await assert.rejects(
      lenses.run('hostile', wasm, { documents: given, processorMs: 500, wallMs: 10_000 }),
      (error) => error instanceof ServiceError && codes.includes(error.code),
    )
    await neighbour.end()
  })

/** Filling a quarter of a gigabyte takes as long as the machine likes. */
const patient = { processorMs: 120_000, wallMs: 120_000 }

test('memory that lenses fill is gone when their run is over', async (context) => {
  // Room for two runs of eight: V8 frees buffers in a thread of its own, perhaps while the next run fills its own.
  const lenses = openLenses(context, { memoryBytes: 800 * 1024 * 1024 })
  const page = 65_536
  const fill = [...op.const(page), ...op.const(1), ...op.const(1_023 * page), 0xfc, 0x0b, 0]
  const leaking = buildLens({ pages: [1_024, 1_024], transform: [...fill, ...op.callNext] })
  for (let run = 0; run < 8; run += 1)
    assert.deepEqual(
      await lenses.run('leaking', leaking, { ...patient, documents, copies: 4 }),
      documents,
    )
  assert.equal(await lenses.metric('viewmesh_lens_jobs_total', { outcome: 'done' }), 8)
  assert.equal(lenses.ends(), 0)
})

const tables = (count: number, entries: number): number[][] =>
  Array.from({ length: count }, () => [0x70, 0, ...leb(entries)])

test('tables of many lenses are refused before one is compiled, and end no process', async (context) => {
  const lenses = openLenses(context, { memoryBytes: lensMemoryBytes(1) })
  const greedy = buildLens({ tables: tables(8, 65_536) })
  await assert.rejects(lenses.run('greedy', greedy, { ...patient, copies: 255 }), {
    code: 'LENS_MODULE_REFUSED',
  })
  assert.equal(lenses.ends(), 0)
})

test('tables as large as those of a View may be end no process, block after block', async (context) => {
  const lenses = openLenses(context, { memoryBytes: lensMemoryBytes(1) })
  const largest = buildLens({ tables: tables(8, 128) })
  for (let run = 0; run < 100; run += 1)
    assert.deepEqual(
      await lenses.run('largest', largest, { ...patient, documents, copies: 255 }),
      documents,
    )
  assert.equal(lenses.ends(), 0)
})

test('of 1,000 modules with wrong bytes each harms its own job only', async (context) => {
  const lenses = openLenses(context)
  const neighbour = watchNeighbour(lenses)
  const outcomes = new Set<string>()
  let index = 0
  const modules = fc.sample(changedModules(), { numRuns: 1_000, seed: 7 })
  await Promise.all(
    modules.map(async (wasm) => {
      index += 1
      const job = { documents, processorMs: 200, wallMs: 10_000 }
      try {
        const found = await lenses.run(`changed ${index}`, wasm, job)
        outcomes.add(found.length === documents.length ? 'all' : 'some')
      } catch (error) {
        assert.ok(error instanceof ServiceError, String(error))
        outcomes.add(error.code)
      }
    }),
  )
  await neighbour.end()
  const expected = ['all', 'LENS_MODULE_REFUSED', 'LENS_OUTPUT_INVALID', 'LENS_TRAPPED']
  assert.deepEqual(
    expected.filter((outcome) => !outcomes.has(outcome)),
    [],
  )
  assert.deepEqual(
    [...outcomes].filter((outcome) => !/^(?:all|some|LENS_.*)$/.test(outcome)),
    [],
  )
  assert.equal(lenses.ends(), 0)
})

/** Lenses with a few bytes changed behind the header. */
function changedModules(): fc.Arbitrary<Uint8Array> {
  const lens = fc.constantFrom(identity, buildLens({ transform: terminal, start: [0x01] }))
  const change = fc.tuple(fc.nat(10_000), fc.oneof(fc.nat(255), fc.nat(16)))
  return fc.tuple(lens, fc.array(change, { minLength: 1, maxLength: 3 })).map(([wasm, changes]) => {
    const bytes = Uint8Array.from(wasm)
    for (const [place, value] of changes) bytes[8 + (place % (bytes.length - 8))] = value
    return bytes
  })
}

/** Jobs of another View, one after the other, which all have to be done. */
function watchNeighbour(lenses: ReturnType<typeof openLenses>): { end(): Promise<void> } {
  let isOver = false
  const run = async (): Promise<void> => {
    do assert.deepEqual(await lenses.run('neighbour', identity, { documents }), documents)
    while (!isOver)
  }
  const done = run()
  return {
    async end() {
      isOver = true
      await done
    },
  }
}
