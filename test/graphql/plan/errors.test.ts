import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGraphqlRoom } from '../support/graphql-room.ts'

test('a syntax error is reported with its location', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const cases: readonly (readonly [
    query: string,
    message: RegExp,
    line: number,
    column: number,
  ])[] = [
    ['{ Block { number }', /^Syntax Error: Expected Name, found <EOF>/, 1, 19],
    [
      '{ Blok { number } }',
      /^Cannot query field "Blok" on type "Query". Did you mean "Block"/,
      1,
      3,
    ],
    [
      '{ Block {\n  nummer } }',
      /^Cannot query field "nummer" on type "Ethereum__Mainnet__Block". Did you mean "number"/,
      2,
      3,
    ],
    ['{ Block(first: 1) { number } }', /^Unknown argument "first" on field "Query.Block"/, 1, 9],
    [
      '{ Block(filter: {number: {_gtt: 1}}) { number } }',
      /^Field "_gtt" is not defined by type "IntOperatorBlock". Did you mean "_gt"/,
      1,
      27,
    ],
    [
      '{ Block(order: {transactions: {hash: ASC}}) { number } }',
      /^Field "transactions" is not defined by type/,
      1,
      17,
    ],
    [
      '{ Block }',
      /^Field "Block" of type "\[Ethereum__Mainnet__Block\]" must have a selection of subfields/,
      1,
      3,
    ],
    ['{ Block { ...x } }', /^Unknown fragment "x"/, 1, 14],
    [
      '{ Block(filter: {_or: [null]}) { number } }',
      /^Expected value of type "Ethereum__Mainnet__BlockFilterArg!", found null/,
      1,
      24,
    ],
    [
      'query($n: String) { Block(filter: {number: {_eq: $n}}) { number } }',
      /^Variable "\$n" of type "String" used in position expecting type "Int"/,
      1,
      7,
    ],
    [
      'query($ids: [ID] = ["a"]) { Block(docID: $ids) { number } }',
      /^Variable "\$ids" of type "\[ID\]" used in position expecting type "\[ID!\]"/,
      1,
      7,
    ],
    [
      'query($n: Int!) { Block(filter: {number: $n}) { number } }',
      /^Variable "\$n" of required type "Int!" was not provided/,
      1,
      7,
    ],
    [
      'mutation { add_Block(input: []) { _docID } }',
      /^Mutations are refused: documents only come from sealed blocks/,
      1,
      1,
    ],
    ['{ Log { data } x: Block(limit: -1) { number } }', /^The limit -1 is negative/, 1, 16],
    ['{ Block { transactions(limit: -1) { hash } } }', /^The limit -1 is negative/, 1, 11],
    [
      '{ Log(filter: {address: {_eq: "0xzz"}}) { data } }',
      /^The field address is hex and cannot be compared with "0xzz". Write 0x and hex digits/,
      1,
      3,
    ],
    [
      '{ Block { number } Log(filter: {block: {hash: {_in: ["abcd"]}}}) { data } }',
      /^The field hash is hex and cannot be compared with "abcd"/,
      1,
      20,
    ],
  ]
  for (const [query, message, line, column] of cases) {
    const { data, errors } = await graphql.execute({ query })
    assert.equal(data, null, query)
    assert.match(errors?.[0]?.message ?? '', message, query)
    assert.deepEqual(errors?.[0]?.locations?.[0], { line, column }, query)
  }
})

test('hex values compare in any case, and patterns match a part of them', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const [{ address }] = (await query('{ Log(limit: 1) { address } }')).Log
  const upper = `0x${address.slice(2).toUpperCase()}`
  for (const filter of [
    `_eq: "${upper}"`,
    `_like: "%${upper.slice(5, 20)}%"`,
    `_neq: "0x"`,
    `_neq: ""`,
    `_nlike: "%zz%"`,
  ]) {
    const { Log } = await query(`{ Log(filter: {address: {${filter}}}, limit: 1) { address } }`)
    assert.deepEqual(Log, [{ address }], filter)
  }
})

test('a request without a known operation name gets an error that lists the operations', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const two = 'query A { __typename } query B { __typename }'
  for (const [query, operationName, message] of [
    [
      two,
      null,
      'Must provide operation name if query contains multiple operations. Set operationName to one of A, B.',
    ],
    [two, 'C', 'Unknown operation named "C". Set operationName to one of A, B.'],
    [
      '{ __typename }',
      'C',
      'Unknown operation named "C". The query has one without a name: leave operationName out.',
    ],
  ] as const) {
    const { errors } = await graphql.execute({ query, operationName })
    assert.equal(errors?.[0]?.message, message)
  }
})

test('a message of up to 2,000 characters is whole, of a longer one the start and the end', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const messageFor = async (operationName: string) =>
    (await graphql.execute({ query: '{ __typename }', operationName })).errors?.[0]?.message ?? ''
  const start = 'Unknown operation named "'
  const end = '". The query has one without a name: leave operationName out.'
  const longest = 'x'.repeat(2_000 - start.length - end.length)
  assert.equal(await messageFor(longest), start + longest + end)
  const longer = `${start}${longest}x${end}`
  assert.equal(
    await messageFor(`${longest}x`),
    `${longer.slice(0, 1_200)} ... ${longer.slice(-400)}`,
  )
})

test('an error whose message is cut keeps its code and the place in the query', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const query = 'query ($by: JSON) { Log(order: {_alias: $by}) { data } }'
  const variables = { by: { ['z'.repeat(3_000)]: 'ASC' } }
  const [error] = (await graphql.execute({ query, variables })).errors ?? []
  assert.match(error?.message ?? '', /^field or alias .*: z+ \.\.\. z+\. Give .* this alias\.$/)
  assert.deepEqual(error?.extensions, { code: 'GRAPHQL_CONDITION_INVALID' })
  assert.deepEqual(error?.locations, [{ line: 1, column: 21 }])
  assert.deepEqual(error?.path, ['Log'])
})

test('a filter on an unknown alias, or with a value of another kind, is refused', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  assert.deepEqual(await errors('{ Block(filter: {_alias: {x: {_eq: 1}}}) { n: number } }'), [
    'field or alias not found. Name: x. Give a field of the same selection this alias.',
  ])
  assert.deepEqual(await errors('{ Block(filter: {_alias: 3}) { n: number } }'), [
    'unexpected type. Property: condition, Actual: number. Write an object of operators, as in {_alias: {total: {_gt: 1}}}.',
  ])
  assert.deepEqual(await errors('{ Block(filter: {_alias: {n: {_gt: "x"}}}) { n: number } }'), [
    'Invalid value "x" at _alias._gt; Int cannot represent x: write a whole number, without quotes.',
  ])
  assert.deepEqual(await errors('{ Block(filter: {_alias: {n: {_gtt: 1}}}) { n: number } }'), [
    'Invalid value {"_gtt":1} at _alias; Field "_gtt" is not defined by type "IntOperatorBlock".',
  ])
  assert.deepEqual(
    await errors('{ Block(filter: {_alias: {n: {_gt: "x"}}}) { n: COUNT(transactions: {}) } }'),
    [
      'unexpected type. Property: condition, Actual: string. Write an object of operators, as in {_alias: {total: {_gt: 1}}}.',
    ],
  )
})

test('an answer with errors has no data at all', async (t) => {
  const { graphql } = await openGraphqlRoom(t, { limits: { maxRows: 7 } })
  const { data, errors } = await graphql.execute({ query: '{ Block { number } Log { data } }' })
  assert.equal(data, null)
  assert.deepEqual(errors?.[0]?.path, ['Log'])
})

test('a misspelt name is compared with few and short ones, whatever strangers call their Views', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  const long = 'n'.repeat(33)
  const cases: Readonly<Record<string, RegExp>> = {
    '{ Block(ordr: null) { number } }': /^Unknown argument "ordr" on .* Did you mean "order"\?$/,
    '{ Block(order: {number: UP}) { number } Log { adress } }':
      /"UP" does not exist in "Ordering" enum/,
    [`{ Block { ${long} } }`]: /^Cannot query field "n{33}" on type "\w+"\.$/,
    'query ($filter: LogFilterAr) { Log { address } }': /^Unknown type "LogFilterAr"\.$/,
  }
  for (const [query, message] of Object.entries(cases))
    assert.match((await errors(query))[0] ?? '', message)
  assert.deepEqual(await errors('{ Block { nummer hahs } }'), [
    'Cannot query field "nummer" on type "Ethereum__Mainnet__Block". Did you mean "number"?',
    'Cannot query field "hahs" on type "Ethereum__Mainnet__Block".',
  ])
  const text = 'query ($f: BlockFilterArg) { Block(filter: $f) { number } }'
  assert.deepEqual(await errors(text, { f: { nummer: 1 } }), [
    'Variable "$f" got invalid value { nummer: 1 }; Field "nummer" is not defined by type "Ethereum__Mainnet__BlockFilterArg".',
  ])
})
