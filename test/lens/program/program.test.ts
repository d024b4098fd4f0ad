import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { prepareProgram } from '../../../src/lens/program/program.ts'
import { collect, documents, lens, single } from '../support/collect.ts'
import { at, buildLens, byteOfItem, globals, item, op, terminal } from '../support/lens.ts'

const numbered = (texts: readonly string[]): [string, number][] =>
  texts.map((text, index) => [text, index])

/** Keeps documents whose ninth byte is a digit; nil for the others. */
const digitsOnly = [
  ...op.callNext,
  ...op.set(0),
  ...op.get(0),
  ...op.load8,
  ...op.const(1),
  ...op.equal,
  ...op.when([
    ...byteOfItem(10),
    ...op.const(0x3a),
    ...op.greater,
    ...op.when([...op.const(at.nil), ...op.return]),
    ...byteOfItem(10),
    ...op.const(0x22),
    ...op.equal,
    ...op.when([...op.const(at.nil), ...op.return]),
  ]),
  ...op.get(0),
]

/** Takes all documents, returns one of its own at the end of the stream, and then that end. */
const summary = [
  ...op.getGlobal(globals.first),
  ...op.when([...op.const(at.end), ...op.return]),
  ...op.forever([
    ...op.callNext,
    ...op.load8,
    ...op.const(127),
    ...op.equal,
    ...op.when([
      ...op.const(1),
      ...op.setGlobal(globals.first),
      ...op.const(at.text),
      ...op.return,
    ]),
  ]),
  ...op.unreachable,
]

/** Returns each document twice. */
const twice = [
  ...op.getGlobal(globals.first),
  ...op.when([
    ...op.getGlobal(globals.first),
    ...op.const(0),
    ...op.setGlobal(globals.first),
    ...op.return,
  ]),
  ...op.callNext,
  ...op.set(0),
  ...op.get(0),
  ...op.load8,
  ...op.const(1),
  ...op.equal,
  ...op.when([...op.get(0), ...op.setGlobal(globals.first)]),
  ...op.get(0),
]

test('documents pass a chain of lenses in order, each with the index of its source', () => {
  const identity = lens(buildLens())
  assert.deepEqual(
    collect(prepareProgram([identity, identity, identity], null)),
    numbered(documents),
  )
  assert.deepEqual(collect(prepareProgram([], null)), numbered(documents))
})

describe('how a lens is fed', () => {
  test('is one document at a time where it begins again after the end of a stream', () => {
    assert.deepEqual(single(buildLens()).feeds, ['single'])
  })

  test('is a stream where the end of a stream is final', () => {
    const program = single(buildLens({ transform: terminal }))
    assert.deepEqual(program.feeds, ['stream'])
    assert.deepEqual(collect(program), numbered(documents))
  })

  test('is found for each lens of a chain', () => {
    const lenses = [lens(buildLens()), lens(buildLens({ transform: terminal }))]
    assert.deepEqual(prepareProgram(lenses, null).feeds, ['single', 'stream'])
  })

  test('is what the caller says, against what the lens seems to want', () => {
    const program = prepareProgram([lens(buildLens())], 'stream')
    assert.deepEqual(program.feeds, ['stream'])
    assert.deepEqual(collect(program), numbered(documents))
  })

  test('cannot be one at a time where the first end is final, and the error says so', () => {
    const program = prepareProgram([lens(buildLens({ transform: terminal }))], 'single')
    assert.throws(() => collect(program), {
      code: 'LENS_OUTPUT_INVALID',
      message: /without taking the document it is given; write "feed: stream"/,
    })
  })

  test('is left open by a lens that traps with nothing there', () => {
    assert.deepEqual(single(buildLens({ transform: op.unreachable })).feeds, ['stream'])
  })
})

describe('what a lens returns', () => {
  test('is left out where it is nil, and no later lens sees it', () => {
    const expected = numbered(documents).slice(0, 2)
    const filter = lens(buildLens({ transform: digitsOnly }))
    assert.deepEqual(collect(prepareProgram([filter], null)), expected)
    assert.deepEqual(collect(prepareProgram([filter, lens(buildLens())], null)), expected)
    assert.deepEqual(collect(prepareProgram([filter, filter], 'stream')), expected)
  })

  test('may be more than one document for each', () => {
    assert.deepEqual(
      collect(single(buildLens({ transform: twice }))).map(([text]) => text),
      documents.flatMap((text) => [text, text]),
    )
  })

  test('may come before it takes its document, also where it is fed one at a time', () => {
    const transform = [
      ...op.getGlobal(globals.first),
      ...op.when([...op.const(0), ...op.setGlobal(globals.first), ...op.callNext, ...op.return]),
      ...op.const(1),
      ...op.setGlobal(globals.first),
      ...op.const(at.text),
    ]
    const wasm = buildLens({ transform, text: item(1, 'more') })
    const [one = '', two = ''] = documents
    assert.deepEqual(collect(prepareProgram([lens(wasm)], 'single'), [one, two]), [
      ['more', 0],
      [one, 0],
      ['more', 0],
      ['more', 1],
      [two, 1],
      ['more', 1],
    ])
  })

  test('may come at the end of the stream, with the last document as its source', () => {
    const wasm = buildLens({ transform: summary, text: item(1, '{"sum":1}') })
    assert.deepEqual(collect(single(wasm)), [['{"sum":1}', 2]])
    assert.deepEqual(collect(single(wasm), []), [['{"sum":1}', null]])
  })

  test('ends the pulling of documents where it is the end of the stream', () => {
    let pulled = 0
    let isReleased = false
    function* source(): Generator<string> {
      try {
        for (;;) {
          pulled += 1
          yield '{}'
        }
      } finally {
        isReleased = true
      }
    }
    const wasm = buildLens({ transform: op.const(at.end) })
    assert.deepEqual(collect(prepareProgram([lens(wasm)], 'stream'), source()), [])
    assert.deepEqual([pulled, isReleased], [0, false])
    const afterOne = prepareProgram(
      [lens(buildLens({ transform: [...op.callNext, ...op.drop, ...op.const(at.end)] }))],
      'stream',
    )
    assert.deepEqual(collect(afterOne, source()), [])
    assert.deepEqual([pulled, isReleased], [1, true])
  })

  test('may be longer than the memory it began with', () => {
    const long = [`{"n":"${'ü'.repeat(200_000)}"}`, '{}']
    const identity = lens(buildLens())
    assert.deepEqual(collect(prepareProgram([identity, identity], null), long), numbered(long))
  })

  test('is the same in each run, as each begins with new instances', () => {
    const once = [
      ...op.getGlobal(globals.second),
      ...op.when([...op.const(at.end), ...op.return]),
      ...op.const(1),
      ...op.setGlobal(globals.second),
      ...op.callNext,
    ]
    const program = prepareProgram([lens(buildLens({ transform: once }))], 'stream')
    for (let run = 0; run < 2; run += 1) assert.deepEqual(collect(program), [['{"n":1}', 0]])
  })

  test('fails the run where it is an error, with the text on one line', () => {
    const wasm = buildLens({
      transform: op.const(at.text),
      text: item(-1, 'no\n such\u0007 field'),
    })
    assert.throws(() => collect(single(wasm)), {
      code: 'LENS_FAILED',
      message: 'lens 1 failed: no such field',
      facts: { lens: 1 },
      remedy:
        'The View gives this lens no arguments: where it needs some, write them into the View as the args of the lens, a JSON object. Else change the query so that the lens gets what it asks for.',
    })
    assert.throws(() => collect(single(wasm, '{"a":"1"}')), {
      remedy: /^Change the query or the arguments/,
    })
  })

  test('is named by the place of its lens in the chain', () => {
    const failing = buildLens({ transform: op.const(at.error) })
    assert.throws(() => collect(prepareProgram([lens(buildLens()), lens(failing)], null)), {
      code: 'LENS_FAILED',
      message: 'lens 2 failed: no such property',
    })
  })
})

describe('the arguments of a lens', () => {
  /** Returns the item that `set_param` was given once, then the end. */
  const echo = buildLens({
    setParam: [...op.get(0), ...op.setGlobal(globals.second), ...op.const(at.nil)],
    transform: [
      ...op.getGlobal(globals.first),
      ...op.when([...op.const(at.end), ...op.return]),
      ...op.const(1),
      ...op.setGlobal(globals.first),
      ...op.getGlobal(globals.second),
    ],
  })

  test('arrive as they were written', () => {
    const args = '{ "abi": "[1, 2.0]", "ü": 12345678901234567890 }'
    assert.deepEqual(collect(single(echo, args)), [[args, null]])
  })

  test('are not handed over where there are none', () => {
    const wasm = buildLens({ setParam: op.unreachable })
    for (const args of ['', '{}', ' { } ']) assert.equal(collect(single(wasm, args)).length, 3)
  })

  test('are refused with the text of the lens', () => {
    const wasm = buildLens({
      setParam: op.const(at.text),
      text: item(-5, "missing argument 'abi'"),
    })
    assert.throws(() => single(wasm, '{"a":1}'), {
      code: 'LENS_ARGUMENTS_REFUSED',
      message: "lens 1 refuses its arguments: missing argument 'abi'",
    })
  })

  for (const args of ['[]', 'null', '"x"', '{', '{"a":1} {}'])
    test(`are refused where they are ${args}`, () => {
      assert.throws(() => single(buildLens(), args), {
        code: 'LENS_ARGUMENTS_REFUSED',
        message: 'lens 1 has arguments that are not a JSON object',
      })
    })
})

describe('what is not the doing of a lens comes out as it is', () => {
  test('an error of the source of documents, through all lenses', () => {
    const failure = new RangeError('the store is gone')
    function* source(): Generator<string> {
      yield '{}'
      throw failure
    }
    const identity = lens(buildLens())
    for (const feed of ['single', 'stream'] as const)
      assert.throws(
        () => collect(prepareProgram([identity, identity], feed), source()),
        (error) => error === failure,
      )
  })

  test('an error of the receiver, which ends the run and releases the source', () => {
    const failure = new Error('that is enough')
    let isReleased = false
    function* source(): Generator<string> {
      try {
        yield '{}'
        yield '{}'
      } finally {
        isReleased = true
      }
    }
    assert.throws(
      () =>
        single(buildLens()).run(source(), () => {
          throw failure
        }),
      (error) => error === failure,
    )
    assert.ok(isReleased)
  })
})
