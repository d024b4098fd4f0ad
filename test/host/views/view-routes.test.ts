/**
 * The routes of Views: what everybody reads, and what the administrator changes. The engine here is a fake that
 * computes nothing; what it computes is shown by tests of its own.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Registration } from '../../../src/views/registration.ts'
import { noSender } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { openTestStore } from '../../support/test-store.ts'
import { admin, body, live, openRoutes, others, refusedFile } from './support/view-routes-server.ts'

test('a posted View is served at once, listed, and shown with its definition', async (t) => {
  const store = await openTestStore(t)
  const { ask, calls } = await openRoutes(t, { store })
  const posted = await ask('POST', '', { headers: admin, body })
  assert.equal(posted.status, 201)
  assert.deepEqual(calls, ['views ', 'serve Seen', 'views Seen'])
  const { id, address } = posted.json
  const listed = await ask('GET', '')
  assert.deepEqual(listed.json['views'], [
    {
      id,
      address,
      name: 'Seen',
      type: 'Seen',
      fields: 1,
      creator: `0x${'0'.repeat(40)}`,
      registered_at: null,
      origins: ['posted'],
      state: 'backfilling',
      rows: 3,
      bytes: 120,
      done: [{ from: 5, to: 7 }],
      last_block: 7,
      rows_from: 5,
      blocks_left: 40,
      blocks_failed: 1,
      blocks_per_second: 8,
      seconds_left: 5,
      cost_ms: 0.5,
      error: live.failure,
    },
  ])
  for (const each of [id, address]) {
    const { status, json } = await ask('GET', `/${String(each)}`)
    assert.deepEqual(
      [status, json['query'], json['sdl'], json['lenses']],
      [200, body.query, body.sdl, []],
    )
  }
  const again = await openRoutes(t, { store })
  assert.deepEqual(again.calls, ['serve Seen', 'views Seen'], 'and so it is after a restart')
})

test('when a View is done nobody can say that does nothing now', async (t) => {
  for (const blocksPerSecond of [null, 0]) {
    const { views } = await openRoutes(t, { state: { ...live, blocksPerSecond } })
    const { report } = await views.register(registration, 'posted')
    assert.deepEqual([report.blocks_per_second, report.seconds_left], [blocksPerSecond, null])
  }
})

test('a posted View that adds up in each block alone is accepted with a warning', async (t) => {
  const { ask } = await openRoutes(t)
  const wasm = readFileSync(new URL('../../../src/lenses/erc20_balances.wasm', import.meta.url))
  const adding = {
    query: 'Log { address topics data }',
    sdl: 'type Balance { account: String balance: BigInt }',
    lenses: [{ wasm: wasm.toString('base64'), args: { tokenAddress: `0x${'1'.repeat(40)}` } }],
  }
  const posted = await ask('POST', '', { headers: admin, body: adding })
  assert.equal(posted.status, 201)
  const found = await ask('GET', `/${String(posted.json['id'])}`)
  for (const { json } of [posted, found])
    assert.match(JSON.stringify(json['warnings']), /"AGGREGATES_PER_BLOCK".*"lens 1 adds up: /)
  const plain = await ask('POST', '', { headers: admin, body })
  assert.deepEqual(plain.json['warnings'], [])
})

test('how all Views stand is read for the list of them alone', async (t) => {
  const { ask, calls } = await openRoutes(t)
  const { json } = await ask('POST', '', { headers: admin, body })
  assert.equal(json['state'], 'backfilling')
  assert.equal((await ask('GET', `/${String(json['id'])}`)).json['state'], 'backfilling')
  assert.ok(!calls.includes('states'))
  await ask('GET', '')
  assert.equal(calls.at(-1), 'states')
})

test('the same View posted again answers 200 and "collection already exists"', async (t) => {
  const { ask, calls } = await openRoutes(t)
  const first = await ask('POST', '', { headers: admin, body })
  const second = await ask('POST', '', { headers: admin, body })
  assert.deepEqual(
    [second.status, second.json['message'], second.json['id']],
    [200, 'collection already exists', first.json['id']],
  )
  assert.equal(calls.filter((call) => call === 'serve Seen').length, 1)
})

test('"changed content gives a new View ID" and a View of its own', async (t) => {
  const { ask } = await openRoutes(t)
  const first = await ask('POST', '', { headers: admin, body })
  const changed = { ...body, sdl: 'type Seen { address: String topics: [String] }' }
  const second = await ask('POST', '', { headers: admin, body: changed })
  assert.equal(second.status, 201)
  assert.notEqual(second.json['id'], first.json['id'])
  assert.match(String(second.json['name']), /^Seen_[0-9a-f]{8}$/)
})

test('a removed View is gone at once, and its rows after it', async (t) => {
  const { ask, calls, lines } = await openRoutes(t)
  const { json } = await ask('POST', '', { headers: admin, body })
  const { id, address } = json
  const path = `/${String(id)}`
  assert.equal((await ask('DELETE', path, { headers: admin })).status, 204)
  assert.deepEqual(calls.slice(3), ['views ', 'remove', 'clear 1'])
  const line = lines.find(({ msg }) => msg === 'View removed')
  assert.deepEqual([line?.['view'], line?.['address']], [id, address])
  assert.equal((await ask('GET', path)).status, 404)
  assert.equal((await ask('DELETE', path, { headers: admin })).status, 404)
})

test('what a kill left of a removed View goes with the start, before another one comes', async (t) => {
  const store = await openTestStore(t)
  const removed = { nextSlot: 5, removedSlots: [3, 4], views: [] }
  await store.putRecord('views', new Uint8Array(Buffer.from(JSON.stringify(removed))))
  await store.putRecord(`view/0x${'7'.repeat(64)}`, Uint8Array.of(1))
  const { ask, calls } = await openRoutes(t, { store })
  const { json } = await ask('POST', '', { headers: admin, body })
  assert.deepEqual(
    calls.filter((call) => call.startsWith('clear')),
    ['clear 3', 'clear 4'],
  )
  assert.deepEqual(
    store.reader.read((snapshot) => snapshot.recordNames('view/')),
    [`view/${json['id']}`],
  )
})

const registration: Registration = {
  sender: noSender,
  registeredAt: null,
  wire: encodeView({ ...body, lenses: [] }),
}

test('a View of the folder is not removed by a request, and stays when it was posted as well', async (t) => {
  const { ask, calls, views } = await openRoutes(t)
  const { report } = await views.register(registration, 'folder')
  const path = `/${report.id}`
  const refused = await ask('DELETE', path, { headers: admin })
  assert.deepEqual([refused.status, refused.json['code']], [409, 'HOST_VIEW_IN_FOLDER'])
  const { id, address } = report
  assert.ok(String(refused.json['message']).startsWith(`View ${id} (${address}) is in the folder`))
  assert.match(String(refused.json['remedy']), new RegExp(`^Take ${id}\\.view out of`))
  assert.equal((await ask('POST', '', { headers: admin, body })).status, 200)
  assert.equal((await ask('DELETE', path, { headers: admin })).status, 409)
  await views.withdraw(report.id, 'folder')
  assert.deepEqual((await ask('GET', path)).json['origins'], ['posted'])
  assert.deepEqual(calls, ['views ', 'serve Seen', 'views Seen'])
  assert.equal((await ask('DELETE', path, { headers: admin })).status, 204)
  assert.equal((await ask('GET', path)).status, 404)
})

test('a View of another chain is listed without a name, and nothing is computed for it', async (t) => {
  const { ask, calls } = await openRoutes(t)
  const foreign = { ...body, query: 'Arbitrum__One__Log { address }' }
  const { status, json } = await ask('POST', '', { headers: admin, body: foreign })
  const { name, state, type } = json
  assert.deepEqual([status, name, state, type], [201, null, 'foreign', 'Seen'])
  const path = `/${String(json['id'])}`
  const retried = await ask('POST', `${path}/retry`, { headers: admin })
  assert.equal(retried.status, 204)
  assert.equal((await ask('DELETE', path, { headers: admin })).status, 204)
  assert.deepEqual(calls, ['views ', 'views ', 'views ', 'remove'])
})

test('a View that is not served says why, by either ID', async (t) => {
  const { ask } = await openRoutes(t)
  assert.deepEqual((await ask('GET', '')).json['folder'], { others: [refusedFile] })
  for (const other of [refusedFile, ...others]) {
    assert.deepEqual((await ask('GET', `/${other.id}`)).json, other)
    assert.deepEqual((await ask('GET', `/${other.address}`)).json, other)
  }
  for (const path of ['none', 'n'.repeat(80)]) {
    const { status, json } = await ask('GET', `/${path}`)
    assert.equal(status, 404)
    assert.deepEqual(json, {
      error: 'not_found',
      message: `there is no View ${path}`,
      remedy: 'Name it by its ID or its address, as GET /api/v0/views has them.',
    })
  }
  const { json } = await ask('GET', `/${'n'.repeat(81)}`)
  assert.equal(json['message'], `there is no View ${'n'.repeat(80)}`)
})

test('a posted View that the registry chain has too stays as registered when it is removed', async (t) => {
  const { ask, views } = await openRoutes(t)
  const { json } = await ask('POST', '', { headers: admin, body })
  const path = `/${String(json['id'])}`
  await views.noteRegistered(String(json['address']), 12)
  assert.equal((await ask('DELETE', path, { headers: admin })).status, 204)
  const { origins, registered_at } = (await ask('GET', path)).json
  assert.deepEqual([origins, registered_at], [['registry'], 12])
  const again = await ask('DELETE', path, { headers: admin })
  assert.deepEqual([again.status, again.json['code']], [409, 'HOST_VIEW_REGISTERED'])
  const { id, address } = json
  assert.ok(String(again.json['message']).startsWith(`View ${id} (${address}) is registered on`))
})

test('whoever waits for room hears of each local View that comes or goes, and of no other', async (t) => {
  const { views } = await openRoutes(t)
  let heard = 0
  views.onLocal(() => void heard++)
  const { report } = await views.register({ ...registration, registeredAt: 3 }, 'registry')
  assert.equal(heard, 0)
  await views.register(registration, 'folder')
  assert.equal(heard, 1)
  await views.withdraw(report.id, 'folder')
  assert.equal(heard, 2)
  await views.withdraw(report.id, 'registry')
  assert.deepEqual([heard, views.list()], [2, []])
  await views.register(registration, 'posted')
  assert.equal(heard, 3)
  await views.remove(report.id)
  assert.deepEqual([heard, views.list()], [4, []])
})

test('a View that is posted again while it ends begins when it has ended', async (t) => {
  const { ask, calls } = await openRoutes(t)
  const { json } = await ask('POST', '', { headers: admin, body })
  const [removed, posted] = await Promise.all([
    ask('DELETE', `/${String(json['id'])}`, { headers: admin }),
    ask('POST', '', { headers: admin, body }),
  ])
  const order = calls.slice(3)
  if (posted.status === 200) assert.deepEqual(order, ['views ', 'remove', 'clear 1'])
  else assert.deepEqual(order, ['views ', 'remove', 'clear 1', 'serve Seen', 'views Seen'])
  assert.equal(removed.status, 204)
})

test('what failed is tried again when the administrator says so', async (t) => {
  const { ask, calls } = await openRoutes(t)
  const { json } = await ask('POST', '', { headers: admin, body })
  const path = `/${String(json['address'])}/retry`
  assert.equal((await ask('POST', path, { headers: admin })).status, 204)
  assert.equal(calls.at(-1), 'retry')
  assert.equal((await ask('POST', '/0x12/retry', { headers: admin })).status, 404)
})

const changes: readonly (readonly [string, string])[] = [
  ['POST', ''],
  ['DELETE', '/0x12'],
  ['POST', '/0x12/retry'],
]

for (const [method, path] of changes)
  test(`${method} ${path} asks for the token: 401 without, 403 with another, 503 where none is set`, async (t) => {
    const { ask } = await openRoutes(t)
    const closed = await openRoutes(t, { adminToken: null })
    const answers = [
      await ask(method, path),
      await ask(method, path, { headers: { 'x-api-key': 'other' } }),
      await closed.ask(method, path, { headers: admin }),
    ]
    assert.deepEqual(answers, [
      {
        status: 401,
        json: {
          error: 'unauthorized',
          message: 'missing or empty credentials',
          remedy:
            'Send the admin token of this Host as Authorization: Bearer or X-Api-Key: it is what HOST_ADMIN_TOKEN or the file of HOST_ADMIN_TOKEN_FILE holds where the Host runs.',
        },
      },
      {
        status: 403,
        json: {
          error: 'forbidden',
          message: 'invalid credentials',
          remedy:
            'Send the token that HOST_ADMIN_TOKEN or the file of HOST_ADMIN_TOKEN_FILE holds where the Host runs; a changed one holds from the next start of the Host.',
        },
      },
      {
        status: 503,
        json: {
          error: 'service_unavailable',
          message: 'no API keys configured on server',
          remedy:
            'Set HOST_ADMIN_TOKEN or HOST_ADMIN_TOKEN_FILE of this Host and start it again: without a token nobody may change its Views.',
        },
      },
    ])
  })

test('a body that is no JSON, none at all, or of another type says what to send', async (t) => {
  const { ask } = await openRoutes(t)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const json = 'Send JSON as the body, or leave the content type out where a route takes no body.'
  const cases = [
    [await ask('POST', '', { headers: admin, text: '{"query":' }), 400, json],
    [await ask('POST', '', { headers: admin, text: '' }), 400, json],
    [
      await ask('POST', '', { headers: { ...admin, ...form }, text: '{}' }),
      415,
      'Send the body as JSON, with content-type: application/json.',
    ],
    [
      await ask('POST', '', { headers: admin, body: [] }),
      400,
      'See the page on Views for the two forms of the body.',
    ],
  ] as const
  for (const [answer, status, remedy] of cases)
    assert.deepEqual([answer.status, answer.json['remedy']], [status, remedy])
})

test('what is refused says what is wrong, with its code and the remedy', async (t) => {
  const { ask } = await openRoutes(t, { maxViews: 0 })
  const wrong = await ask('POST', '', { headers: admin, body: { ...body, sdl: 'type' } })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.json['code'], 'VIEWS_SDL_INVALID')
  assert.match(String(wrong.json['message']), /^the SDL, line 1, column 5: /)
  assert.match(String(wrong.json['remedy']), /^Write one type/)
  const full = await ask('POST', '', { headers: admin, body })
  assert.deepEqual([full.status, full.json['error']], [409, 'conflict'])
})
