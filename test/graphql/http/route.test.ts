import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { graphqlPath } from '../../../src/graphql/http/route.ts'
import { paths } from '../../../src/service/contract.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { openTestApi, type TestApi } from '../support/graphql-server.ts'

const chain = createChain({ count: 3 })
const [, second, third] = chain
const open = (t: TestContext): Promise<TestApi> => openTestApi(t, { blocks: chain })

const json = { 'content-type': 'application/json' }
const post = (url: string, body: string, headers: Record<string, string> = json) =>
  fetch(url, { method: 'POST', headers, body })
const urlOf = (api: TestApi, parameters: Record<string, string>): string =>
  `${api.url}?${new URLSearchParams(parameters)}`

const numbers = '{"data":{"Block":[{"number":1},{"number":2},{"number":3}]}}'

/** Service page: "the Host GraphQL endpoint lives under `/api/v0`". */
test('the endpoint has the documented path', () => {
  assert.equal(graphqlPath, paths.graphql)
  assert.equal(graphqlPath, '/api/v0/graphql')
})

test('a query by POST is answered with JSON and status 200', async (t) => {
  const api = await open(t)
  const query = 'query ($n: Int!) { Block(filter: {number: {_eq: $n}}) { number hash } }'
  const response = await post(api.url, JSON.stringify({ query, variables: { n: 2 } }))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(response.headers.get('retry-after'), null)
  assert.deepEqual(await response.json(), {
    data: { Block: [{ number: 2, hash: second?.hash }] },
  })
})

test('a query by GET takes its variables as JSON text', async (t) => {
  const api = await open(t)
  const query = `
    query One($n: Int) { Block(filter: {number: $n}) { hash } }
    query Other { Block { number } }`
  const variables = '{"n": 3}'
  const response = await fetch(urlOf(api, { query, variables, operationName: 'One' }))
  assert.equal(response.status, 200)
  assert.deepEqual(await response.json(), { data: { Block: [{ hash: third?.hash }] } })
})

test('variables may be JSON text in a body too, and null or empty ones mean none', async (t) => {
  const api = await open(t)
  const query = 'query ($n: Int) { Block(filter: {number: $n}) { number } }'
  for (const [variables, expected] of [
    ['{"n": 1}', '{"data":{"Block":[{"number":1}]}}'],
    [null, numbers],
    ['', numbers],
  ]) {
    const response = await post(api.url, JSON.stringify({ query, variables, operationName: null }))
    assert.equal(await response.text(), expected)
  }
})

test('a query in the URL takes precedence over the body', async (t) => {
  const api = await open(t)
  const response = await post(urlOf(api, { query: '{ Block { number } }' }), '{"query": "{ x }"}')
  assert.equal(await response.text(), numbers)
  const inBody = await post(`${api.url}?query=`, '{"query": "{ Block { number } }"}')
  assert.equal(await inBody.text(), numbers)
  const twice = await fetch(`${api.url}?query={a}&query={b}`)
  assert.deepEqual(await twice.json(), { error: `No query. ${hint}` })
})

test('the content type of a body does not matter, but application/graphql is the query itself', async (t) => {
  const api = await open(t)
  const query = '{ Block { number } }'
  const body = JSON.stringify({ query })
  const types = [
    'application/json',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
  ]
  for (const type of [...types, 'application/graphql+json']) {
    const response = await post(api.url, body, { 'content-type': type })
    assert.equal(await response.text(), numbers, type)
  }
  for (const type of ['application/graphql', 'application/graphql; charset=utf-8']) {
    const response = await post(api.url, query, { 'content-type': type })
    assert.equal(await response.text(), numbers, type)
  }
  const untyped = await fetch(api.url, { method: 'POST', body: Buffer.from(body) })
  assert.equal(await untyped.text(), numbers)
})

test('the probe { __typename } is answered, also by an empty store', async (t) => {
  const api = await openTestApi(t)
  assert.deepEqual(await api.ask('{ __typename }'), {
    status: 200,
    body: { data: { __typename: 'Query' } },
  })
  assert.deepEqual(await api.ask('{ Ethereum__Mainnet__Block { number } }'), {
    status: 200,
    body: { data: { Ethereum__Mainnet__Block: [] } },
  })
})

test('errors of a query are reported with status 200 and data null', async (t) => {
  const api = await open(t)
  assert.deepEqual(await api.ask('{ Block { height } }'), {
    status: 200,
    body: {
      data: null,
      errors: [
        {
          message: 'Cannot query field "height" on type "Ethereum__Mainnet__Block".',
          locations: [{ line: 1, column: 11 }],
        },
      ],
    },
  })
  assert.deepEqual(await api.ask('{ Block { number }'), {
    status: 200,
    body: {
      data: null,
      errors: [
        {
          message: 'Syntax Error: Expected Name, found <EOF>.',
          locations: [{ line: 1, column: 19 }],
        },
      ],
    },
  })
})

test('the status stays 200 for clients that ask for application/graphql-response+json', async (t) => {
  const api = await open(t)
  const accept = 'application/graphql-response+json'
  for (const query of ['{ Block { number } }', '{ nothing }']) {
    const response = await post(api.url, JSON.stringify({ query }), { ...json, accept })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  }
})

test('mutations are refused with a message', async (t) => {
  const api = await open(t)
  const { status, body } = await api.ask('mutation { add_Block(input: [{number: 1}]) { number } }')
  assert.equal(status, 200)
  assert.deepEqual(body, {
    data: null,
    errors: [
      {
        message:
          'Mutations are refused: documents only come from sealed blocks. Send a query or a subscription.',
        locations: [{ line: 1, column: 1 }],
        extensions: { code: 'GRAPHQL_READ_ONLY' },
      },
    ],
  })
})

const hint =
  'Send JSON (application/json) like {"query": "{ Block(limit: 1) { number } }", "variables": {}}.'
const unreadable: readonly (readonly [body: string, error: string])[] = [
  ['', `The body is empty. ${hint}`],
  ['{ Block { number } }', `The body is not JSON. ${hint}`],
  ['{"query": "{ Block', `The body is not JSON. ${hint}`],
  ['[{"query": "{ __typename }"}]', `Send each query in a request of its own. ${hint}`],
  ['"{ __typename }"', `No query. ${hint}`],
  ['null', `No query. ${hint}`],
  ['{}', `No query. ${hint}`],
  ['{"query": ""}', `No query. ${hint}`],
  ['{"query": " \\n"}', `No query. ${hint}`],
  ['{"query": 7}', `No query. ${hint}`],
  ['{"query": "{ a }", "variables": [1]}', 'variables must be a JSON object.'],
  ['{"query": "{ a }", "variables": 7}', 'variables must be a JSON object.'],
  ['{"query": "{ a }", "variables": "{n: 1}"}', 'variables must be a JSON object.'],
  ['{"query": "{ a }", "operationName": 7}', 'operationName must be text.'],
]
test('a body that holds no query is a 400 that says what to send', async (t) => {
  const api = await openTestApi(t)
  for (const [body, error] of unreadable) {
    const response = await post(api.url, body)
    assert.deepEqual([response.status, await response.json()], [400, { error }], body)
  }
})

test('a query sent as plain text gets an error that names the accepted content types', async (t) => {
  const api = await openTestApi(t)
  const type = { 'content-type': 'text/plain ; charset=UTF-8' }
  const response = await post(api.url, '{ Block { number } }', type)
  const error = `The body is not JSON, and its content type is text/plain. ${hint} A query by itself is sent as application/graphql.`
  assert.deepEqual([response.status, await response.json()], [400, { error }])
  const untyped = { method: 'POST', body: Buffer.from('{ Block { number } }') }
  assert.deepEqual(await (await fetch(api.url, untyped)).json(), {
    error: `The body is not JSON. ${hint}`,
  })
})

test('a content type that is none is refused, and a failure of the service is not explained', async (t) => {
  const api = await openTestApi(t, {
    wrap: (graphql) => ({ ...graphql, execute: () => Promise.reject(new Error('a secret')) }),
  })
  const refused = await post(api.url, '{}', { 'content-type': 'x' })
  assert.equal(refused.status, 415)
  assert.deepEqual(await refused.json(), { error: 'Unsupported Media Type' })
  const failed = await post(api.url, '{"query": "{ a }"}')
  assert.deepEqual(
    [failed.status, await failed.json()],
    [
      500,
      {
        error: 'internal_error',
        message: 'internal error',
        remedy: 'Look for "request failed" in the log of this program.',
      },
    ],
  )
})

test('a body of more than 64 KiB is read when it is its turn', async (t) => {
  let turns = 0
  const api = await openTestApi(t, {
    blocks: chain,
    wrap: (graphql) => ({
      ...graphql,
      scheduler: {
        ...graphql.scheduler,
        isBusy: () => false,
        async nextTurn() {
          turns++
        },
      },
    }),
  })
  const body = JSON.stringify({ query: '{ Block { number } }' })
  for (const [length, expected] of [
    [64 * 1024, 0],
    [64 * 1024 + 1, 1],
  ] as const) {
    assert.equal(await (await post(api.url, body.padEnd(length))).text(), numbers)
    assert.equal(turns, expected)
  }
})

test('no body, URL or header makes the service return a 5xx', async (t) => {
  const api = await open(t)
  const header = fc.constantFrom('application/json', 'application/graphql', 'text/plain', 'x')
  const jsonBody = fc
    .record({ query: fc.anything(), variables: fc.anything(), operationName: fc.anything() })
    .map((value) => JSON.stringify(value) ?? '')
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), jsonBody), header, fc.string(), async (...input) => {
      const [body, type, query] = input
      const url = query.isWellFormed() ? urlOf(api, { query, variables: body }) : api.url
      for (const target of [api.url, url]) {
        const response = await post(target, body, { 'content-type': type })
        const text = await response.text()
        assert.ok([200, 400, 415].includes(response.status), text)
      }
    }),
    { numRuns: 60 },
  )
})

test('other methods get a 405 that names the accepted ones', async (t) => {
  const api = await open(t)
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const response = await fetch(api.url, { method, body: '{}' })
    assert.equal(response.status, 405)
    assert.equal(response.headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
    assert.deepEqual(await response.json(), {
      error: `${method} is not accepted here; send queries by POST or GET.`,
    })
  }
})

test('a body may be as large as the limit, and a larger one gets an error with the remedy', async (t) => {
  const api = await openTestApi(t, { blocks: chain, routes: { maxBodyBytes: 1000 } })
  const body = JSON.stringify({ query: '{ Block { number } }' })
  const largest = await post(api.url, body.padEnd(1000))
  assert.equal(await largest.text(), numbers)
  const tooLarge = await post(api.url, body.padEnd(1001))
  assert.equal(tooLarge.status, 413)
  assert.equal(tooLarge.headers.get('access-control-allow-origin'), '*')
  assert.deepEqual(await tooLarge.json(), {
    error:
      'The body is larger than 1000 bytes. Ask for fewer values in one request, for example in parts of a long _in list.',
  })
})

test('pages of any origin may read answers, without credentials', async (t) => {
  const api = await open(t)
  const origin = 'https://explorer.example'
  const response = await post(api.url, '{"query": "{ __typename }"}', { ...json, origin })
  assert.equal(response.headers.get('access-control-allow-origin'), '*')
  assert.equal(response.headers.get('access-control-allow-credentials'), null)
  const preflight = await fetch(api.url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-trace',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD, POST, OPTIONS')
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'content-type,x-trace')
  const plain = await fetch(api.url, { method: 'OPTIONS', headers: { origin } })
  assert.equal(plain.headers.get('access-control-allow-headers'), 'content-type')
  const mistaken = await post(api.url, '', { ...json, origin })
  assert.equal(mistaken.headers.get('access-control-allow-origin'), '*')
})

test('/health-check returns "Healthy", and other paths are a 404 in JSON', async (t) => {
  const api = await open(t)
  const health = await fetch(`${api.origin}/health-check`)
  assert.equal(health.status, 200)
  assert.equal(await health.text(), '"Healthy"')
  const other = await fetch(`${api.origin}/api/v0/collections`)
  assert.equal(other.status, 404)
  assert.deepEqual(await other.json(), {
    error: 'not_found',
    message: 'there is nothing at /api/v0/collections',
    remedy: 'Look for the path, and for the port that serves it, on the page on endpoints.',
  })
})
