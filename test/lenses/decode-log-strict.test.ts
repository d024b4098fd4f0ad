/** What `decode_log` takes for data of an event, and what is only close to it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toEventSelector } from 'viem'
import { openSetLens, streamed, values } from './support/fed-lens.ts'

const word = (value: bigint | number): string =>
  BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')
const left = (digits: string): string => digits.padEnd(64, '0')

/** What becomes of data, in words, of an event with one parameter of this type; null where it is unmatched. */
function decodedAs(type: string, words: readonly string[]): unknown {
  const lens = openSetLens('decode_log', {
    abi: [{ type: 'event', name: 'E', inputs: [{ name: '', type }] }],
  })
  const log = { topics: [toEventSelector(`E(${type})`)], data: `0x${words.join('')}` }
  const [row] = values(streamed(lens, [log])) as {
    event: string
    arguments: { value: unknown }[]
  }[]
  return row?.event === 'E' ? row.arguments[0]?.value : null
}

const taken: readonly (readonly [
  what: string,
  type: string,
  words: readonly string[],
  value: unknown,
])[] = [
  ['the largest of 8 bits', 'uint8', [word(255)], '255'],
  ['the smallest of 8 bits', 'int8', [word(-128)], '-128'],
  ['true', 'bool', [word(1)], 'true'],
  ['bytes that fill a word', 'bytes32', ['ab'.repeat(32)], `0x${'ab'.repeat(32)}`],
  ['data behind the last value', 'uint8', [word(7), word(9), 'ff'], '7'],
  ['a text whose last word is cut short', 'string', [word(32), word(2), '6869'], 'hi'],
  ['an empty text', 'string', [word(32), word(0)], ''],
  ['an empty list', 'uint8[]', [word(32), word(0)], []],
  ['an offset that leaves a gap', 'bytes', [word(64), word(9), word(1), left('ab')], '0xab'],
  ['a list that ends with the data', 'bool[]', [word(32), word(1), word(1)], ['true']],
  [
    'elements that share their bytes',
    'bytes[]',
    [word(32), word(2), word(64), word(64), word(0)],
    ['0x', '0x'],
  ],
]
for (const [what, type, words, value] of taken) {
  test(`decode_log takes ${what} for ${type}`, () => {
    assert.deepEqual(decodedAs(type, words), value)
  })
}

const refused: readonly (readonly [what: string, type: string, words: readonly string[]])[] = [
  ['no data', 'uint8', []],
  ['a word without its last byte', 'uint8', [word(7).slice(2)]],
  ['a number of 9 bits', 'uint8', [word(256)]],
  ['a positive number of 8 bits', 'int8', [word(128)]],
  ['a negative number of 9 bits', 'int8', [word(-129)]],
  ['a number beyond 160 bits', 'address', [word(1n << 160n)]],
  ['a bool of 2', 'bool', [word(2)]],
  ['a bool of 256', 'bool', [word(256)]],
  ['bytes behind the last', 'bytes4', [left('0102030405')]],
  ['an offset behind the data', 'bytes', [word(65), word(0)]],
  ['an offset at the end of the data', 'bytes', [word(32)]],
  ['an offset of 2^31', 'bytes', [word(2 ** 31), word(0)]],
  ['an offset of 2^32 + 32', 'bytes', [word(2 ** 32 + 32), word(0)]],
  ['an offset below zero', 'bytes', [word(-32), word(0)]],
  ['a text longer than the data', 'string', [word(32), word(3), '6869']],
  ['a text of 2^32 - 1 bytes', 'string', [word(32), word(2 ** 32 - 1), '6869']],
  ['a list longer than the data', 'uint8[]', [word(32), word(2), word(1)]],
  ['a list of 2^28 elements', 'uint8[]', [word(32), word(2 ** 28), word(1)]],
  ['a fixed list that is cut short', 'uint8[3]', [word(1), word(2)]],
  ['a fixed list without its last text', 'string[2]', [word(32), word(64), word(96), word(0)]],
  ['a list with a wrong element', 'bool[]', [word(32), word(2), word(1), word(2)]],
]
for (const [what, type, words] of refused) {
  test(`decode_log takes ${what} for no ${type}`, () => {
    assert.equal(decodedAs(type, words), null)
  })
}

test('decode_log takes digits of either case alone for a digit, wherever one may stand', () => {
  const lens = openSetLens('decode_log', {
    abi: [{ type: 'event', name: 'E', inputs: [{ name: '', type: 'bytes32' }] }],
  })
  const topics = [toEventSelector('E(bytes32)')]
  const characters = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code))
  const digits = 'd1'.repeat(32)
  for (let at = 0; at < digits.length; at++)
    for (const character of characters) {
      const data = digits.slice(0, at) + character + digits.slice(at + 1)
      const [answer] = values(streamed(lens, [{ topics, data }])) as [
        { arguments?: { value: string }[] },
      ]
      const value = /^[0-9a-f]$/i.test(character) ? `0x${data.toLowerCase()}` : undefined
      assert.equal(answer.arguments?.[0]?.value, value, `${character} at ${at}`)
    }
})

test('decode_log finds the end of a text of any length, and what may not stand in one', () => {
  const lens = openSetLens('decode_log', {
    abi: [{ type: 'event', name: 'E', inputs: [] }],
  })
  const log = { topics: [], data: '' }
  for (let length = 0; length < 40; length++)
    for (const last of ['', '\\"', '\\\\', '\u007f', '\u00ff', '\u{1f600}', ' ', '!', '#']) {
      const text = JSON.stringify(log).replace('}', `,"more":"${'x'.repeat(length)}${last}"}`)
      const [row] = values([lens.transform([{ type: 'document', text }])])
      assert.deepEqual(
        { ...JSON.parse(text), event: 'Unknown', signature: '', arguments: [] },
        Object.fromEntries(Object.entries(row as object).filter(([key]) => key !== 'logAddress')),
      )
      const control = text.replace('"more":"', '"more":"\n')
      assert.equal(lens.transform([{ type: 'document', text: control }]).type, 'error')
    }
})
