import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openExampleHost } from '../../docs/support/example-host.ts'
import { compileErrors } from '../support/compile.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const token = 'a token of tests only, and long enough'

const fields = `text: String @index name: ID count: Int share: Float done: Boolean amount: BigInt
  extra: JSON texts: [String] amounts: [BigInt] extras: [JSON]`
const query = `Log { text: address name: transactionHash count: logIndex share: logIndex amount: data
  extra: transaction { hash status } texts: topics amounts: topics extras: topics }`

/** A Host with two Views that hold all scalars, the module of their types, and what the Host answers to its queries. */
async function open(t: TestContext) {
  const host = await openExampleHost({ HOST_ADMIN_TOKEN: token })
  t.after(() => host.close())
  const terminal = await openTestTerminal(t)
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const post = async (path: string, body: unknown, accept = 'application/json') =>
    await fetch(`${host.apiOrigin}/api/v0/${path}`, {
      ...{ method: 'POST', headers: { ...headers, accept }, body: JSON.stringify(body) },
    })
  for (const [name, stored] of [
    ['Kept', true],
    ['Streamed', false],
  ] as const) {
    const sdl = `type ${name} @materialized(if: ${stored}) { ${fields} }`
    assert.equal((await post('views', { query, sdl })).status, 201)
  }
  const elsewhere = {
    query: 'Ethereum__Mainnet__Log { address }',
    sdl: 'type Far { address: String }',
  }
  assert.equal((await post('views', elsewhere)).status, 201)
  const out = join(terminal.cwd, 'views.ts')
  const { exitCode, stderr } = await terminal.run([
    ...['types', '--host', host.apiOrigin, '--out', 'views.ts'],
  ])
  assert.deepEqual([exitCode, stderr], [0, ''])
  const documents: Record<string, unknown> = await import(pathToFileURL(out).href)
  const ask = async (document: string, variables: string): Promise<unknown> => {
    const value: unknown = new Function(`return ${variables}`)()
    const sent = { query: documents[document], variables: value }
    const { data, errors } = (await (await post('graphql', sent)).json()) as Answer
    assert.equal(errors, undefined, `${document} with ${variables}: ${JSON.stringify(errors)}`)
    return data
  }
  return { host, terminal, module: readFileSync(out, 'utf8'), documents, ask, post }
}

interface Answer {
  readonly data?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  readonly errors?: unknown
}

/** What the compiler says of an answer as a value of a type of the module. */
function fitErrors(module: string, type: string, answer: unknown): readonly string[] {
  const use = `import type { ${type} } from './views.ts'
export const answer: ${type} = ${JSON.stringify(answer)}\n`
  return compileErrors({ 'views.ts': module, 'use.ts': use })
}

// Each is compiled as variables of the query, and sent.
const accepted = [
  '{ limit: 3 }',
  '{ limit: 2, offset: 1, order: [{ count: "DESC" }, { _blockNumber: "ASC" }] }',
  '{ filter: { text: "0x5FbDB2315678afecb367f032d93F642f64180aa3" }, limit: 1 }',
  '{ filter: { text: { _like: "0x5fbd%", _neq: null }, name: { _in: ["0x01", null] } } }',
  '{ filter: { _or: [{ count: { _geq: 0, _lt: 9 } }, { _not: { share: { _gt: 0.5 } } }] }, limit: 1 }',
  '{ filter: { done: null, amount: { _gt: "1000000000000000000000", _neq: 7 } } }',
  '{ filter: { texts: { _any: { _ilike: "0xDDF2%" }, _neq: null } }, limit: 1 }',
  '{ filter: { amounts: { _all: { _gt: 0 } }, extra: { _neq: null }, extras: { _neq: null } }, limit: 1 }',
  '{ filter: { texts: ["0x01"], amounts: [1, "2", null] } }',
  '{ filter: { _blockNumber: 6, _attestations: { _geq: 1 } }, docID: undefined, limit: 1 }',
]

test('what a Host answers to a typed query fits its types, and nothing else does', async (t) => {
  const { module, ask } = await open(t)
  const data = await ask('KeptQuery', '{ limit: 3 }')
  assert.deepEqual(fitErrors(module, 'KeptData', data), [])
  const rows = (data as NonNullable<Answer['data']>)['Kept'] ?? []
  assert.equal(rows.length, 3)
  const [row] = rows
  assert.match(`${row?.['amount']}`, /^\d+$/)
  for (const [field, wrong] of Object.entries({
    ...{ _docID: null, _blockNumber: null, _hosts: '1', text: 1, name: 1, count: '1', share: '1' },
    ...{ done: 'true', amount: 'one', extra: undefined, texts: [1], amounts: ['one'], extras: 1 },
  })) {
    const changed = { Kept: [{ ...row, [field]: wrong }] }
    assert.equal(fitErrors(module, 'KeptData', changed).length, 1, `${field}: ${wrong}`)
  }
})

test('variables that compile are accepted by a Host, for rows that are stored or computed', async (t) => {
  const { module, ask } = await open(t)
  for (const name of ['Kept', 'Streamed']) {
    const lines = accepted.map((one) => `  ${one},`).join('\n')
    const use = `import type { ${name}Variables } from './views.ts'
export const accepted: readonly ${name}Variables[] = [\n${lines}\n]\n`
    assert.deepEqual(compileErrors({ 'views.ts': module, 'use.ts': use }), [])
    for (const variables of accepted) {
      const data = await ask(`${name}Query`, variables)
      assert.deepEqual(fitErrors(module, `${name}Data`, data), [], variables)
    }
  }
})

test('an event of a typed subscription fits its types', async (t) => {
  const { host, module, documents, post } = await open(t)
  const sent = {
    query: documents['KeptSubscription'],
    variables: { filter: { count: { _lt: 2 } } },
  }
  const { body } = await post('graphql', sent, 'text/event-stream')
  let text = ''
  for await (const chunk of body ?? []) {
    // The first bytes say that the subscription stands.
    if (text === '') await host.addLast()
    text += Buffer.from(chunk).toString()
    if (/^data: .*\n\n/m.test(text)) break
  }
  const { data } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as Answer
  assert.equal(data?.['Kept']?.[0]?.['_blockNumber'], 7)
  assert.deepEqual(fitErrors(module, 'KeptData', data), [])
})

test('the named Views of a Host are typed, a wrong name is reported, and no Host ends with 3', async (t) => {
  const { host, terminal } = await open(t)
  const from = ['types', '--host', host.apiOrigin] as const
  const views = async (...names: string[]): Promise<unknown> =>
    ((await terminal.json(...from, ...names)) as { views: unknown }).views
  assert.deepEqual(await views('Kept', 'TokenTransfer'), ['Kept', 'TokenTransfer'])
  // One that reads another chain has no rows here.
  assert.deepEqual(await views(), ['Kept', 'Streamed', 'TokenTransfer'])
  assert.deepEqual(await terminal.run([...from, 'Tokentransfer']), {
    exitCode: 1,
    stdout: '',
    stderr:
      `error: ${host.apiOrigin} serves no View 'Tokentransfer'; did you mean TokenTransfer?\n` +
      `What to do: ${host.apiOrigin}/api/v0/views shows the names under which it serves Views.\n`,
  })
  const away = await terminal.run(['types', '--host', 'http://127.0.0.1:9'])
  assert.equal(away.exitCode, 3)
  assert.match(away.stderr, /^error: no answer from http:\/\/127\.0\.0\.1:9\n/)
})

const id = `0x${'ab'.repeat(32)}`

/** A server that answers the list and, below it, a View. */
const answering =
  (list: unknown, view: unknown): RequestListener =>
  ({ url }, response) =>
    response.end(JSON.stringify(url === '/api/v0/views' ? list : view))

const one = (name: unknown, sdl: unknown): RequestListener =>
  answering({ views: [{ id, name }] }, { sdl })
const good = 'type A { x: Int }'

const hostile: Readonly<Record<string, readonly [RequestListener, RegExp]>> = {
  'a name that ends a comment': [one('A */ evil() /*', good), /does not list at most 2000 Views/],
  'a name with a quote': [one('A`+evil()+`', good), /does not list at most 2000 Views/],
  'a name with a line behind it': [one('A\n', good), /does not list at most 2000 Views/],
  'a name of the prototype': [one('__proto__', good), /does not list at most 2000 Views/],
  'an ID that is another path': [
    answering({ views: [{ id: '../health', name: 'A' }] }, { sdl: good }),
    /does not list at most 2000 Views/,
  ],
  'more Views than are read': [
    answering(
      { views: [...new Array(2_000).fill({ id, name: null }), { id, name: 'A' }] },
      { sdl: good },
    ),
    /does not list at most 2000 Views/,
  ],
  'one name twice': [
    answering(
      {
        views: [
          { id, name: 'A' },
          { id, name: 'A' },
        ],
      },
      { sdl: good },
    ),
    /two Views are named A/,
  ],
  'a field that leaves its type': [
    one('A', 'type A { "x" x: Int }; evil()'),
    /the View A: the SDL, line 1, column 22: Unexpected character: ";"/,
  ],
  'a thousand types': [
    one('A', Array.from({ length: 400 }, (_, n) => `type T${n}{a:Int}`).join(' ')),
    /the View A: the SDL, line 1, column 16: something follows the type/,
  ],
  'an SDL of megabytes': [
    one('A', `type A { "${'x'.repeat(4_000_000)}" x: Int }`),
    /8192 are accepted/,
  ],
  'a failure that looks like a list': [
    (request, response) => {
      response.statusCode = 500
      one('A', good)(request, response)
    },
    /^error: \S+ answers with the status 500\n/,
  ],
  'no SDL': [one('A', undefined), /has a View without an SDL/],
  'something other than JSON': [(_, response) => void response.end('<html>'), /other than JSON/],
  'a redirect': [
    (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    /no answer from/,
  ],
  'bytes without end': [
    (_, response) => {
      const more = (): void =>
        void (response.destroyed || response.write('['.repeat(1 << 20), more))
      more()
    },
    /answered more than 67108864 bytes/,
  ],
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a View that went since it was listed is left out', async (t) => {
  const { run } = await openTestTerminal(t)
  const gone = `0x${'cd'.repeat(32)}`
  const views = [id, gone].map((each) => ({ id: each, name: each === id ? 'A' : 'B' }))
  const url = await serve(t, (request, response) => {
    if (request.url?.endsWith(gone)) response.writeHead(404).end('{}')
    else answering({ views }, { sdl: good })(request, response)
  })
  const { exitCode, stdout } = await run(['types', '--host', url])
  assert.equal(exitCode, 0)
  assert.match(stdout, /\bA\b/)
  assert.doesNotMatch(stdout, /\bB\b/)
})

test('a Host that answers slowly is asked for two minutes in all, and then given up', async (t) => {
  const { run } = await openTestTerminal(t)
  for (const [passedMs, leftMs] of [
    [119_980, 20],
    [130_000, 1],
  ] as const) {
    let now = 0
    const clock = t.mock.method(performance, 'now', () => now)
    const url = await serve(t, (request, response) => {
      if (request.url !== '/api/v0/views') return
      now += passedMs
      response.end(JSON.stringify({ views: [{ id, name: 'A' }] }))
    })
    const { exitCode, stderr } = await run(['types', '--host', url])
    clock.mock.restore()
    const message = `error: ${url} did not answer in ${leftMs} ms`
    assert.deepEqual([exitCode, stderr.split('\n')[0]], [3, message])
  }
})

test('of names that may be meant those of a Host of up to 128 characters are compared', async (t) => {
  const { run } = await openTestTerminal(t)
  for (const [length, meant] of [
    [128, `; did you mean ${'a'.repeat(128)}?`],
    [129, ''],
  ] as const) {
    const url = await serve(t, one('a'.repeat(length), good))
    const typed = `${'a'.repeat(length - 1)}b`
    const { stderr } = await run(['types', '--host', url, typed])
    assert.equal(stderr.split('\n')[0], `error: ${url} serves no View '${typed}'${meant}`)
  }
})

test('what a hostile Host serves is refused with its place, and no line of it is written', async (t) => {
  const { run, cwd } = await openTestTerminal(t)
  let answer: RequestListener = () => undefined
  const url = await serve(t, (request, response) => answer(request, response))
  const argv = ['types', '--host', url, '--out', 'views.ts']
  for (const [what, [listener, message]] of Object.entries(hostile)) {
    answer = listener
    const { exitCode, stdout, stderr } = await run(argv)
    assert.match(stderr, message, what)
    assert.deepEqual([stdout, existsSync(join(cwd, 'views.ts'))], ['', false], what)
    assert.ok(exitCode === 1 || exitCode === 3, what)
  }
  answer = answering(
    { views: [...new Array(1_999).fill({ id, name: null }), { id, name: 'A' }] },
    { sdl: good },
  )
  assert.equal((await run(argv)).exitCode, 0)
  answer = one('A', '"*/ export const evil = 1 /* @ts-nocheck" type A { "` + evil() + `" x: Int }')
  assert.equal((await run(argv)).exitCode, 0)
  const module = readFileSync(join(cwd, 'views.ts'), 'utf8')
  assert.deepEqual(compileErrors({ 'views.ts': module }), [])
  assert.equal(Object.keys(await import(pathToFileURL(join(cwd, 'views.ts')).href)).length, 2)
})
