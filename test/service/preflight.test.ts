import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { requireFree } from '../../src/service/preflight.ts'
import { freePorts } from '../support/free-port.ts'

const host = '127.0.0.1'

test('an address that is free is let go before anybody needs it', async () => {
  const [port = 0] = await freePorts(1)
  for (let time = 0; time < 2; time++)
    await requireFree({ address: { host, port }, setting: 'DB_API_ADDR' })
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  server.close()
})

test('an address that is taken is reported with its setting', async (t) => {
  const server = createServer().listen(0, host)
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await assert.rejects(requireFree({ address: { host, port }, setting: 'DB_API_ADDR' }), {
    code: 'SERVICE_PORT_UNAVAILABLE',
    message: `DB_API_ADDR: the address ${host}:${port} is taken by another program`,
  })
})
