/** A server that answers every request with JSON, as the test says. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

interface JsonServer {
  readonly url: string
  /** What was asked, parsed; null for a request without a body. */
  readonly asked: readonly unknown[]
}

/** Listens until the test ends. What is thrown for a request answers it with HTTP 500. */
export async function openJsonServer(
  t: TestContext,
  answer: (asked: unknown, path: string) => unknown,
): Promise<JsonServer> {
  const asked: unknown[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const parsed: unknown = body === '' ? null : JSON.parse(body)
    asked.push(parsed)
    try {
      const found = await answer(parsed, request.url ?? '')
      response.setHeader('content-type', 'application/json').end(JSON.stringify(found))
    } catch {
      response.writeHead(500).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
