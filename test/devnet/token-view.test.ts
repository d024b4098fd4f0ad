/** The View that `npm start` posts: a Host takes it, and its lens makes rows of the token's transfers. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { postTokenView } from '../../src/devnet/token-view.ts'
import { createViewSelector } from '../../src/graphql/selection/view-selection.ts'
import { readViewRequest } from '../../src/host/views/view-request.ts'
import { openHttpServer } from '../../src/service/health/http-server.ts'
import { readRegistration } from '../../src/views/registration.ts'
import { decodeView } from '../../src/views/wire.ts'
import { captureLog } from '../support/captured-log.ts'

const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

/** A server in the place of a Host, which keeps what was posted. */
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

test('what the Host says against it is in the error', async (t) => {
  const { url } = await openPosted(t, 409)
  await assert.rejects(postTokenView({ hostUrl: url, adminToken: 'admin', token }, t.signal), {
    code: 'DEVNET_VIEW_REFUSED',
    message: /\{"message":"why"\}/,
  })
})
