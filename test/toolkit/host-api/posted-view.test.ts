import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { requestHost } from '../../../src/toolkit/host-api/host-request.ts'
import { findView, postView, removePostedView } from '../../../src/toolkit/host-api/posted-view.ts'
import { noSender, viewIDs } from '../../../src/views/view-id.ts'

const signal = new AbortController().signal
const report = {
  ...{ ...viewIDs(noSender, Uint8Array.of(1)), name: 'Things' },
  ...{ state: 'live', rows: 1, blocks_failed: 0, error: null },
}

/** A Host that answers so. */
async function openHost(context: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A Host whose every answer is this. */
const answering = (context: TestContext, status: number, body: unknown): Promise<string> =>
  openHost(context, (request, response) => {
    request.resume()
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  })

test('a View that a Host has already is not new', async (context) => {
  for (const [status, isNew] of [
    [201, true],
    [200, false],
  ] as const) {
    const url = await answering(context, status, report)
    const posted = await postView({ url, token: 't' }, Uint8Array.of(1), signal)
    assert.deepEqual(posted, { report: { ...report, warnings: [] }, isNew })
  }
})

test('a View of another chain, which has no name at a Host, is reported as foreign', async (context) => {
  const foreign = { ...report, name: null, state: 'foreign', warnings: [] }
  const host = { url: await answering(context, 200, foreign), token: null }
  assert.deepEqual(await findView(host, report.id, signal), foreign)
})

test('a View that a Host does not have is null, and removing it does no harm', async (context) => {
  const host = { url: await answering(context, 404, {}), token: null }
  assert.equal(await findView(host, report.id, signal), null)
  await removePostedView(host, report.id, signal)
  const other = { url: await answering(context, 204, ''), token: null }
  await removePostedView(other, report.id, signal)
})

test('what a Host refuses is shown on one line, with what to do about it', async (context) => {
  const refusedBy = async (status: number, body: object) => {
    const host = { url: await answering(context, status, body), token: 't' }
    const errors: unknown[] = []
    for (const ask of [
      () => postView(host, Uint8Array.of(1), signal),
      () => findView(host, report.id, signal),
      () => removePostedView(host, report.id, signal),
    ])
      await ask().catch((error: unknown) => errors.push(error))
    const [first, ...others] = errors.map((error) => {
      const { code, message, facts, remedy } = error as Record<string, unknown>
      return { code, message: String(message).replace(host.url, 'HOST'), facts, remedy }
    })
    assert.deepEqual(others, [first, first])
    return first
  }
  const full = { message: 'it is\nfull', code: 'HOST_VIEWS_FULL', remedy: 'Remove\u001b[2J one.' }
  assert.deepEqual(await refusedBy(409, full), {
    code: 'TOOLKIT_HOST_REFUSED',
    message: 'HOST refuses: it is full',
    facts: { status: 409, code: 'HOST_VIEWS_FULL' },
    remedy: 'Remove one.',
  })
  const long = await refusedBy(409, { code: 'X'.repeat(81) })
  assert.deepEqual(long?.facts, { status: 409, code: 'X'.repeat(80) })
  const unknown = await refusedBy(500, {})
  assert.deepEqual(
    [unknown?.message, unknown?.facts, unknown?.remedy],
    ['HOST refuses: status 500', { status: 500 }, 'Read the log of the Host.'],
  )
  assert.equal((await refusedBy(409, { error: 'conflict' }))?.message, 'HOST refuses: conflict')
  for (const status of [401, 403])
    assert.equal(
      (await refusedBy(status, { remedy: 'no' }))?.remedy,
      'Give the token that this Host has in its HOST_ADMIN_TOKEN or HOST_ADMIN_TOKEN_FILE (npm start prints that of its own): set HOST_ADMIN_TOKEN to it, or name a file with it by --admin-token-file.',
    )
  for (const status of [500, 503])
    assert.equal((await refusedBy(status, { remedy: 'Wait.' }))?.remedy, 'Wait.')
})

test('where a Generator or a playground answers, the URL of a Host is asked for', async (context) => {
  const absent = { error: 'not_found', message: 'there is nothing at /api/v0/views' }
  const host = { url: await answering(context, 404, absent), token: 't' }
  await assert.rejects(postView(host, Uint8Array.of(1), signal), {
    code: 'TOOLKIT_HOST_REFUSED',
    message: `${host.url} refuses: there is nothing at /api/v0/views`,
    remedy:
      'Name the URL of the GraphQL of a Host, as npm start prints it: what answers there is something else.',
  })
})

test('an answer that is no report of a View is refused', async (context) => {
  for (const body of [
    {},
    [],
    { ...report, id: '0x1' },
    { ...report, name: 'a b' },
    { ...report, name: 'a'.repeat(257) },
    { ...report, state: 'a'.repeat(33) },
  ]) {
    const host = { url: await answering(context, 200, body), token: null }
    await assert.rejects(findView(host, report.id, signal), {
      code: 'TOOLKIT_HOST_ANSWER_INVALID',
      message: `${host.url} returned something other than the report of a View`,
    })
  }
})

test('the longest name and state are taken, and one bounded line of what is wrong', async (context) => {
  const longest = { ...report, name: 'a'.repeat(256), state: 'b'.repeat(32) }
  const error = { code: 'X\n', message: `no\u001b[2J\n${'x'.repeat(5_000)}` }
  const host = { url: await answering(context, 200, { ...longest, error }), token: null }
  const found = await findView(host, report.id, signal)
  const message = `no ${'x'.repeat(1_993)}`
  assert.deepEqual(found, { ...longest, error: { code: 'X ', message }, warnings: [] })
})

test('of the warnings of a Host the first twenty are looked at, and no others', async (context) => {
  const warning = { code: 'A', message: 'b', remedy: 'c' }
  const warnings = [...Array<object>(20).fill(warning), {}, 1]
  const host = { url: await answering(context, 200, { ...report, warnings }), token: null }
  assert.deepEqual((await findView(host, report.id, signal))?.warnings, warnings.slice(0, 20))
  const wrong = { ...report, warnings: [...warnings.slice(0, 19), {}] }
  const other = { url: await answering(context, 200, wrong), token: null }
  await assert.rejects(findView(other, report.id, signal), { code: 'TOOLKIT_HOST_ANSWER_INVALID' })
})

test('the report of another View than the posted or the wanted one is refused', async (context) => {
  const other = { ...report, ...viewIDs(noSender, Uint8Array.of(2)) }
  const host = { url: await answering(context, 200, other), token: null }
  const refusal = {
    code: 'TOOLKIT_HOST_ANSWER_INVALID',
    message: `${host.url} returned the report of the View ${other.id} in place of ${report.id}`,
  }
  await assert.rejects(postView(host, Uint8Array.of(1), signal), refusal)
  await assert.rejects(findView(host, report.id, signal), refusal)
  assert.equal((await findView(host, other.address, signal))?.id, other.id)
})

test('the token goes to the Host alone, and no redirect is followed', async (context) => {
  const seen: unknown[] = []
  const url = await openHost(context, async (request, response) => {
    const { url: path, headers } = request
    seen.push([path, headers.authorization, headers['content-type'], await text(request)])
    if (path === '/base/away') response.writeHead(302, { location: '/base/here' })
    response.end()
  })
  const request = { method: 'GET', path: '/here' } as const
  assert.deepEqual(await requestHost({ url: `${url}/base/`, token: 't' }, request), {
    status: 200,
    body: null,
  })
  await requestHost({ url, token: null }, { ...request, method: 'POST', body: { a: 1 } })
  const away = requestHost({ url: `${url}/base`, token: 't' }, { ...request, path: '/away' })
  await assert.rejects(away, { code: 'TOOLKIT_HOST_UNREACHABLE' })
  assert.deepEqual(seen, [
    ['/base/here', 'Bearer t', undefined, ''],
    ['/here', undefined, 'application/json', '{"a":1}'],
    ['/base/away', 'Bearer t', undefined, ''],
  ])
})

test('what a Host answers is bounded in size, values and time', async (context) => {
  const url = await answering(context, 200, '"12345678"')
  const request = { method: 'GET', path: '/' } as const
  const host = { url, token: null }
  assert.equal((await requestHost(host, { ...request, maxBytes: 10 })).body, '12345678')
  await assert.rejects(requestHost(host, { ...request, maxBytes: 9 }), {
    code: 'TOOLKIT_HOST_ANSWER_INVALID',
    message: `${url} answered more than 9 bytes to one request`,
  })
  const silent = { url: await openHost(context, () => undefined), token: null }
  await assert.rejects(requestHost(silent, { ...request, timeoutMs: 20 }), {
    code: 'TOOLKIT_HOST_TIMEOUT',
    message: `${silent.url} did not answer in 20 ms`,
  })
  const refused = async (body: string, what: string): Promise<void> => {
    const url = await answering(context, 200, body)
    await assert.rejects(requestHost({ url, token: null }, request), {
      code: 'TOOLKIT_HOST_ANSWER_INVALID',
      message: `${url} answered ${what}`,
    })
  }
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const deep = { url: await answering(context, 200, nested(64)), token: null }
  assert.equal(JSON.stringify((await requestHost(deep, request)).body), nested(64))
  await refused(nested(65), 'JSON of more than 64 brackets in each other')
  const listing = (values: number): string => `[${'0,'.repeat(values - 1)}0]`
  const many = { url: await answering(context, 200, listing(2_000_000)), token: null }
  assert.equal(((await requestHost(many, request)).body as readonly unknown[]).length, 2_000_000)
  await refused(listing(2_000_001), 'more than 2000000 values to one request')
  const reason = new Error('stopped')
  const stopped = { ...request, signal: AbortSignal.abort(reason) }
  await assert.rejects(requestHost(silent, stopped), reason)
})

test('an answer that is not JSON is shown by its first 80 characters, on one line', async (context) => {
  const page = `<a>\n"${'x'.repeat(80)}`
  const url = await answering(context, 200, page)
  await assert.rejects(requestHost({ url, token: null }, { method: 'GET', path: '/' }), {
    code: 'TOOLKIT_HOST_ANSWER_INVALID',
    message: `${url} returned something other than JSON: ${JSON.stringify(page.slice(0, 80))}`,
    remedy: 'Name the API port of a Host (9181 by default), not its playground or its health port.',
  })
})

test('a Host that ends the connection, or is not there, is unreachable, with the reason', async (context) => {
  const request = { method: 'GET', path: '/' } as const
  const closing = await openHost(context, (_, response) => void response.destroy())
  const breaking = await openHost(context, (_, response) => {
    response.write('"', () => response.destroy())
  })
  for (const [url, reason] of [
    [closing, 'other side closed'],
    [breaking, 'other side closed'],
    [`${closing}/base//`, 'other side closed'],
    ['http://127.0.0.1:1', 'bad port'],
    ['https://127.0.0.1:1', 'bad port'],
  ] as const)
    await assert.rejects(requestHost({ url, token: null }, request), (error) => {
      const { code, message, cause } = error as Error & { readonly code: string }
      assert.equal(code, 'TOOLKIT_HOST_UNREACHABLE')
      assert.equal(message, `no answer from ${new URL(url).origin}`)
      assert.equal((cause as Error).message, reason)
      return true
    })
})

test('a token that no request can carry is refused without being shown', async () => {
  const request = { method: 'GET', path: '/' } as const
  for (const token of ['se\ncret', 'secret\u0000', 'secret€'])
    await assert.rejects(requestHost({ url: 'http://127.0.0.1:9', token }, request), (error) => {
      assert.equal((error as { code?: unknown }).code, 'TOOLKIT_INPUT_UNREADABLE')
      assert.match(`${error}`, /the admin token has a line end, or another character/)
      assert.doesNotMatch(inspect(error), /cret/)
      return true
    })
})

test('a URL that is no Host, or has a password in it, is not asked', async () => {
  const request = { method: 'GET', path: '/' } as const
  for (const url of ['nowhere', 'ftp://a', 'http://u@a', 'http://:p@a'])
    await assert.rejects(requestHost({ url, token: null }, request), {
      code: 'TOOLKIT_HOST_URL_INVALID',
      message: `${JSON.stringify(url)} is not a URL of a Host`,
    })
  await assert.rejects(requestHost({ url: 'x'.repeat(201), token: null }, request), {
    message: `"${'x'.repeat(200)}" is not a URL of a Host`,
  })
})
