/** Items that end where the memory of a lens ends, and lenses that ask in the wrong place. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openInstance } from '../../../src/lens/program/instance.ts'
import { compileLenses, prepareProgram } from '../../../src/lens/program/program.ts'
import { collect, lens, single } from '../support/collect.ts'
import { at, buildLens, item, itemOf, op } from '../support/lens.ts'

const page = 65_536
const invalid = (message: string) => ({ code: 'LENS_OUTPUT_INVALID', message })

/** A lens that has every item put at this address, and returns each. */
const putAt = (address: number): Uint8Array =>
  buildLens({ pages: [1, 1], alloc: op.const(address) })

describe('up to the last byte of its memory', () => {
  test('a lens may have a document put and return it, also one without a byte', () => {
    const run = (address: number, documents: readonly string[]) =>
      collect(prepareProgram([lens(putAt(address))], 'stream'), documents)
    assert.deepEqual(run(page - 7, ['{}']), [['{}', 0]])
    assert.deepEqual(run(page - 5, ['']), [['', 0]])
    assert.deepEqual(run(page - 1, []), [])
  })

  test('but not one byte further, which the error says', () => {
    const run = (address: number, documents: readonly string[]) => () =>
      collect(prepareProgram([lens(putAt(address))], 'stream'), documents)
    assert.throws(
      run(page - 6, ['{}']),
      invalid(
        'lens 1 returns the address 65530 for 7 bytes from alloc, and its memory ends at 65536',
      ),
    )
    assert.throws(
      run(page, []),
      invalid(
        'lens 1 returns the address 65536 for 1 bytes from alloc, and its memory ends at 65536',
      ),
    )
  })

  test('no item goes on behind it', () => {
    const address = page - 5
    const wasm = buildLens({ transform: [...itemOf(1, address, 1), ...op.const(address)] })
    assert.throws(
      () => collect(prepareProgram([lens(wasm)], 'stream')),
      invalid('lens 1 returns an item of 1 bytes at 65531, and its memory ends at 65536'),
    )
  })
})

test('a lens that asks for documents while it is given an end is refused', () => {
  const wasm = buildLens({ alloc: op.callNext })
  assert.throws(
    () => collect(prepareProgram([lens(wasm)], 'stream'), []),
    invalid('lens 1 calls lens.next outside of transform'),
  )
})

test('a lens may ask again after the end in the same call, and gets the end again', () => {
  const wasm = buildLens({ transform: [...op.callNext, ...op.drop, ...op.callNext] })
  assert.deepEqual(collect(prepareProgram([lens(wasm)], 'stream'), ['{"n":1}', '{"n":2}']), [
    ['{"n":2}', 1],
  ])
  assert.deepEqual(collect(prepareProgram([lens(wasm)], 'stream'), []), [])
})

test('nil is written with a length of nothing, whatever was in the memory', () => {
  const wasm = buildLens({
    alloc: op.const(at.text),
    text: [9, 9, 9, 9, 9, 7],
    transform: [...op.callNext, ...op.drop, ...itemOf(1, at.text), ...op.const(at.text)],
  })
  const [compiled] = compileLenses([lens(wasm)])
  assert.ok(compiled !== undefined)
  const instance = openInstance(compiled, { grew: () => undefined })
  assert.deepEqual(
    instance.transform(() => instance.writeNil()),
    Buffer.alloc(0),
  )
})

test('a lens without a memory to share is refused before it runs', () => {
  const wasm = buildLens()
  const name = Buffer.from(wasm).indexOf('memory')
  wasm.set(Buffer.from('memorx'), name)
  assert.throws(() => single(wasm), {
    ...invalid('lens 1 exports no memory'),
    facts: { lens: 1, export: 'memory' },
  })
})

test('a module that is no valid WebAssembly is refused with what the compiler says', () => {
  const wasm = buildLens({ transform: op.drop })
  assert.throws(() => prepareProgram([lens(buildLens()), lens(wasm)], null), {
    code: 'LENS_MODULE_REFUSED',
    message: /^lens 2 is not valid WebAssembly: .+/,
  })
})

describe('what a lens says of its arguments', () => {
  const answer = (type: number) => () =>
    single(buildLens({ setParam: op.const(at.text), text: item(type, 'why') }), '{"a":1}').feeds

  test('is accepted with every type that is no error', () => {
    for (const type of [0, 1, 127]) assert.deepEqual(answer(type)(), ['single'])
  })

  test('is why it refuses them, in at most 500 characters', () => {
    assert.throws(answer(128), { message: 'lens 1 refuses its arguments: why' })
    const text = item(255, 'x'.repeat(501))
    assert.throws(() => single(buildLens({ setParam: op.const(at.text), text }), '{"a":1}'), {
      message: `lens 1 refuses its arguments: ${'x'.repeat(500)}…`,
    })
  })
})
