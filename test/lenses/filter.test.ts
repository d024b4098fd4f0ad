import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  document,
  end,
  error,
  fedSingly,
  type Item,
  nil,
  openLens,
  openSetLens,
  streamed,
  values,
} from './support/fed-lens.ts'

const token = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const byToken = { src: 'address', value: token }
const documents = [
  { address: token.toLowerCase(), data: '0x' },
  { address: '0x', data: '0x' },
  { address: token, nested: { address: '0x' } },
  { address: null },
  { address: 7 },
  { other: token },
]

test('filter keeps the documents whose field has the text, in any case', () => {
  assert.deepEqual(values(streamed(openSetLens('filter', byToken), documents)), [
    documents[0],
    documents[2],
  ])
})

test('filter gives the same when each document ends a stream', () => {
  assert.deepEqual(values(fedSingly(openSetLens('filter', byToken), documents)), [
    documents[0],
    documents[2],
  ])
})

test('filter answers nil for each document that it drops', () => {
  const lens = openSetLens('filter', byToken)
  assert.deepEqual(lens.transform([document({ address: '0x' })]), nil)
})

test('filter hands a document on byte by byte', () => {
  const text = ` { "address" : "${token}" , "n" : 1.50 } `
  const lens = openSetLens('filter', byToken)
  assert.deepEqual(lens.transform([{ type: 'document', text }]), { type: 'document', text })
})

test('filter hands on nil and errors, and answers each end of a stream', () => {
  const lens = openSetLens('filter', byToken)
  const source = [nil, error('the node is gone'), end, end, document(documents[0])]
  const answers = source.map((item) => lens.transform([item]))
  assert.deepEqual(answers, source)
})

test('filter compares texts, however they are escaped', () => {
  const lens = openSetLens('filter', { src: 'naïve "key"', value: 'a\u0000b𝄞\ud800 é/' })
  const texts = [
    '{"na\\u00efve \\"key\\"":"A\\u0000b\\uD834\\udd1e\\ud800 \\u00e9\\/"}',
    '{"naïve \\u0022key\\u0022":"a\\u0000B𝄞\\ud800 é/"}',
  ]
  for (const text of texts)
    assert.deepEqual(lens.transform([{ type: 'document', text }]), { type: 'document', text })
})

test('filter goes by the last of two fields of one name, as JSON.parse does', () => {
  const lens = openSetLens('filter', { src: 'a', value: 'x' })
  const texts = ['{"a":"x","a":"y"}', '{"a":"y","a":"x"}']
  const answers = texts.map((text) => lens.transform([{ type: 'document', text }]).type)
  assert.deepEqual(answers, ['nil', 'document'])
})

const refused: readonly (readonly [string, string])[] = [
  ['{"value":"x"}', "missing required argument 'src'"],
  ['{"src":"x"}', "missing required argument 'value'"],
  ['{"src":"","value":"x"}', "'src' parameter cannot be empty"],
  ['{"src":"x","value":""}', "'value' parameter cannot be empty"],
  ['{"src":1,"value":"x"}', "the argument 'src' is no string"],
  ['[]', 'the arguments are no JSON object'],
  ['', 'the arguments are no JSON object'],
  ['{"src":"a","value":"b"', 'the arguments are no JSON object'],
  ['{"src":"a","value":"b"} {', 'the arguments are no JSON object'],
]
for (const [args, text] of refused) {
  test(`filter refuses the arguments ${JSON.stringify(args)}`, () => {
    const lens = openLens('filter')
    assert.deepEqual(lens.set(args), error(text))
    assert.deepEqual(
      lens.transform([document({})]),
      error('set_param must be called before transform'),
    )
  })
}

test('filter answers an error to what is no JSON object, and goes on', () => {
  const lens = openSetLens('filter', byToken)
  const malformed = ['', '[]', 'null', '{', '{"a":}', '{"a":1,}', '{"a":01}', '{"a":"\\x"}', '{}{']
  for (const text of malformed)
    assert.deepEqual(
      lens.transform([{ type: 'document', text }]),
      error('the document is no JSON object'),
    )
  assert.deepEqual(lens.transform([document(documents[0])]), document(documents[0]))
})

test('filter agrees with JSON.parse on which texts are objects', () => {
  const lens = openSetLens('filter', { src: 'a', value: 'x' })
  const text = fc.oneof(
    fc.json({ maxDepth: 6 }),
    fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[]",:\\u0019e+-.tfn \n\u0001\u{10ffff}'))
      .map(([json, at, character]) => replaceAt(`{"a":${json}}`, at, character)),
  )
  fc.assert(
    fc.property(text, (each) => {
      const answer = lens.transform([{ type: 'document', text: each }])
      assert.equal(answer.type, expectedType(each))
    }),
    { numRuns: 3_000 },
  )
})

test('filter keeps its memory over 100,000 documents of many sizes', () => {
  const lens = openSetLens('filter', byToken)
  const feed = (count: number): void => {
    for (let n = 0; n < count; n += 1)
      lens.transform([document({ address: n % 2 ? token : '\\', data: 'f'.repeat(n % 3000) })])
  }
  feed(3_000)
  const before = lens.memoryBytes()
  feed(97_000)
  assert.equal(lens.memoryBytes(), before)
})

function replaceAt(text: string, at: number, character: string): string {
  const place = at % text.length
  return text.slice(0, place) + character + text.slice(place + 1)
}

function expectedType(text: string): Item['type'] {
  try {
    const value: unknown = JSON.parse(text.toWellFormed())
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'error'
    return 'a' in value && typeof value.a === 'string' && value.a.toLowerCase() === 'x'
      ? 'document'
      : 'nil'
  } catch {
    return 'error'
  }
}
