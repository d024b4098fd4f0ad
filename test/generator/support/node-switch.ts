/** Stands before an execution node, and can be told to be gone: then connections break. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

interface NodeSwitch {
  readonly url: string
  isAway: boolean
}

/** Hands requests on to `target` until it is switched off; closed after the test. */
export async function openNodeSwitch(t: TestContext, target: string): Promise<NodeSwitch> {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (node.isAway) return void request.socket.destroy()
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers, body })
    response.end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const node = { url: `http://127.0.0.1:${port}`, isAway: false }
  return node
}
