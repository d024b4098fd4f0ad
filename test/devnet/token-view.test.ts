/** The View that `npm start` posts: a Host takes it, and its lens makes rows of the token's transfers. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { postTokenView, replaceTokenView, showTokenView } from '../../src/devnet/token-view.ts'
import { createViewSelector } from '../../src/graphql/selection/view-selection.ts'
import { readViewRequest } from '../../src/host/views/view-request.ts'
import { openHttpServer } from '../../src/service/health/http-server.ts'
import { readRegistration } from '../../src/views/registration.ts'
import { decodeView } from '../../src/views/wire.ts'
import { blocksOf } from '../docs/support/page.ts'
import { captureLog } from '../support/captured-log.ts'
import { openHostInProcess } from '../support/host-in-process.ts'
import { testDirectory } from '../support/test-store.ts'

const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
/** Makes another View, as another lens would. */
const otherToken = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'

/** A server in the place of a Host, which keeps what was posted, and removes nothing. */
async function openPosted(
  t: TestContext,
  status: number,
): Promise<{ url: string; posted: { body: unknown; token: unknown }[] }> {
  const posted: { body: unknown; token: unknown }[] = []
  const { log } = captureLog()
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'none', maxBodyBytes: 1 << 20 },
    {
      log,
      routes: (routes) => {
        routes.post('/api/v0/views', ({ body, headers }, reply) => {
          posted.push({ body, token: headers.authorization })
          return reply.code(status).send({ message: 'why' })
        })
        routes.get('/health', () => ({ p2p: { self: { id: 'peer' } } }))
        routes.delete('/api/v0/views/:id', (_, reply) => reply.code(500).send({}))
      },
    },
  )
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${server.port}`, posted }
}

test('the View that npm start posts is one that a Host accepts', async (t) => {
  const { url, posted } = await openPosted(t, 201)
  await postTokenView({ hostUrl: url, adminToken: 'admin', token }, t.signal)
  assert.equal(posted[0]?.token, 'Bearer admin')
  const registration = readViewRequest(posted[0]?.body)
  const view = readRegistration(registration, decodeView(registration.wire), 'Local__Devnet')
  assert.deepEqual([view.rowType.name, view.rowType.materialized], ['TokenTransfer', true])
  assert.ok(view.query !== null)
  createViewSelector('Local__Devnet').compile(view.query)
})

test('docs/graphql.md shows the SDL of the View that npm start posts', async (t) => {
  const { url, posted } = await openPosted(t, 201)
  await postTokenView({ hostUrl: url, adminToken: 'admin', token }, t.signal)
  const { sdl } = decodeView(readViewRequest(posted[0]?.body).wire)
  const shown = blocksOf('docs/graphql.md').find(({ text }) => text.includes('@materialized('))
  assert.equal(shown?.text, `${sdl}\n`)
})

test('what the Host says against it is in the error', async (t) => {
  const { url } = await openPosted(t, 409)
  await assert.rejects(postTokenView({ hostUrl: url, adminToken: 'admin', token }, t.signal), {
    code: 'DEVNET_VIEW_REFUSED',
    message: /\{"message":"why"\}/,
  })
})

test('a View that is refused is a warning, and one while everything stops is not', async (t) => {
  const { url, posted } = await openPosted(t, 409)
  const notePath = join(testDirectory(t), 'token-view')
  const options = { hostUrl: url, healthUrl: url, adminToken: 'admin', token, notePath }
  const { log, lines, messages } = captureLog()
  await showTokenView(options, { log, signal: AbortSignal.abort() })
  assert.deepEqual([posted, lines], [[], []])
  await showTokenView(options, { log, signal: t.signal })
  assert.equal(posted.length, 1)
  assert.deepEqual(messages('warn'), ['the View of the token could not be posted'])
})

test('a View that the Host does not remove is no View to put another beside', async (t) => {
  const { url, posted } = await openPosted(t, 201)
  const notePath = join(testDirectory(t), 'token-view')
  const options = { hostUrl: url, adminToken: 'admin', notePath }
  // The same one is none to remove.
  for (let time = 0; time < 2; time++)
    await replaceTokenView({ ...options, token: otherToken }, t.signal)
  const noted = await readFile(notePath, 'utf8')
  const next = { ...options, token }
  await assert.rejects(replaceTokenView(next, t.signal), { code: 'DEVNET_VIEW_REFUSED' })
  assert.deepEqual([posted.length, await readFile(notePath, 'utf8')], [2, noted])
  const unreadable = { ...next, notePath: join(notePath, '..') }
  await assert.rejects(replaceTokenView(unreadable, t.signal), { code: 'EISDIR' })
})

test('a View of an earlier version gives way to the one of this version, at a Host', async (t) => {
  const home = testDirectory(t)
  const { opened } = await openHostInProcess(t, home, { HOST_ADMIN_TOKEN: 'admin' })
  const hostUrl = `http://127.0.0.1:${(await opened).apiPort}`
  const notePath = join(home, 'token-view')
  const start = async (ofVersion: string): Promise<string[]> => {
    const options = { hostUrl, adminToken: 'admin', token: ofVersion, notePath }
    await replaceTokenView(options, t.signal)
    const answer = await (await fetch(`${hostUrl}/api/v0/views`)).json()
    return (answer as { views: { id: string }[] }).views.map(({ id }) => id)
  }
  const before = await start(otherToken)
  assert.equal(before.length, 1)
  assert.deepEqual(await start(otherToken), before)
  const after = await start(token)
  assert.equal(after.length, 1)
  assert.notDeepEqual(after, before)
  await fetch(`${hostUrl}/api/v0/views/${after[0]}`, {
    method: 'DELETE',
    headers: { authorization: 'Bearer admin' },
  })
  assert.deepEqual(await start(otherToken), before, 'though somebody removed the last one')
})
