import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { schemaRoutes } from '../../../src/generator/schema/schema-routes.ts'
import type { TokenAuthOptions } from '../../../src/service/token-auth.ts'

const network = 'Local__Devnet'
const keys = ['first-key', 'second-key']

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, unknown>>
}

async function get(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  auth: TokenAuthOptions = { mode: 'none', keys: () => [] },
  method: 'GET' | 'HEAD' = 'GET',
): Promise<Answer> {
  const server = Fastify()
  schemaRoutes(server, { network, auth })
  const response = await server.inject({ method, url: `/api/v1/schema${path}`, headers })
  const body = response.body === '' ? null : response.json()
  return { status: response.statusCode, body, headers: response.headers }
}

const paths = [
  'block',
  'transaction',
  'log',
  'accessListEntry',
  'blockSignature',
  'snapshotSignature',
]
const types = [
  'Block',
  'Transaction',
  'Log',
  'AccessListEntry',
  'BlockSignature',
  'SnapshotSignature',
]

/** Service page: "Generator schema endpoints live under the path prefix `/api/v1`". */
test('GET /api/v1/schema returns network (the prefix in use) and schema (the full SDL)', async () => {
  const { status, body, headers } = await get('')
  const { network: prefix, schema } = body as { network: string; schema: string }
  assert.equal(status, 200)
  assert.equal(prefix, network)
  for (const type of types) assert.match(schema, new RegExp(`^type ${network}__${type} \\{$`, 'm'))
  assert.match(String(headers['content-type']), /^application\/json/)
  assert.equal(headers['cache-control'], 'no-cache')
})

for (const [index, path] of paths.entries())
  test(`GET /api/v1/schema/${path} returns the same envelope with that collection's SDL`, async () => {
    const { status, body } = await get(`/${path}`)
    const { network: prefix, schema } = body as { network: string; schema: string }
    assert.equal(status, 200)
    assert.equal(prefix, network)
    assert.match(schema, new RegExp(`^type ${network}__${types[index]} \\{`))
    assert.equal(schema.match(/^type /gm)?.length, 1)
  })

test('GET /api/v1/schema/collections returns network and a name with type_name per collection', async () => {
  const collections = paths.map((name, index) => ({
    name,
    type_name: `${network}__${types[index]}`,
  }))
  assert.deepEqual((await get('/collections')).body, { network, collections })
})

test('an unknown collection name returns 404', async () => {
  const { status, body } = await get('/event')
  assert.equal(status, 404)
  assert.deepEqual(body, { error: 'not_found', message: "collection 'event' not found" })
})

test('HEAD returns what GET does', async () => {
  assert.equal((await get('', {}, undefined, 'HEAD')).status, 200)
})

const token: TokenAuthOptions = { mode: 'token', keys: () => keys }
const refusals = {
  401: { error: 'unauthorized', message: 'missing or empty credentials' },
  403: { error: 'forbidden', message: 'invalid credentials' },
  503: { error: 'service_unavailable', message: 'no API keys configured on server' },
}

const cases: readonly [string, Record<string, string>, TokenAuthOptions, 200 | 401 | 403 | 503][] =
  [
    ['no key sent', {}, token, 401],
    ['an empty key', { 'x-api-key': ' ' }, token, 401],
    ['another scheme than Bearer', { authorization: 'Basic first-key' }, token, 401],
    ['Bearer without a token', { authorization: 'Bearer ' }, token, 401],
    [
      'a wrong Authorization beside a right X-Api-Key',
      { authorization: 'Basic x', 'x-api-key': 'first-key' },
      token,
      401,
    ],
    ['wrong key sent', { 'x-api-key': 'third-key' }, token, 403],
    ['wrong bearer token sent', { authorization: 'Bearer third-key' }, token, 403],
    ['a beginning of a key', { 'x-api-key': 'first-ke' }, token, 403],
    ['no keys configured, none sent', {}, { mode: 'token', keys: () => [] }, 503],
    [
      'no keys configured, one sent',
      { 'x-api-key': 'any' },
      { mode: 'token', keys: () => [] },
      503,
    ],
    ['Authorization: Bearer <token>', { authorization: 'Bearer first-key' }, token, 200],
    ['bearer in lower case', { authorization: 'bearer second-key' }, token, 200],
    ['X-Api-Key: <key>', { 'x-api-key': 'second-key' }, token, 200],
    ['mode none without a key', {}, { mode: 'none', keys: () => keys }, 200],
  ]

for (const [name, headers, auth, status] of cases)
  for (const path of ['', '/block', '/collections', '/event'])
    test(`/api/v1/schema${path} returns ${status}: ${name}`, async () => {
      const answer = await get(path, headers, auth)
      if (status !== 200) assert.deepEqual(answer.body, refusals[status])
      const expected = status === 200 && path === '/event' ? 404 : status
      assert.equal(answer.status, expected)
      assert.equal(answer.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined)
      if (auth.mode === 'token') assert.equal(answer.headers['cache-control'], 'no-cache')
    })

/** The rows of the service page's tables that are about these endpoints. */
const documented: Readonly<Record<string, () => Promise<Answer>>> = {
  'no key sent | 401': () => get('', {}, token),
  'wrong key sent | 403': () => get('', { 'x-api-key': 'third-key' }, token),
  'Generator configured with no keys at all | 503 (fails closed; never serves unauthenticated)':
    () => get('', { 'x-api-key': 'first-key' }, { mode: 'token', keys: () => [] }),
  '401 | schema endpoint in token mode, no key sent': () => get('/block', {}, token),
  '403 | schema endpoint, wrong key': () => get('/block', { 'x-api-key': 'third-key' }, token),
  '503 | schema endpoint, Generator has no keys configured': () =>
    get('/block', {}, { mode: 'token', keys: () => [] }),
  '404 | schema endpoint with unknown {collection}': () =>
    get('/event', { 'x-api-key': 'first-key' }, token),
}

for (const [row, ask] of Object.entries(documented))
  test(`the response is that of the service page: "${row}"`, async () => {
    const { status, body } = await ask()
    assert.match(row, new RegExp(`\\b${status}\\b`))
    assert.deepEqual(Object.keys(body as object), ['error', 'message'])
  })
