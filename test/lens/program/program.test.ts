import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Program, prepareProgram } from '../../../src/lens/program/program.ts'
import { at, buildLens, globals, op } from '../support/lens.ts'

const documents = ['{"n":1}', '{"n":2}', '{"n":"ü"}']

function collect(program: Program, given: Iterable<string> = documents): [string, number | null][] {
  const found: [string, number | null][] = []
  program.run(given, (document, source) => {
    found.push([Buffer.from(document).toString(), source])
  })
  return found
}

const single = (wasm: Uint8Array, args = ''): Program => prepareProgram([{ wasm, args }], null)

/** After the end of a stream it returns that end for ever, without asking. */
const terminal = [
  ...op.getGlobal(globals.first),
  ...op.when([...op.const(at.end), ...op.return]),
  ...op.callNext,
  ...op.set(0),
  ...op.get(0),
  ...op.load8,
  ...op.const(127),
  ...op.equal,
  ...op.setGlobal(globals.first),
  ...op.get(0),
]

test('documents pass a chain of lenses in order, each with the index of its source', () => {
  const lens = { wasm: buildLens(), args: '' }
  const expected = documents.map((document, index) => [document, index])
  assert.deepEqual(collect(prepareProgram([lens, lens, lens], null)), expected)
  assert.deepEqual(collect(prepareProgram([], null)), expected)
})

describe('how a lens is fed', () => {
  test('is one document at a time where it begins again after the end of a stream', () => {
    assert.deepEqual(single(buildLens()).feeds, ['single'])
  })

  test('is a stream where the end of a stream is final', () => {
    const program = single(buildLens({ transform: terminal }))
    assert.deepEqual(program.feeds, ['stream'])
    assert.deepEqual(collect(program).length, 3)
  })

  test('is what the caller says, against what the lens seems to want', () => {
    const lens = { wasm: buildLens(), args: '' }
    const program = prepareProgram([lens], 'stream')
    assert.deepEqual(program.feeds, ['stream'])
    assert.deepEqual(collect(program).length, 3)
  })
})
