import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain } from '../../support/chain/block-factory.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'

const numbers = (rows: readonly { number: number }[]): number[] => rows.map(({ number }) => number)

test('every operator works in every spelling', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const cases: Readonly<Record<string, readonly number[]>> = {
    '{_eq: 3}': [3],
    '{_neq: 3}': [1, 2, 4, 5, 6],
    '{_ne: 3}': [1, 2, 4, 5, 6],
    '{_gt: 4}': [5, 6],
    '{_geq: 5}': [5, 6],
    '{_ge: 5}': [5, 6],
    '{_gte: 5}': [5, 6],
    '{_lt: 3}': [1, 2],
    '{_leq: 2}': [1, 2],
    '{_le: 2}': [1, 2],
    '{_lte: 2}': [1, 2],
    '{_in: [6, 1, 99]}': [1, 6],
    '{_nin: [1, 2, 3, 4]}': [5, 6],
    '{_gt: 1, _lt: 4}': [2, 3],
    '{}': [1, 2, 3, 4, 5, 6],
  }
  for (const [block, expected] of Object.entries(cases)) {
    const { Block } = await query(`{ Block(filter: {number: ${block}}) { number } }`)
    assert.deepEqual(numbers(Block), expected, block)
  }
})

test('null in a condition means "no value", and null sorts before everything', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const all = chain.flatMap(({ block }) => block.transactions).length
  const legacy = chain
    .flatMap(({ block }) => block.transactions)
    .filter((one) => typeof one === 'object' && one?.maxFeePerGas === undefined).length
  const cases: Readonly<Record<string, number>> = {
    'maxFeePerGas: null': legacy,
    'maxFeePerGas: {_eq: null}': legacy,
    'maxFeePerGas: {_neq: null}': all - legacy,
    'maxFeePerGas: {_neq: 1}': all,
    'maxFeePerGas: {_nin: [1]}': all,
    'maxFeePerGas: {_nin: [1, null]}': all - legacy,
    'maxFeePerGas: {_gt: null}': all - legacy,
    'maxFeePerGas: {_geq: null}': all,
    'maxFeePerGas: {_lt: null}': 0,
    'maxFeePerGas: {_leq: null}': legacy,
    'maxFeePerGas: {_geq: 0}': all - legacy,
    'maxFeePerGas: {_like: "0x%"}': all - legacy,
    'maxFeePerGas: {_nlike: "0x%"}': legacy,
    '_not: {maxFeePerGas: null}': all - legacy,
  }
  for (const [filter, expected] of Object.entries(cases)) {
    assert.equal(
      (await query(`{ n: COUNT(Transaction: {filter: {${filter}}}) }`)).n,
      expected,
      filter,
    )
  }
})

test('an empty object restricts nothing, and an empty _or matches nothing', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const cases: Readonly<Record<string, number>> = {
    '{}': 6,
    null: 6,
    '{_and: null, _or: null, _not: null, _alias: null}': 6,
    '{_and: []}': 6,
    '{_or: []}': 0,
    '{_not: {}}': 0,
    '{_or: [{number: {}}, {number: 1}]}': 6,
    '{transactions: {}}': 6,
  }
  for (const [filter, expected] of Object.entries(cases)) {
    const { Block } = await query(`{ Block(filter: ${filter}) { number } }`)
    assert.equal(Block.length, expected, filter)
  }
})

test('null for what is linked means that there is none', async (t) => {
  const shape = { transactions: 4, logs: 2, entries: 0, calldataBytes: 4 }
  const { query } = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const { Transaction, any, without, Log } = await query(`{ Transaction { hash logs { _docID } }
    any: Transaction(filter: {logs: {}}) { hash logs { _docID } }
    without: Transaction(filter: {logs: null}) { hash logs { _docID } } Log(filter: {transaction: null}) { _docID } }`)
  assert.deepEqual(any, Transaction, 'an empty object restricts nothing')
  const expected = Transaction.filter(({ logs }: { logs: readonly object[] }) => logs.length === 0)
  assert.ok(expected.length > 0)
  assert.deepEqual(without, expected)
  assert.deepEqual(Log, [])
})

test('a condition on a list holds where one of its rows meets it', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const highest = chain.map(({ number, block }) => {
    const values = (block.transactions ?? []).map((one) =>
      typeof one === 'object' ? BigInt(String(one?.value)) : 0n,
    )
    return { number, value: values.reduce((most, value) => (value > most ? value : most), 0n) }
  })
  assert.ok(new Set(highest.map(({ value }) => value)).size > 1, 'blocks differ')
  for (const { value: bound } of highest) {
    const filter = `{transactions: {value: {_geq: "${bound}"}}}`
    const { Block } = await query(`{ Block(filter: ${filter}) { number } }`)
    assert.deepEqual(numbers(Block), numbers(highest.filter(({ value }) => value >= bound)), filter)
  }
})

test('patterns take % at the start, the end, both, or once in the middle', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const hash = chain[2]?.hash ?? ''
  const [head, tail] = [hash.slice(0, 12), hash.slice(-10)]
  for (const like of [`${head}%`, `%${tail}`, `%${hash.slice(20, 40)}%`, `${head}%${tail}`, hash]) {
    const { Block } = await query(`{ Block(filter: {hash: {_like: "${like}"}}) { number } }`)
    assert.deepEqual(numbers(Block), [3], like)
  }
  for (const like of [`%${head}%${tail}%`, `${head}`, `_${hash.slice(1)}`]) {
    const { Block } = await query(`{ Block(filter: {hash: {_like: "${like}"}}) { number } }`)
    assert.deepEqual(Block, [], like)
  }
})

test('hex matches in any case, and a bare value means equality', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const hash = chain[3]?.hash ?? ''
  const upper = `0x${hash.slice(2).toUpperCase()}`
  const text =
    'query($h: String!, $f: BlockFilterArg) { a: Block(filter: {hash: $h}) { number } b: Block(filter: $f) { number } }'
  const { a, b } = await query(text, { h: upper, f: { hash: upper, number: { _gte: 2 } } })
  assert.deepEqual([numbers(a), numbers(b)], [[4], [4]])
})

test('quantities compare as numbers, with decimal, hex and number operands', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const second = Number(chain[1]?.block.timestamp)
  for (const operand of [`${second}`, `"${second}"`, `"0x${second.toString(16)}"`]) {
    const { Block } = await query(`{ Block(filter: {timestamp: {_gt: ${operand}}}) { number } }`)
    assert.deepEqual(numbers(Block), [3, 4, 5, 6], operand)
  }
  const text =
    'query($n: Int!, $s: String!) { a: Block(filter: {timestamp: {_le: $n}}) { number } b: Block(filter: {timestamp: $s}) { number } }'
  const { a, b } = await query(text, { n: second, s: String(second) })
  assert.deepEqual([numbers(a), numbers(b)], [[1, 2], [2]])
})

test('an invalid quantity is refused with what to write', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  assert.deepEqual(await errors('{ Block(filter: {size: {_gt: "big"}}) { number } }'), [
    'Quantity cannot represent "big": write decimal text ("1000"), 0x hex ("0x3e8") or a whole number.',
  ])
  assert.deepEqual(
    await errors('query($s: String) { Block(filter: {size: {_gt: $s}}) { number } }', { s: 'big' }),
    [
      'The field size is a quantity and cannot be compared with "big". Write decimal text ("1000"), 0x hex ("0x3e8") or a whole number.',
    ],
  )
})

test('heights beyond 32 bits compare like other numbers', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const text = 'query($n: Int) { Block(filter: {number: {_lt: $n}}) { number } }'
  assert.equal((await query(text, { n: 2 ** 40 })).Block.length, 6)
  assert.deepEqual(await errors('{ Block(filter: {number: "7"}) { number } }'), [
    'Int cannot represent "7": write a whole number, without quotes.',
  ])
})

test('lists are tested by their elements', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const log = chain[1]?.receipts[0]?.logs?.[0]
  const [topic0 = '', topic1 = '', topic2 = ''] = log?.topics ?? []
  const count = async (filter: string) =>
    (await query(`{ n: COUNT(Log: {filter: {${filter}}}) }`)).n
  const all = await count('')
  assert.equal(await count(`topics: {_any: {_eq: "${topic0}"}}`), all)
  assert.equal(
    await count(`topics: {_any: {_eq: "${topic1.toUpperCase().replace('0X', '0x')}"}}`),
    1,
  )
  assert.equal(await count(`topics: {_any: {_in: ["${topic1}", "${topic2}"]}}`), 1)
  assert.equal(await count(`topics: {_none: {_eq: "${topic1}"}}`), all - 1)
  assert.equal(await count('topics: {_all: {_like: "0x%"}}'), all)
  assert.equal(await count(`topics: {_eq: ["${topic0}", "${topic1}", "${topic2}"]}`), 1)
  assert.equal(await count(`topics: ["${topic0}", "${topic1}", "${topic2}"]`), 1)
  const others = [
    [topic1],
    [topic0, topic1],
    [topic0, topic1, topic0],
    [topic2, topic1, topic0],
    [topic0, topic1, topic2, topic2],
  ]
  for (const list of others)
    assert.equal(await count(`topics: {_eq: ${JSON.stringify(list)}}`), 0, list.join())
  assert.equal(await count('topics: null'), 0)
  for (const name of ['_any', '_all', '_none'])
    assert.equal(await count(`topics: {${name}: {}}`), all)
})

test('a value that is not selected is compared by its own name under _alias', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Block } = await query('{ Block(filter: {_alias: {number: {_geq: 5}}}) { it: number } }')
  assert.deepEqual(Block, [{ it: 5 }, { it: 6 }])
  const { Log } = await query(
    '{ Log(order: {_alias: {blockNumber: DESC}}, limit: 1) { logIndex } }',
  )
  assert.deepEqual(Log, [{ logIndex: 2 }])
  const fields = '{ fee: maxFeePerGas hash }'
  const { a, b } = await query(`{ a: Transaction(filter: {_alias: {fee: null}}) ${fields}
    b: Transaction(filter: {maxFeePerGas: null}) ${fields} }`)
  assert.ok(a.length > 0)
  assert.deepEqual(a, b)
})

test('a link is filtered by its alias as by its name', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { a, b } =
    await query(`{ a: Log(filter: {_alias: {of: {number: {_eq: 3}}}}) { of: block { number } }
    b: Log(filter: {block: {number: {_eq: 3}}}) { of: block { number } } }`)
  assert.equal(a.length, 3)
  assert.deepEqual(a, b)
})

test('an aggregate is compared by operators, and with a bare value or a list of them', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const text = (condition: string) =>
    `{ Transaction(filter: {_alias: {n: ${condition}}}) { transactionIndex n: COUNT(logs: {}) } }`
  const { Transaction: two } = await query(text('{_eq: 2}'))
  assert.deepEqual(new Set(two.map(({ n }: { n: number }) => n)), new Set([2]))
  for (const same of ['2', '{_in: [2, 7]}', '{_in: 2}', '{_gt: 1}', '{_nin: [0, 1]}'])
    assert.deepEqual((await query(text(same))).Transaction, two, same)
  assert.deepEqual((await query(text('null'))).Transaction, [])
  for (const condition of ['{_eq: [2]}', '{_in: [2, "x"]}'])
    assert.deepEqual(await errors(text(condition)), [
      'unexpected type. Property: condition, Actual: list. Write an object of operators, as in {_alias: {total: {_gt: 1}}}.',
    ])
})
