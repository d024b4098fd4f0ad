import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Abi,
  type AbiEvent,
  decodeAbiParameters,
  decodeEventLog,
  type Hex,
  toEventSignature,
} from 'viem'
import { expectedArguments } from './support/expected-values.ts'
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
import { type LogDocument, recordedLogs, tokenAbi } from './support/fixture-logs.ts'
import { encodeLog, knownEvents } from './support/known-events.ts'

const one = `0x${'11'.repeat(20)}` as Hex
const two = `0x${'ab'.repeat(20)}` as Hex
const abi = Object.values(knownEvents)
const known = (name: string): AbiEvent => knownEvents[name] ?? assert.fail(name)
const unknown = { event: 'Unknown', signature: '', arguments: [] }
const all = openSetLens('decode_log', { abi: JSON.stringify(abi) })

/** The row of one log, with nothing but what was decoded. */
function decoded(log: object, lens = all): object {
  const [row] = values(streamed(lens, [log])) as { [name: string]: unknown }[]
  const { event, signature, arguments: list } = row ?? {}
  return { event, signature, arguments: list }
}

/** Every log of the recorded chain, as viem decodes it. */
function rowOf(log: LogDocument): object {
  const { hash, from, to } = log.transaction
  const row = { ...log, hash, from, to, logAddress: log.address }
  try {
    const { eventName, args } = decodeEventLog({
      abi: tokenAbi(),
      data: log.data,
      topics: [...log.topics],
      strict: true,
    })
    const event = tokenAbi().find((each) => each.type === 'event' && each.name === eventName)
    assert.ok(event?.type === 'event')
    const list = expectedArguments(event, args ?? {})
    return { ...row, event: eventName, signature: toEventSignature(event), arguments: list }
  } catch {
    return { ...row, ...unknown }
  }
}

test('decode_log decodes the logs of recorded blocks as viem does, and keeps the others', () => {
  const logs = recordedLogs()
  const expected = logs.map(rowOf)
  const lens = (): ReturnType<typeof openSetLens> => openSetLens('decode_log', { abi: tokenAbi() })
  assert.deepEqual(values(streamed(lens(), logs)), expected)
  assert.deepEqual(values(fedSingly(lens(), logs)), expected)
  const names = new Set(expected.map((row) => 'event' in row && row.event))
  assert.ok(names.has('Transfer') && names.has('Approval'))
})

const samples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'ERC-20': { from: one, to: two, value: 2n ** 256n - 1n },
  'ERC-721': { from: one, to: two, tokenId: 2n ** 64n },
  'ERC-1155 single': { operator: one, from: one, to: two, id: 7n, value: 10n ** 9n },
  'ERC-1155 batch': { operator: one, from: one, to: two, ids: [1n, 2n], values: [] },
  'ERC-1155 URI': { value: 'ipfs://{id}"\\\u0001 ü𝄞', id: 3n },
  'Uniswap V2 Swap': {
    sender: one,
    amount0In: 1n,
    amount1In: 0n,
    amount0Out: 0n,
    amount1Out: 10n ** 19n,
    to: two,
  },
  'Uniswap V2 Sync': { reserve0: 2n ** 112n - 1n, reserve1: 0n },
  'Uniswap V2 Mint': { sender: one, amount0: 10n ** 18n, amount1: 10n ** 36n },
  'Uniswap V3 Swap': {
    sender: one,
    recipient: two,
    amount0: -(2n ** 255n),
    amount1: -1n,
    sqrtPriceX96: 2n ** 160n - 1n,
    liquidity: 0n,
    tick: -887_272,
  },
  'Uniswap V3 Mint': {
    sender: one,
    owner: two,
    tickLower: -100,
    tickUpper: 100,
    amount: 5n,
    amount0: 6n,
    amount1: 7n,
  },
  'Seaport OrderFulfilled': {
    orderHash: `0x${'5e'.repeat(32)}`,
    offerer: one,
    zone: two,
    recipient: one,
    offer: [{ itemType: 2, token: one, identifier: 9n, amount: 1n }],
    consideration: [
      { itemType: 0, token: two, identifier: 0n, amount: 10n ** 18n, recipient: one },
      { itemType: 1, token: one, identifier: 0n, amount: 1n, recipient: two },
    ],
  },
}

for (const [name, args] of Object.entries(samples)) {
  test(`decode_log decodes ${name}`, () => {
    const event = known(name)
    assert.deepEqual(decoded(encodeLog(event, args)), {
      event: event.name,
      signature: toEventSignature(event),
      arguments: expectedArguments(event, args ?? {}),
    })
  })
}

test('decode_log keeps transfers of ERC-20 and ERC-721 apart by their topics', () => {
  const [fungible, single] = ['ERC-20', 'ERC-721'].map((name) =>
    encodeLog(known(name), samples[name] ?? {}),
  )
  const lens = openSetLens('decode_log', { abi: [known('ERC-20')] })
  assert.notDeepEqual(decoded({ ...fungible }, lens), unknown)
  assert.deepEqual(decoded({ ...single }, lens), unknown)
})

test('decode_log takes hexadecimal in capitals and data without 0x', () => {
  const { topics, data } = encodeLog(known('ERC-20'), samples['ERC-20'] ?? {})
  const expected = decoded({ topics, data })
  const shouting = topics.map((topic) => `0x${topic.slice(2).toUpperCase()}`)
  assert.deepEqual(decoded({ topics: shouting, data: data.slice(2).toUpperCase() }), expected)
})

test('decode_log drops what matches no event where it is asked to', () => {
  const lens = openSetLens('decode_log', { abi: [known('ERC-20')], unmatched: 'drop' })
  const logs = Object.entries(samples).map(([name, args]) => encodeLog(known(name), args))
  assert.equal(streamed(lens, logs).length, 1)
  assert.equal(fedSingly(lens, logs).length, 1)
})

test('decode_log replaces members of the names that it writes, and keeps all others', () => {
  const { topics, data } = encodeLog(known('Uniswap V2 Sync'), samples['Uniswap V2 Sync'] ?? {})
  const log = { event: 1, hash: 2, from: 3, arguments: 4, signature: 5, logAddress: 6, more: [{}] }
  const [row] = values(
    streamed(all, [{ ...log, topics, data, transactionHash: 7, transaction: { from: 8 } }]),
  ) as { [name: string]: unknown }[]
  assert.deepEqual(
    { ...row, arguments: 4 },
    {
      event: 'Sync',
      hash: 7,
      from: 8,
      arguments: 4,
      signature: 'Sync(uint112,uint112)',
      logAddress: null,
      more: [{}],
      topics,
      data,
      transactionHash: 7,
      transaction: { from: 8 },
    },
  )
})

test('decode_log hands on nil and errors, and answers each end of a stream', () => {
  const source = [end, nil, error('gone'), end, end]
  assert.deepEqual(
    source.map((item) => all.transform([item])),
    source,
  )
})

const refusedArguments: readonly (readonly [string, unknown, string])[] = [
  ['no ABI', {}, "missing required argument 'abi'"],
  ['an ABI that is no JSON', { abi: '[{' }, "the argument 'abi' is no JSON array"],
  ['an ABI that is an object', { abi: '{}' }, "the argument 'abi' is no JSON array"],
  ['an ABI without events', { abi: [{ type: 'function' }] }, "the argument 'abi' has no event"],
  ['a number in the ABI', { abi: [7] }, 'the ABI has an entry that is no object: 7'],
  ['an event without a name', { abi: [{ type: 'event' }] }, 'this is no name: '],
  ['a wrong type', withType('uint7'), 'unsupported type: uint7'],
  ['a list of no elements', withType('bool[0]'), 'unsupported type: bool[0]'],
  ['an endless list', withType('bool[99999999]'), 'unsupported type: bool[99999999]'],
  ['a tuple without components', withType('tuple'), 'the ABI has parameters that are no list: '],
  ['a tuple of nothing', withType('tuple', []), 'unsupported type: tuple'],
  [
    'too many lists',
    withType(`bool${'[]'.repeat(25)}`),
    `unsupported type: bool${'[]'.repeat(25)}`,
  ],
  [
    'another word',
    { abi: [], unmatched: 'no' },
    "the argument 'unmatched' is neither keep nor drop",
  ],
  [
    'four indexed parameters',
    { abi: [withInputs(Array.from({ length: 4 }, () => ({ type: 'bool', indexed: true })))] },
    'more parameters are indexed than a log has topics: E',
  ],
  [
    'two components of one name',
    withType('tuple', [
      { name: 'a', type: 'bool' },
      { name: 'a', type: 'bool' },
    ]),
    'the ABI has a tuple with two components named a',
  ],
]
for (const [what, args, text] of refusedArguments) {
  test(`decode_log refuses ${what}`, () => {
    assert.deepEqual(openLens('decode_log').set(JSON.stringify(args)), error(text))
  })
}

function withInputs(inputs: readonly object[]): object {
  return { type: 'event', name: 'E', inputs }
}

function withType(type: string, components?: readonly object[]): object {
  return { abi: [withInputs([{ type, components }])] }
}

const refusedDocuments: readonly (readonly [string, string])[] = [
  ['[]', 'the document is no JSON object'],
  ['{"topics":[]', 'the document is no JSON object'],
  ['{"data":"0x"}', "the document has no field 'topics': the query of the View has to select it"],
  [
    `{"topics":["${encodeLog(known('ERC-20'), { from: one, to: two, value: 1n }).topics.join('","')}"]}`,
    "the document has no field 'data': the query of the View has to select it",
  ],
  [
    '{"topics":["0x12"]}',
    "the field 'topics' is no list of at most four texts of 0x and 64 digits",
  ],
  ['{"topics":7}', "the field 'topics' is no list of at most four texts of 0x and 64 digits"],
]
for (const [text, message] of refusedDocuments) {
  test(`decode_log answers an error to ${text.slice(0, 40)}, and goes on`, () => {
    assert.deepEqual(all.transform([{ type: 'document', text }]), error(message))
    assert.equal(all.transform([document({ topics: [] })]).type, 'document')
  })
}

test('decode_log takes no more of hostile data for a value than viem does, and never traps', () => {
  const events = ['Seaport OrderFulfilled', 'ERC-1155 batch', 'ERC-1155 URI', 'Uniswap V3 Swap']
  const hostile = fc.tuple(
    fc.constantFrom(...events),
    fc.array(fc.tuple(fc.nat({ max: 2_000 }), fc.constantFrom('0', '1', '2', '4', '8', 'f'))),
    fc.nat({ max: 2_000 }),
  )
  let taken = 0
  fc.assert(
    fc.property(hostile, ([name, changes, cut]) => {
      const event = known(name)
      const { topics, data } = encodeLog(event, samples[name] ?? {})
      const changed = changes.reduce((text, [at, digit]) => replaceDigit(text, at, digit), data)
      const shorter = (cut % 3 === 0 ? changed.slice(0, cut - (cut % 2) + 2) : changed) as Hex
      const row = decoded({ topics, data: shorter })
      if ('event' in row && row.event === 'Unknown') return
      taken += 1
      assert.deepEqual(row, { ...row, arguments: viemArguments(event, topics, shorter) })
    }),
    { numRuns: 4_000 },
  )
  assert.ok(taken > 300, `${taken} taken`)
})

function replaceDigit(data: Hex, at: number, digit: string): Hex {
  const place = 2 + (at % (data.length - 2))
  return `0x${data.slice(2, place)}${digit}${data.slice(place + 1)}`
}

/** The arguments as viem decodes them. */
function viemArguments(event: AbiEvent, topics: readonly Hex[], data: Hex): object[] {
  const others = event.inputs.filter(({ indexed }) => indexed !== true)
  const indexed = event.inputs.filter((input) => input.indexed)
  const values = [
    ...indexed.map((input, at) => [
      input.name,
      decodeAbiParameters([input], topics[at + 1] ?? '0x')[0],
    ]),
    ...decodeAbiParameters(others, data).map((value, at) => [others[at]?.name, value]),
  ]
  return expectedArguments(event, Object.fromEntries(values))
}

test('decode_log takes lists that share their bytes many times for no value', () => {
  const event: Abi[number] = {
    type: 'event',
    name: 'Deep',
    inputs: [{ name: 'x', type: 'uint256[][][][][][]', indexed: false }],
  }
  const word = (value: number): string => value.toString(16).padStart(64, '0')
  const level = `${word(20)}${word(640).repeat(20)}`
  const data = `0x${word(32)}${level.repeat(6)}${word(0)}`
  const lens = openSetLens('decode_log', { abi: [event] })
  const { topics } = encodeLog(event as AbiEvent, { x: [] })
  assert.deepEqual(decoded({ topics, data }, lens), unknown)
})

test('decode_log keeps its memory over 100,000 documents of many sizes', () => {
  const logs = Object.entries(samples).map(([name, args]) => encodeLog(known(name), args))
  const lens = openSetLens('decode_log', { abi })
  const feed = (count: number): Item[] => {
    for (let n = 0; n < count; n += 1)
      lens.transform([document({ ...logs[n % logs.length], more: 'x'.repeat(n % 3_000) })])
    return []
  }
  feed(3_000)
  const before = lens.memoryBytes()
  feed(97_000)
  assert.equal(lens.memoryBytes(), before)
})

test('decode_log needs no more than one page of memory for the logs of one event', () => {
  const lens = openSetLens('decode_log', { abi: [known('ERC-20')] })
  const log = encodeLog(known('ERC-20'), samples['ERC-20'] ?? {})
  for (let n = 0; n < 1_000; n += 1) lens.transform([document(log)])
  assert.equal(lens.memoryBytes(), 64 * 1024)
})
