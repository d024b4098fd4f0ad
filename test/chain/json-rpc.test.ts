import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeResponse, encodeCalls } from '../../src/chain/json-rpc.ts'
import { ServiceError } from '../../src/errors.ts'

const calls = ['a', 'b', 'c'].map((method) => ({ method, params: [1, true] }))
const reply = (id: unknown, rest: object): object => ({ jsonrpc: '2.0', id, ...rest })

test('one call is an object, several are an array, with ids that count up', () => {
  assert.deepEqual(JSON.parse(encodeCalls(calls.slice(0, 1), 7)), {
    jsonrpc: '2.0',
    id: 7,
    method: 'a',
    params: [1, true],
  })
  const batch = JSON.parse(encodeCalls(calls, 7)) as { id: number }[]
  assert.deepEqual(
    batch.map(({ id }) => id),
    [7, 8, 9],
  )
})

test('outcomes are in the order of the calls, whatever the order of the response', () => {
  const answer = [
    reply(9, { error: { code: -32000, message: 'no' } }),
    reply(7, { result: null }),
    reply(99, { result: 'of nobody' }),
    'noise',
    null,
  ]
  assert.deepEqual(decodeResponse(JSON.stringify(answer), 3, 7), {
    kind: 'outcomes',
    outcomes: [
      { kind: 'result', value: null },
      { kind: 'missing' },
      { kind: 'error', code: -32000, message: 'no' },
    ],
  })
})

test('an error of null is none, and one without a message or a code is still an error', () => {
  const answer = [
    reply(7, { result: '0x1', error: null }),
    reply(8, { error: {} }),
    reply(9, { error: { code: '-32000', message: 7 } }),
  ]
  const message = 'no message'
  assert.deepEqual(decodeResponse(JSON.stringify(answer), 3, 7), {
    kind: 'outcomes',
    outcomes: [
      { kind: 'result', value: '0x1' },
      { kind: 'error', code: Number.NaN, message },
      { kind: 'error', code: -32000, message },
    ],
  })
})

test('an outcome whose id is neither a number nor a text is of no call', () => {
  const odd = ['{"toString":1,"valueOf":1}', 'null', 'false', '[0]', '{}']
  const answer = `[${odd.map((id) => `{"id":${id},"result":"0x1"}`).join(',')}]`
  assert.deepEqual(decodeResponse(answer, 2, 0), {
    kind: 'outcomes',
    outcomes: [{ kind: 'missing' }, { kind: 'missing' }],
  })
})

test('one error for a whole batch is a refusal of the batch', () => {
  const answer = JSON.stringify(reply(null, { error: { code: -32600, message: 'too large' } }))
  assert.deepEqual(decodeResponse(answer, 3, 7), {
    kind: 'refused',
    code: -32600,
    message: 'too large',
  })
})

for (const [name, text] of [
  ['not JSON', '<html>'],
  ['cut short', '{"jsonrpc":"2.0","id":7,"resu'],
  ['empty', ''],
  ['neither result nor error', '{"jsonrpc":"2.0","id":7}'],
  ['a bare value', '42'],
  ['a bare null', 'null'],
] as const)
  test(`a response that is ${name} is an error with a code`, () => {
    assert.throws(() => decodeResponse(text, 1, 7), {
      code: 'CHAIN_ANSWER_MALFORMED',
      facts: { starts: text, characters: text.length },
    })
  })

test('of a long response that is malformed the beginning is shown', () => {
  const text = `<html>${'x'.repeat(1_000)}`
  assert.throws(() => decodeResponse(text, 1, 7), {
    facts: { starts: `${text.slice(0, 120)}…`, characters: text.length },
  })
})

test('a response is nested 64 brackets deep at most', () => {
  const nested = (depth: number): string =>
    `{"id":7,"result":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  assert.equal(decodeResponse(nested(64), 1, 7).kind, 'outcomes')
  assert.throws(() => decodeResponse(nested(65), 1, 7), {
    code: 'CHAIN_ANSWER_MALFORMED',
    message: "the node's response is nested deeper than 64 brackets",
  })
})

test('a long response has a comma or an opening bracket in 8 characters at most', () => {
  const filled = (filling: string, characters: number): string => {
    const frame = '{"id":7,"result":[0]}'
    const count = Math.floor((characters - frame.length) / filling.length)
    return frame.replace('0', `${filling.repeat(count)}0`).padEnd(characters)
  }
  const long = 4 * 1024 * 1024
  for (const text of [filled('{},', long), filled('"12345",', long + 1)])
    assert.equal(decodeResponse(text, 1, 7).kind, 'outcomes')
  for (const text of [filled('{},', long + 1), filled('"1234",', long + 1)])
    assert.throws(() => decodeResponse(text, 1, 7), {
      code: 'CHAIN_ANSWER_MALFORMED',
      message: /of more values than its length explains$/,
    })
})

test('a message of an error is one line of at most 300 characters', () => {
  const messageOf = (message: string): unknown => {
    const answer = JSON.stringify(reply(7, { error: { code: -32000, message } }))
    return decodeResponse(answer, 1, 7)
  }
  for (const [message, shown] of [
    ['x'.repeat(300), 'x'.repeat(300)],
    ['x'.repeat(301), `${'x'.repeat(300)}…`],
    ['no\n\u001b[2Jway\u202e', 'no [2Jway'],
  ] as const)
    assert.deepEqual(messageOf(message), {
      kind: 'outcomes',
      outcomes: [{ kind: 'error', code: -32000, message: shown }],
    })
})

test('one result for a batch is an error with a code', () => {
  const text = JSON.stringify(reply(7, { result: 'one' }))
  assert.throws(() => decodeResponse(text, 3, 7), { code: 'CHAIN_ANSWER_MALFORMED' })
})

test('any text gives as many outcomes as calls, a refusal, or a ServiceError', () => {
  const text = fc.oneof(fc.string(), fc.json(), fc.array(fc.anything()).map(toJson))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 5 }), (answer, count) => {
      try {
        const decoded = decodeResponse(answer, count, 1)
        return decoded.kind === 'refused' || decoded.outcomes.length === count
      } catch (error) {
        return error instanceof ServiceError
      }
    }),
  )
})

function toJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? 1 : item)) ?? ''
}
