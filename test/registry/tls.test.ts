/** The registry chain over TLS: an authority of one's own, certificates that nobody vouches for or that are of others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { makeCertificate } from '../support/certificate.ts'
import { startChild } from '../support/child-program.ts'

const folder = await mkdtemp(join(tmpdir(), 'viewmesh-tls-'))
const pem = makeCertificate('IP:127.0.0.1')
const certificate = join(folder, 'authority.pem')
writeFileSync(certificate, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')))
const server = createServer({ key: pem, cert: pem }, (_, response) => {
  response.end('{"views":[],"pagination":{"next_key":null}}')
})
const sockets = new WebSocketServer({ server, path: '/websocket', maxPayload: 1024 * 1024 })
sockets.on('connection', (socket: WebSocket) =>
  socket.on('message', (data: Buffer) =>
    socket.send(JSON.stringify({ id: JSON.parse(String(data)).id, result: {} })),
  ),
)
await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address() as AddressInfo
after(async () => {
  sockets.close()
  server.close()
  server.closeAllConnections()
  await rm(folder, { recursive: true })
})

async function ask(host: string, env: Readonly<Record<string, string>> = {}) {
  const url = `https://${host}:${port}`
  const child = startChild('test/registry/tls-child.ts', { args: [url], env })
  const { stdout, stderr } = await child.ended()
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

const trusting = { NODE_EXTRA_CA_CERTS: certificate }

test('LCD and consensus RPC answer over TLS where NODE_EXTRA_CA_CERTS names their authority', async () => {
  assert.deepEqual(await ask('127.0.0.1', trusting), { listed: 'answered', subscribed: 'answered' })
})

const refusals = [
  ['that nobody vouches for', '127.0.0.1', {}, /self-signed certificate/],
  ['of another host', 'localhost', trusting, /does not match certificate's altnames/],
] as const

for (const [what, host, env, reason] of refusals)
  test(`a certificate ${what} is refused, with the reason and what to do`, async () => {
    for (const answer of Object.values(await ask(host, env))) {
      const { code, message, remedy } = answer as Readonly<Record<string, string>>
      assert.equal(code, 'REGISTRY_UNREACHABLE')
      assert.match(message ?? '', reason)
      assert.match(remedy ?? '', /NODE_EXTRA_CA_CERTS/)
    }
  })
