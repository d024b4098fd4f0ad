/** An endpoint of a node before a server that answers as a test says. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Registry } from 'prom-client'
import { type Endpoint, type EndpointOptions, openEndpoint } from '../../src/chain/endpoint.ts'
import { createChainMetrics } from '../../src/chain/metrics.ts'

type Call = { id: number; method: string; params: unknown[] }
export type Respond = (
  body: Call | Call[],
  response: ServerResponse,
  request: IncomingMessage,
) => void

export const never: AbortSignal = new AbortController().signal

/** An endpoint before a node that answers as the test says. */
export async function openBefore(
  t: TestContext,
  respond: Respond,
  options: Partial<EndpointOptions> & { readonly path?: string } = {},
  registry: Registry = new Registry(),
): Promise<Endpoint> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () =>
      respond(JSON.parse(Buffer.concat(chunks).toString()), response, request),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint = openEndpoint(
    {
      url: `http://127.0.0.1:${port}${options.path ?? '/'}`,
      headers: {},
      timeoutMs: 2_000,
      maxResponseBytes: 10_000,
      maxBatch: 8,
      ...options,
    },
    { metrics: createChainMetrics(registry) },
  )
  t.after(async () => {
    await endpoint.close()
    server.closeAllConnections()
    server.close()
  })
  return endpoint
}

export const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
export const echo = ({ id, params }: Call): object => ({ jsonrpc: '2.0', id, result: params[0] })
export const echoAll: Respond = (body, response) =>
  json(response, Array.isArray(body) ? body.map(echo) : echo(body))
export const callsOf = (count: number): { method: string; params: number[] }[] =>
  Array.from({ length: count }, (_, index) => ({ method: 'echo', params: [index] }))
export const results = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'result', value: index }))
