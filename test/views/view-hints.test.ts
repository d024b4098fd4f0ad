import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { erc20Abi, keccak256, stringToBytes, toEventSelector } from 'viem'
import { eventTopics } from '../../src/views/event-topics.ts'
import { lensHash } from '../../src/views/lens-hash.ts'
import { shippedLenses } from '../../src/views/shipped-lenses.ts'
import { hasNothingOfNothing, hintsOf, type ViewHints } from '../../src/views/view-hints.ts'
import { parseViewQuery } from '../../src/views/view-query.ts'
import { openSetLens, streamed } from '../lenses/support/fed-lens.ts'
import { recordedLogs, tokenAbi } from '../lenses/support/fixture-logs.ts'
import { anyEvent } from '../lenses/support/random-event.ts'

const toEventHash = (signature: string): string => keccak256(stringToBytes(signature))

/** A lens by its name, or a module of somebody else's. */
type Step = readonly [name: string, args: object]

function moduleOf(name: string): Uint8Array {
  if (name === 'foreign') return Uint8Array.of(0, 0x61, 0x73, 0x6d)
  return readFileSync(new URL(`../../src/lenses/${name}.wasm`, import.meta.url))
}

function hintsFor(query: string, steps: readonly Step[]): ViewHints | null {
  const parsed = parseViewQuery(query, 'Ethereum__Mainnet')
  assert.ok('selection' in parsed)
  const lenses = steps.map(([name, args]) => ({
    hash: lensHash(moduleOf(name)),
    args: JSON.stringify(args),
  }))
  return hintsOf(lenses, parsed)
}

const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const address = token.toLowerCase()
const other = `0x${'11'.repeat(20)}`
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const query = 'Log { address topics data }'
const abi = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [{ type: 'address' }, { type: 'address' }, { type: 'uint' }],
  },
]
const byAddress: Step = ['filter', { src: 'address', value: token }]
const transfers: Step = ['decode_log', { abi: JSON.stringify(abi, null, 2), unmatched: 'drop' }]
const transactions = 'Transaction { hash from to input }'
const byReceiver: Step = ['filter', { src: 'to', value: token }]
const bySender: Step = ['filter_transaction', { src: 'from', value: other }]
const calls: Step = ['decode_call', { abi: erc20Abi, unmatched: 'drop' }]
const kept: Step = ['decode_log', { abi }]

const cases: readonly (readonly [string, string, readonly Step[], ViewHints['values'] | null])[] = [
  ['filter by address', query, [byAddress], { logAddress: [address] }],
  [
    'filter_transaction by address',
    query,
    [['filter_transaction', { src: 'address', value: token }]],
    { logAddress: [address] },
  ],
  ['filter by another field', query, [['filter', { src: 'data', value: token }]], null],
  ['filter by no address', query, [['filter', { src: 'address', value: 'x' }]], null],
  ['decode_log that drops', query, [transfers], { topic: [transfer] }],
  ['decode_log that keeps', query, [kept], null],
  [
    'lenses in a row',
    query,
    [byAddress, kept, transfers],
    { logAddress: [address], topic: [transfer] },
  ],
  [
    'filters that exclude each other',
    query,
    [byAddress, ['filter', { src: 'address', value: other }]],
    { logAddress: [] },
  ],
  [
    'erc20_transfers',
    query,
    [['erc20_transfers', { tokenAddress: token }]],
    { logAddress: [address], topic: [transfer] },
  ],
  ['erc20_transfers of no address', query, [['erc20_transfers', { tokenAddress: 'x' }]], null],
  [
    'erc20_transfers without the data of its logs',
    'Log { address topics }',
    [['erc20_transfers', { tokenAddress: token }]],
    null,
  ],
  [
    'erc20_balances, whatever filters its rows',
    query,
    [
      ['erc20_balances', { tokenAddress: token }],
      ['filter', { src: 'address', value: other }],
    ],
    { logAddress: [address], topic: [transfer] },
  ],
  ['a lens of somebody else behind ours', query, [byAddress, ['foreign', {}]], null],
  ['a lens of somebody else before ours', query, [['foreign', {}], byAddress], null],
  ['no lens', query, [], null],
  ['calls', 'Transaction { input }', [calls], null],
  [
    'transactions that are filtered by an address',
    'Transaction { address: to }',
    [byAddress],
    null,
  ],
  ['filter by the receiver', transactions, [byReceiver], { to: [address] }],
  ['filter_transaction by the sender', transactions, [bySender], { from: [other] }],
  ['filters by both', transactions, [byReceiver, bySender], { from: [other], to: [address] }],
  [
    'filters by two receivers',
    transactions,
    [byReceiver, ['filter_transaction', { src: 'to', value: other }]],
    { to: [] },
  ],
  ['calls of a receiver', transactions, [byReceiver, calls], { to: [address] }],
  ['calls that are filtered', transactions, [calls, byReceiver], { to: [address] }],
  ['new contracts', transactions, [['filter_transaction', { src: 'to', value: null }]], null],
  ['a receiver that is no address', transactions, [['filter', { src: 'to', value: '0x' }]], null],
  ['a receiver under a list', transactions, [['filter', { src: ['to'], value: token }]], null],
  ['a filter by the hash', transactions, [['filter', { src: 'hash', value: token }]], null],
  ['a receiver that is not selected', 'Transaction { from input }', [byReceiver], null],
  ['a sender under the name of the receiver', 'Transaction { to: from }', [byReceiver], null],
  ['transactions that are counted', 'Transaction(limit: 9) { to }', [byReceiver], null],
  ['logs that have a sender', 'Log { data transaction { from } }', [bySender], null],
  ['events that have a sender', query, [kept, bySender], null],
  ['events of transactions', transactions, [byReceiver, transfers], null],
  ['calls in logs', query, [byAddress, calls], null],
  ['blocks', 'Block { hash to: miner }', [byReceiver], null],
  ['a field under the name of the address', 'Log { address: data topics }', [byAddress], null],
  ['two fields under that name', 'Log { address address: data topics }', [byAddress], null],
  ['an address under another name', 'Log { data other: address }', [byAddress], null],
  ['a token without the fields of its logs', 'Log { address data }', [transfers], null],
  ['logs that are counted', 'Log(limit: 10) { address topics data }', [byAddress], null],
  [
    'logs that are filtered',
    'Log(filter: {blockNumber: {_gt: 1}}) { address topics data }',
    [byAddress],
    { logAddress: [address] },
  ],
  [
    'an ABI with an anonymous event',
    query,
    [
      [
        'decode_log',
        { abi: [...abi, { type: 'event', name: 'A', anonymous: true }], unmatched: 'drop' },
      ],
    ],
    null,
  ],
  [
    'an ABI with escapes',
    query,
    [['decode_log', { abi: '[{"type":"\\u0065vent","name":"A"}]', unmatched: 'drop' }]],
    null,
  ],
  [
    'an ABI in which a lens passes over a type that is no text',
    query,
    [
      [
        'decode_log',
        {
          abi: '[{"type":"event","name":"A","inputs":[{"type":"bool","type":["int8"]}]}]',
          unmatched: 'drop',
        },
      ],
    ],
    null,
  ],
]
for (const [what, text, steps, expected] of cases) {
  test(`the hints of ${what} are right`, () => {
    assert.deepEqual(hintsFor(text, steps)?.values ?? null, expected)
  })
}

test('only lenses that all ship are known to make nothing of nothing', () => {
  const [ours, foreign] = ['filter', 'foreign'].map((name) => ({
    hash: lensHash(moduleOf(name)),
    args: '',
  }))
  assert.ok(ours !== undefined && foreign !== undefined)
  for (const lenses of [[], [ours], [ours, ours]]) assert.ok(hasNothingOfNothing(lenses))
  for (const lenses of [[foreign], [ours, foreign], [foreign, ours]])
    assert.ok(!hasNothingOfNothing(lenses))
})

test('an earlier build of a lens has the hints of the present one', () => {
  const parsed = parseViewQuery(query, 'Ethereum__Mainnet')
  assert.ok('selection' in parsed)
  const earlier = { hash: lensHash(moduleOf('foreign')), args: JSON.stringify(byAddress[1]) }
  assert.equal(hintsOf([earlier], parsed), null)
  const ours = new Map([...shippedLenses, [earlier.hash, 'filter']])
  assert.deepEqual(hintsOf([earlier], parsed, ours), hintsFor(query, [byAddress]))
  assert.ok(hasNothingOfNothing([earlier], ours))
})

test('a View without arguments, or with such as are no JSON, has no hints', () => {
  const parsed = parseViewQuery(query, 'Ethereum__Mainnet')
  assert.ok('selection' in parsed)
  for (const args of ['', '[', '7', 'null', '{"abi":7,"unmatched":"drop"}'])
    assert.equal(hintsOf([{ hash: lensHash(moduleOf('decode_log')), args }], parsed), null)
})

test('the first topics of events are those that viem computes', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 5 }), fc.boolean(), (filled, asText) => {
      const events = filled.map(({ event }) => event)
      const expected = events.some(({ anonymous }) => anonymous)
        ? null
        : [...new Set(events.map((event) => toEventSelector(event)))]
      assert.deepEqual(eventTopics(asText ? JSON.stringify(events) : events), expected)
    }),
    { numRuns: 500 },
  )
})

test('the first topic of an event has the whole names of its types', () => {
  const topicOf = (inputs: unknown): unknown =>
    eventTopics([{ type: 'event', name: 'E', ...(inputs === undefined ? {} : { inputs }) }])
  const bool = { type: 'bool' }
  const cases: [inputs: unknown, types: string][] = [
    [undefined, ''],
    [[], ''],
    [[{ type: 'uint' }, { type: 'int[]' }, { type: 'uint[2][]' }], 'uint256,int256[],uint256[2][]'],
    [[{ type: 'bytes32[12]', indexed: true, name: 'x' }, bool], 'bytes32[12],bool'],
    [[{ type: 'tuple', components: [bool, { type: 'uint' }] }], '(bool,uint256)'],
    [[{ type: 'tuple[3]', components: [{ type: 'tuple[]', components: [] }] }], '(()[])[3]'],
  ]
  for (const [inputs, types] of cases)
    assert.deepEqual(topicOf(inputs), [toEventHash(`E(${types})`)], types)
  const odd = ['', 'Foo', 'uint[', 'uint[x]', 'uint[]x', 'tuple', 'tuple[]', 7, null, undefined]
  for (const type of odd) assert.equal(topicOf([{ type }]), null)
  for (const inputs of [7, 'bool', {}, [{ type: 'tuple', components: [{ type: 'tuple' }] }]])
    assert.equal(topicOf(inputs), null)
})

test('an ABI gives each first topic once, of its events alone, and none where it is not plain', () => {
  const event = { type: 'event', name: 'E', inputs: [] }
  const others = [{ type: 'function', name: 7 }, { type: 'error' }, {}]
  const expected = [toEventHash('E()')]
  assert.deepEqual(eventTopics([...others, event, { ...event, anonymous: false }]), expected)
  assert.deepEqual(eventTopics(JSON.stringify([event])), expected)
  assert.deepEqual(eventTopics([]), [])
  const unread = ['', '[', '{}', '7', 'null', `[${JSON.stringify(event)}, "\\u0041"]`]
  for (const abi of [...unread, {}, 7, null, undefined]) assert.equal(eventTopics(abi), null)
  for (const change of [{ name: 7 }, { name: undefined }, { anonymous: true }])
    assert.equal(eventTopics([event, { ...event, ...change }]), null)
})

test('an ABI of which an entry or a parameter is no object has no first topics', () => {
  const event = { type: 'event', name: 'E', inputs: [{ type: 'bool' }] }
  assert.equal(eventTopics([event])?.length, 1)
  for (const odd of [7, null, 'event', true, []]) {
    assert.equal(eventTopics([event, odd]), null)
    assert.equal(eventTopics([{ ...event, inputs: [{ type: 'bool' }, odd] }]), null)
  }
})

test('no log that a lens makes a row of is excluded by the hints', () => {
  const logs = recordedLogs()
  const first = logs[0]?.address ?? assert.fail()
  const steps: readonly Step[] = [
    ['filter', { src: 'address', value: first }],
    ['filter_transaction', { src: 'address', value: first }],
    ['decode_log', { abi: tokenAbi(), unmatched: 'drop' }],
    ['erc20_transfers', { tokenAddress: first }],
    ['erc20_balances', { tokenAddress: first }],
  ]
  for (const step of steps) {
    const { collection, values } = hintsFor(query, [step]) ?? assert.fail()
    const { logAddress: addresses, topic: topics } = values
    assert.equal(collection, 'Log')
    const wanted = logs.filter(
      (log) =>
        (addresses?.includes(log.address) ?? true) &&
        (topics === undefined || log.topics.some((topic) => topics.includes(topic))),
    )
    const rows = (documents: readonly unknown[]): unknown =>
      streamed(openSetLens(...step), documents)
    assert.ok(wanted.length > 0 && wanted.length < logs.length)
    assert.deepEqual(rows(wanted), rows(logs))
  }
})

const parties = [address, other, `0x${'ab'.repeat(20)}`]
const anyTransaction = fc.record({
  from: fc.constantFrom(...parties),
  to: fc.constantFrom(...parties, null),
  input: fc.constantFrom('0x', `0xa9059cbb${'0'.repeat(128)}`),
})
const anyField = fc.constantFrom('from', 'to', 'input')
const anyText = fc.constantFrom(...parties, token, `0x${'AB'.repeat(20)}`, '0x')
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('filter'), fc.record({ src: anyField, value: anyText })),
  fc.tuple(
    fc.constant('filter_transaction'),
    fc.record({ src: anyField, value: fc.oneof(anyText, fc.constant(null)) }),
  ),
  fc.constant(calls),
)

test('no transaction that lenses make a row of is excluded by the hints', () => {
  let hinted = 0
  const property = fc.property(
    fc.array(anyStep, { minLength: 1, maxLength: 3 }),
    fc.array(anyTransaction, { maxLength: 8 }),
    (steps, documents) => {
      const { from: senders, to: receivers } = hintsFor(transactions, steps)?.values ?? {}
      if (senders !== undefined || receivers !== undefined) hinted += 1
      const wanted = documents.filter(
        ({ from, to }) =>
          (senders?.includes(from) ?? true) && (receivers?.includes(String(to)) ?? true),
      )
      assert.deepEqual(rowsOf(steps, wanted), rowsOf(steps, documents))
    },
  )
  fc.assert(property, { numRuns: 300 })
  assert.ok(hinted > 100, `${hinted} with hints`)
})

function rowsOf(steps: readonly Step[], documents: readonly unknown[]): readonly unknown[] {
  let rows = documents
  for (const [name, args] of steps)
    rows = streamed(openSetLens(name, args), rows).flatMap((answer) => {
      assert.ok(answer.type === 'document' || answer.type === 'nil')
      return answer.type === 'document' ? [JSON.parse(answer.text)] : []
    })
  return rows
}

test('arguments with escapes that their lens may read otherwise say nothing', () => {
  const parsed = parseViewQuery(query, 'Ethereum__Mainnet')
  assert.ok('selection' in parsed)
  const hash = lensHash(moduleOf('filter'))
  const args = JSON.stringify({ src: 'address', value: token })
  const escaped = args.replace('0x', '\\u0030x')
  assert.deepEqual(JSON.parse(escaped), JSON.parse(args))
  assert.notEqual(hintsOf([{ hash, args }], parsed), null)
  assert.equal(hintsOf([{ hash, args: escaped }], parsed), null)
})
