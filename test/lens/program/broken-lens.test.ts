import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { prepareProgram } from '../../../src/lens/program/program.ts'
import { runLimits } from '../../../src/lens/program/run-limits.ts'
import { collect, lens, single } from '../support/collect.ts'
import { at, buildLens, globals, itemOf, op } from '../support/lens.ts'

describe('a lens that breaks the ABI', () => {
  const broken = (message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'LENS_OUTPUT_INVALID')
    assert.match(error.message, message)
    assert.notEqual(error.remedy, undefined)
    return true
  }
  const page = 65_536
  const cases: readonly [string, Uint8Array, RegExp][] = [
    [
      'returns an address behind its memory',
      buildLens({ transform: op.const(page) }),
      /returns the address 65536, and its memory ends at 65536/,
    ],
    [
      'returns a negative address',
      buildLens({ transform: op.const(-1) }),
      /returns the address 4294967295,/,
    ],
    [
      'returns an item that its memory cuts off',
      buildLens({ transform: [...itemOf(1, page - 1), ...op.const(page - 1)] }),
      /returns an item at 65535 that its memory.*cuts off/,
    ],
    [
      'returns an item that is longer than its memory',
      buildLens({ transform: op.const(at.text), text: [1, 0xff, 0xff, 0xff, 0xff] }),
      /returns an item of 4294967295 bytes at 256/,
    ],
    [
      'returns an error that is longer than its memory',
      buildLens({ transform: op.const(at.text), text: [0x80, 0, 0, 1, 0] }),
      /returns an item of 65536 bytes at 256/,
    ],
    [
      'returns an item of an unknown type',
      buildLens({ transform: op.const(at.text), text: [2] }),
      /an item of the unknown type 2/,
    ],
    [
      'has an alloc that returns an address behind its memory',
      buildLens({ alloc: op.const(page - 4) }),
      /returns the address 65532 for \d+ bytes from alloc/,
    ],
    [
      'asks for documents in alloc',
      buildLens({ alloc: [...op.callNext] }),
      /calls lens.next outside of transform/,
    ],
    [
      'asks for documents in its start section',
      buildLens({ start: [...op.callNext, ...op.drop] }),
      /calls lens.next outside of transform/,
    ],
    ['has no alloc', buildLens({ names: [null, 'transform'] }), /exports no function alloc/],
    ['has no transform', buildLens({ names: ['alloc'] }), /exports no function transform/],
  ]
  for (const [what, wasm, message] of cases)
    test(what, () => {
      assert.throws(() => collect(prepareProgram([lens(wasm)], 'stream')), broken(message))
    })

  test('exports too little, which comes with what a lens exports', () => {
    const wasm = buildLens({ names: ['alloc'] })
    assert.throws(() => single(wasm), {
      remedy: /exports .* alloc and transform, .*lens new makes/,
    })
  })

  test('has arguments and no set_param, or one that returns an address behind its memory', () => {
    const none = buildLens({ names: ['alloc', 'transform'] })
    assert.throws(() => single(none, '{"a":1}'), broken(/exports no function set_param/))
    const outside = buildLens({ setParam: op.const(page) })
    assert.throws(() => single(outside, '{"a":1}'), broken(/the address 65536 from set_param/))
  })

  test('has functions of other types', () => {
    const older = buildLens({ names: ['transform', 'alloc'] })
    assert.throws(() => single(older), {
      code: 'LENS_MODULE_REFUSED',
      message: /its function transform has another type than that of the lens ABI/,
    })
  })
})

describe('a lens that traps', () => {
  const trapped = (where: RegExp) => ({ code: 'LENS_TRAPPED', message: where })
  const skipping = [
    ...op.callNext,
    ...op.load8,
    ...op.const(1),
    ...op.equal,
    ...op.when([...op.callTransform, ...op.return]),
    ...op.const(at.end),
  ]

  test('fails the run, and the next run begins as if nothing was', () => {
    const program = single(buildLens({ transform: op.unreachable }))
    for (let run = 0; run < 2; run += 1)
      assert.throws(() => collect(program), trapped(/^lens 1 trapped in transform: unreachable$/))
  })

  test('fails the run in its start section', () => {
    assert.throws(() => single(buildLens({ start: op.unreachable })), trapped(/its start section/))
  })

  test('fails the run in alloc or set_param', () => {
    assert.throws(
      () => collect(prepareProgram([lens(buildLens({ alloc: op.unreachable }))], 'stream')),
      trapped(/in alloc: unreachable/),
    )
    assert.throws(
      () => single(buildLens({ setParam: op.unreachable }), '{"a":1}'),
      trapped(/in set_param: unreachable/),
    )
  })

  test('fails the run when it calls itself for each document that it skips', () => {
    const program = prepareProgram([lens(buildLens({ transform: skipping }))], 'stream')
    assert.deepEqual(collect(program), [])
    const many = Array.from({ length: 500_000 }, () => '{}')
    assert.throws(() => collect(program, many), trapped(/Maximum call stack size exceeded/))
  })

  test('behind another one, while that one is asked', () => {
    const chain = [lens(buildLens({ transform: op.unreachable })), lens(buildLens())]
    assert.throws(() => collect(prepareProgram(chain, 'stream')), trapped(/^lens 1 trapped/))
  })
})

test('memory that grows page by page is counted once', () => {
  const many = Array.from({ length: 2_000 }, () => `"${'x'.repeat(10_000)}"`)
  assert.equal(collect(single(buildLens()), many).length, 2_000)
})

describe('what the lenses of a View may take', () => {
  const limited = (message: RegExp) => ({ code: 'LENS_OUTPUT_LIMIT', message })

  test('is a number of items beside one for each document', () => {
    const endless = buildLens({ transform: op.const(at.nil) })
    assert.throws(
      () => collect(prepareProgram([lens(endless)], 'stream')),
      limited(/more than 100000 items beside one for each document/),
    )
    const many = Array.from({ length: runLimits.items + 10 }, () => '{}')
    assert.equal(collect(single(buildLens()), many).length, runLimits.items + 10)
  })

  /** Returns an item of so many bytes, then the end. */
  const long = (bytes: number): Uint8Array =>
    buildLens({
      pages: [512, 512],
      transform: [
        ...op.getGlobal(globals.first),
        ...op.when([...op.const(at.end), ...op.return]),
        ...op.const(1),
        ...op.setGlobal(globals.first),
        ...itemOf(1, at.text, bytes),
        ...op.const(at.text),
      ],
    })

  test('is a length of each document', () => {
    const longest = collect(single(long(runLimits.itemBytes)))
    assert.equal(longest[0]?.[0].length, runLimits.itemBytes)
    assert.throws(
      () => collect(single(long(runLimits.itemBytes + 1))),
      limited(/an item of 16777217 bytes, and 16777216 are accepted/),
    )
  })

  test('is a length of all documents', () => {
    const five = buildLens({
      pages: [512, 512],
      transform: [...itemOf(1, at.text, runLimits.itemBytes), ...op.const(at.text)],
    })
    let emitted = 0
    const program = prepareProgram([lens(five)], 'stream')
    assert.throws(
      () =>
        program.run([], () => {
          emitted += 1
        }),
      limited(/more than 67108864 bytes/),
    )
    assert.equal(emitted, 4)
  })

  test('is memory of all lenses together', () => {
    const large = lens(buildLens({ pages: [1_024, 1_024] }))
    const small = lens(buildLens({ pages: [1, 1] }))
    const four = [large, large, large, large]
    assert.equal(collect(prepareProgram(four, 'stream')).length, 3)
    assert.throws(
      () => collect(prepareProgram([...four, small], 'stream')),
      limited(/more than 268435456 bytes of memory together, at lens 5/),
    )
  })
})

test('whatever lies in the memory of a lens, a run ends with documents or a failure of its own', () => {
  const codes = ['LENS_OUTPUT_INVALID', 'LENS_FAILED', 'LENS_OUTPUT_LIMIT']
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 0, maxLength: 40, size: 'max' }),
      fc.oneof(fc.integer(), fc.integer({ min: 240, max: 300 }), fc.constant(65_530)),
      (text, address) => {
        const wasm = buildLens({ transform: op.const(address), text: [...text] })
        const program = prepareProgram([lens(wasm)], 'stream')
        try {
          program.run([], (document) => {
            assert.ok(document.length <= 65_536)
          })
        } catch (error) {
          assert.ok(error instanceof ServiceError && codes.includes(error.code), String(error))
        }
      },
    ),
    { numRuns: 300 },
  )
})
