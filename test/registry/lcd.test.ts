/** The LCD of the registry chain: an honest one with more than it can send at once, and ones that lie. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { openLcd } from '../../src/registry/lcd.ts'
import { listViews } from '../../src/registry/list-views.ts'
import { retryAfterMs } from '../../src/registry/registry-failure.ts'
import { viewLimits } from '../../src/views/view.ts'
import { first } from '../views/vectors.ts'

const never = new AbortController().signal
const bounds = { pageLimit: 8, maxPages: 20 }

type Answer = (request: URL, response: ServerResponse, raw: IncomingMessage) => void

/** An LCD that answers so; on a busy machine that may take long. */
async function serve(t: TestContext, answer: Answer, timeoutMs = 30_000) {
  const server = createServer((request, response) =>
    answer(new URL(request.url ?? '', 'http://lcd'), response, request),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const lcd = openLcd({ url: `http://user:pass@127.0.0.1:${port}/base/`, timeoutMs })
  t.after(async () => {
    await lcd.close()
    server.closeAllConnections()
    server.close()
  })
  return lcd
}

const addressOf = (index: number): string => `0x${String(index).padStart(40, '0')}`

function rowOf(index: number): unknown {
  return { address: addressOf(index), creator: first.sender, name: 'V', height: String(index) }
}

/** Pages over `count` Views, of at most `most` each; what is asked for is noted. */
function pagesOf(count: number, most: number, asked: number[] = []): Answer {
  return ({ searchParams }, response) => {
    const limit = Number(searchParams.get('pagination.limit'))
    asked.push(limit)
    if (limit > most) {
      response.statusCode = 429
      response.end('{"code":8,"message":"grpc: received message larger than max"}')
      return
    }
    const start = Number(atob(searchParams.get('pagination.key') ?? '') || 0)
    const end = Math.min(count, start + limit)
    const views = Array.from({ length: end - start }, (_, index) => rowOf(start + index))
    const next_key = end < count ? btoa(String(end)) : null
    response.end(JSON.stringify({ views, pagination: { next_key, total: '0' } }))
  }
}

async function idsOf(pages: ReturnType<typeof listViews>): Promise<string[]> {
  const ids: string[] = []
  for await (const { views } of pages) ids.push(...views.map(({ id }) => id))
  return ids
}

test('a list is read page by page, with the path and the password of its URL', async (t) => {
  const requests: IncomingMessage[] = []
  const pages = pagesOf(20, 8)
  const lcd = await serve(t, (url, response, raw) => {
    requests.push(raw)
    pages(url, response, raw)
  })
  const expected = Array.from({ length: 20 }, (_, index) => addressOf(index))
  assert.deepEqual(await idsOf(listViews(lcd, bounds, never)), expected)
  assert.equal(requests.length, 3)
  for (const { url, headers } of requests) {
    assert.match(url ?? '', /^\/base\/shinzonetwork\/view\/v1\/views\?/)
    assert.equal(headers.authorization, `Basic ${btoa('user:pass')}`)
  }
})

test('a page that is too large for the chain is halved, at last to single Views', async (t) => {
  const asked: number[] = []
  const lcd = await serve(t, pagesOf(3, 1, asked))
  assert.deepEqual(await idsOf(listViews(lcd, bounds, never)), [0, 1, 2].map(addressOf))
  assert.deepEqual(asked, [8, 4, 2, 1, 2, 1, 2, 1])
})

test('an LCD that refuses single Views as well is given up', async (t) => {
  const lcd = await serve(t, pagesOf(3, 0))
  await assert.rejects(idsOf(listViews(lcd, bounds, never)), { code: 'REGISTRY_ANSWER_TOO_LARGE' })
})

test('a limit on how often it may be asked is not taken for a page that is too large', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 990 })
  let requests = 0
  const answers = [
    [undefined, undefined],
    ['7', 7],
    ['999999', 300],
    [new Date(0).toUTCString(), 0],
    [new Date(299_000).toUTCString(), 299],
    [new Date(3_600_000).toUTCString(), 300],
    ['soon', undefined],
  ] as const
  for (const [header, seconds] of answers) {
    const lcd = await serve(t, (_, response) => {
      requests += 1
      if (header !== undefined) response.setHeader('retry-after', header)
      response.writeHead(429).end('<html>Too Many Requests</html>')
    })
    const error = await lcd.page(null, 8, never).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'REGISTRY_REFUSED')
    assert.match(error.message, /limits how often/)
    assert.equal(error.facts['retryAfterSeconds'], seconds)
    assert.equal(retryAfterMs(error), (seconds ?? 0) * 1e3)
    await assert.rejects(idsOf(listViews(lcd, bounds, never)), { code: 'REGISTRY_REFUSED' })
  }
  assert.equal(requests, 2 * answers.length)
})

test('a list that does not get further, or does not end, is given up', async (t) => {
  const next = (key: unknown, views: unknown[]): string =>
    JSON.stringify({ views, pagination: { next_key: key } })
  let count = 0
  const lists: [Answer, string][] = [
    [(_, response) => response.end(next('AAAA', [rowOf(1)])), 'it does not get further'],
    [(_, response) => response.end(next(btoa(String(count++)), [])), 'it does not get further'],
    [
      (_, response) => response.end(next(btoa(String(count++)), [rowOf(1)])),
      'it has more than 20 pages',
    ],
  ]
  for (const [answer, why] of lists) {
    const lcd = await serve(t, answer)
    await assert.rejects(idsOf(listViews(lcd, bounds, never)), {
      code: 'REGISTRY_LIST_ENDLESS',
      message: `the list of Views does not end: ${why}`,
    })
  }
})

test('a list has as many pages as it may, and no more', async (t) => {
  const most = await serve(t, pagesOf(160, 8))
  assert.equal((await idsOf(listViews(most, bounds, never))).length, 160)
  const more = await serve(t, pagesOf(161, 8))
  await assert.rejects(idsOf(listViews(more, bounds, never)), { code: 'REGISTRY_LIST_ENDLESS' })
})

test('the key of the next page is a text of at most 1024 characters', async (t) => {
  let next_key: unknown
  const lcd = await serve(t, (_, response) =>
    response.end(JSON.stringify({ views: [], pagination: { next_key } })),
  )
  for (const [given, read] of [
    ['A'.repeat(1_024), 'A'.repeat(1_024)],
    ['', null],
    [null, null],
  ]) {
    next_key = given
    assert.deepEqual(await lcd.page(null, 8, never), { views: [], nextKey: read })
  }
  for (next_key of ['A'.repeat(1_025), 7, {}])
    await assert.rejects(lcd.page(null, 8, never), { code: 'REGISTRY_ANSWER_MALFORMED' })
})

test('what is no list of Views is refused, whatever it is', async (t) => {
  const bodies = ['', '[]', '{"views":{}}', '<html>', `{"views":[],"pagination":{"next_key":7}}`]
  for (const body of bodies) {
    const lcd = await serve(t, (_, response) => response.end(body))
    await assert.rejects(lcd.page(null, 8, never), { code: 'REGISTRY_ANSWER_MALFORMED' })
  }
  const lcd = await serve(t, (_, response) =>
    response.end(JSON.stringify({ views: [rowOf(1), rowOf(2)] })),
  )
  await assert.rejects(lcd.page(null, 1, never), { message: /a page of 1 has 2 Views/ })
})

test('an answer has as many values as those of honest nodes, and no more', async (t) => {
  const of = (zeros: number): string => `{"view":null,"views":[],"x":[${'0,'.repeat(zeros - 1)}0]}`
  const most = 19_996
  const texts = [of(most + 1), `{"views":[],"x":[${'{},'.repeat(1e6)}{}]}`, '['.repeat(4e6)]
  let body = of(most)
  const lcd = await serve(t, (_, response) => response.end(body))
  assert.deepEqual(await lcd.page(null, 8, never), { views: [], nextKey: null })
  const asks = [() => lcd.page(null, 8, never), () => lcd.view(addressOf(1), never)]
  for (body of texts)
    for (const ask of asks)
      await assert.rejects(ask, {
        code: 'REGISTRY_ANSWER_TOO_LARGE',
        message: /has more than (?:20000 values|786432 bytes)$/,
        remedy: /REGISTRY_LCD_URL/,
      })
})

test('a page with too many values is asked for by halves', async (t) => {
  const asked: number[] = []
  const lenses = Array.from({ length: 500 }, (_, id) => ({ id, args: '', hash: '0x' }))
  const lcd = await serve(t, ({ searchParams }, response) => {
    const limit = Number(searchParams.get('pagination.limit'))
    asked.push(limit)
    const views = Array.from({ length: limit }, (_, index) => ({
      ...(rowOf(index) as object),
      lenses,
    }))
    response.end(JSON.stringify({ views }))
  })
  assert.equal((await idsOf(listViews(lcd, { pageLimit: 32, maxPages: 3 }, never))).length, 8)
  assert.deepEqual(asked, [32, 16, 8])
})

test('a page of 500 Views is read, whatever their names; a larger page is not', async (t) => {
  let name = 'N'.repeat(viewLimits.sdl)
  const lcd = await serve(t, (_, response) => {
    const views = Array.from({ length: 500 }, (_, index) => ({ ...(rowOf(index) as object), name }))
    response.end(JSON.stringify({ views }))
  })
  assert.equal((await lcd.page(null, 500, never)).views.length, 500)
  name += 'N'.repeat(1_000)
  await assert.rejects(lcd.page(null, 500, never), { code: 'REGISTRY_ANSWER_TOO_LARGE' })
})

test('an answer without end is cut off, and one that stands still times out', async (t) => {
  let sent = 0
  const endless = await serve(t, (_, response) => {
    const piece = Buffer.alloc(1024 * 1024, ' ')
    const more = (): void => {
      sent += piece.length
      if (!response.destroyed && response.write(piece)) setImmediate(more)
    }
    response.on('drain', more)
    more()
  })
  await assert.rejects(endless.page(null, 1, never), { code: 'REGISTRY_ANSWER_TOO_LARGE' })
  assert.ok(sent < 64 * 1024 * 1024)
  const silent = await serve(t, (_, response) => response.write('{'), 1_000)
  await assert.rejects(silent.page(null, 1, never), { code: 'REGISTRY_UNREACHABLE' })
})

test('the answer with a View has at most the bytes of the largest one, and no more', async (t) => {
  const most = Math.ceil((4 * viewLimits.wire) / 3) + 256 * 1024
  const ofLength = (bytes: number): string => `{"x":"${'x'.repeat(bytes - 8)}"}`
  let text = ofLength(most)
  const lcd = await serve(t, (_, response) => response.end(text))
  const read = await lcd.view(addressOf(1), never)
  assert.ok(read !== null && 'reason' in read, 'it is read, and has no View')
  text = ofLength(most + 1)
  await assert.rejects(lcd.view(addressOf(1), never), {
    code: 'REGISTRY_ANSWER_TOO_LARGE',
    message: new RegExp(`has more than ${most} bytes$`),
  })
})

test('stopping ends a request that is under way, with the reason of the signal', async (t) => {
  const stop = new AbortController()
  const lcd = await serve(t, () => stop.abort(new Error('stopped')))
  await assert.rejects(lcd.page(null, 8, stop.signal), { message: 'stopped' })
})

test('errors and redirects are failures that say the status', async (t) => {
  const answers = [301, 400, 404, 500].map((status) => [status, 2] as const)
  // What these codes mean they mean with 404 and 429 alone.
  for (const [status, code] of [...answers, [500, 5], [500, 8], [404, 8]] as const) {
    const lcd = await serve(t, (_, response) =>
      response
        .writeHead(status, { location: 'http://elsewhere.invalid' })
        .end(JSON.stringify({ code })),
    )
    await assert.rejects(lcd.page(null, 1, never), {
      code: 'REGISTRY_REFUSED',
      message: new RegExp(`HTTP status ${status}`),
    })
  }
})

test('a View is fetched with its bytes; another one in its place is refused', async (t) => {
  const view = { ...(rowOf(1) as object), data: Buffer.from(first.wire, 'hex').toString('base64') }
  const dataOf = (bytes: number) => ({ data: Buffer.alloc(bytes).toString('base64') })
  const others: Record<string, object> = {
    [addressOf(4)]: { address: addressOf(4), data: '!' },
    [addressOf(5)]: { address: addressOf(5), ...dataOf(viewLimits.wire) },
    [addressOf(6)]: { address: addressOf(6), ...dataOf(viewLimits.wire + 1) },
  }
  const lcd = await serve(t, ({ pathname }, response) => {
    const id = pathname.split('/').at(-1)
    if (id === addressOf(3)) response.writeHead(404).end('{"code":5,"message":"view not found"}')
    else response.end(JSON.stringify({ view: { ...view, ...others[id ?? ''] } }))
  })
  const found = await lcd.view(addressOf(1), never)
  assert.ok(found !== null && 'wire' in found)
  assert.equal(Buffer.from(found.wire).toString('hex'), first.wire)
  assert.equal(await lcd.view(addressOf(3), never), null)
  const reason = 'its bytes are not base64, or too many'
  for (const id of [addressOf(4), addressOf(6)])
    assert.deepEqual(await lcd.view(id, never), { id, reason })
  const largest = await lcd.view(addressOf(5), never)
  assert.ok(largest !== null && 'wire' in largest)
  assert.equal(largest.wire.length, viewLimits.wire)
  await assert.rejects(lcd.view(addressOf(2), never), { code: 'REGISTRY_ANSWER_MALFORMED' })
})

test('a closed client asks nothing more', async (t) => {
  const asked: number[] = []
  const lcd = await serve(t, pagesOf(1, 8, asked))
  const stop = new AbortController()
  stop.abort(new Error('stopped'))
  await assert.rejects(lcd.page(null, 8, stop.signal), { message: 'stopped' })
  assert.deepEqual(asked, [])
})
