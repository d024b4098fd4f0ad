/** The calls of a node that the development chain makes itself, and what it says of those that fail. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { callNode, callNodeBatch } from '../../src/devnet/rpc.ts'

const call = { method: 'eth_chainId', params: ['x'] }

/** A node that answers everything so. */
async function openNode(t: TestContext, body: string, status = 200) {
  const requests: { readonly headers: IncomingMessage['headers']; readonly body: unknown }[] = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    requests.push({ headers: request.headers, body: JSON.parse(text) })
    response.writeHead(status).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { node: { rpcUrl: `http://${host}/key` }, host, requests }
}

test('a call has its method, its parameters and the headers of the node', async (t) => {
  const { node, requests } = await openNode(t, '{"result":"0x1"}')
  assert.equal(await callNode({ ...node, headers: { 'x-key': 'k' } }, call), '0x1')
  const [request = assert.fail('nothing was asked')] = requests
  assert.deepEqual(request.body, { jsonrpc: '2.0', id: 1, ...call })
  const { 'x-key': key, 'content-type': type } = request.headers
  assert.deepEqual([key, type], ['k', 'application/json'])
})

test('several calls are one request, of whose answers the errors are returned', async (t) => {
  const answers = '[{"result":1},{"error":{"message":"no"}},{"error":{}},{"result":null}]'
  const { node, requests } = await openNode(t, answers)
  assert.deepEqual(await callNodeBatch(node, [call, call]), ['no', 'refused'])
  assert.deepEqual(
    requests.map(({ body }) => body),
    [[0, 1].map((id) => ({ jsonrpc: '2.0', id, ...call }))],
  )
})

for (const [what, body, status, reason] of [
  ['an error', '{"error":{"message":"no"}}', 200, /^eth_chainId: no$/],
  ['an error without a message', '{"error":{}}', 200, /^eth_chainId: no reason given$/],
  ['a status', '{"result":1}', 401, /^HTTP 401$/],
  ['no JSON', '<html>', 200, /JSON/],
] as const)
  test(`a node that answers with ${what} gave no answer, and its path is not shown`, async (t) => {
    const { node, host } = await openNode(t, body, status)
    await assert.rejects(callNode(node, call), (error: Error & { facts: unknown }) => {
      const start = `the node at ${host} gave no answer: `
      assert.ok(error.message.startsWith(start), error.message)
      assert.match(error.message.slice(start.length), reason)
      assert.deepEqual(error.facts, { host })
      return true
    })
  })
