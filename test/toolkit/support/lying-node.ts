/** A node of a stranger: passes JSON-RPC on to a real one, and answers some methods as it likes. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

interface LyingNode {
  readonly url: string
  /** The transactions that it was sent. */
  readonly sent: readonly string[]
}

/** What a method answers, by how often it was asked before; what is thrown is its error. */
type Lies = Readonly<Record<string, (before: number) => unknown>>

/** Opens one that ends with the test. */
export async function openLyingNode(
  context: TestContext,
  target: string,
  lies: Lies,
): Promise<LyingNode> {
  const sent: string[] = []
  const asked = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { id, method, params } = JSON.parse(body) as {
      readonly id: unknown
      readonly method: string
      readonly params: readonly string[]
    }
    const before = asked.get(method) ?? 0
    asked.set(method, before + 1)
    if (method === 'eth_sendRawTransaction') sent.push(params[0] ?? '')
    const lie = lies[method]
    const headers = { 'content-type': 'application/json' }
    const answer =
      lie === undefined
        ? await (await fetch(target, { method: 'POST', headers, body })).text()
        : JSON.stringify({ jsonrpc: '2.0', id, ...answerOf(() => lie(before)) })
    response.writeHead(200, headers).end(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

function answerOf(lie: () => unknown): object {
  try {
    return { result: lie() }
  } catch (error) {
    return { error: { code: -32_000, message: (error as Error).message } }
  }
}
