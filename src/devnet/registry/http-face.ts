/** An HTTP server of the stand-in of the registry chain: on the loopback address, with a bound on what it reads. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is answered; `json` is turned into text here. */
export interface FaceResponse {
  readonly status: number
  readonly json: unknown
}

/** A server that listens. */
export interface HttpFace {
  readonly server: Server
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  close(): Promise<void>
}

/** More than the largest View as hexadecimal digits. */
const maxBodyBytes = 2 * 1024 * 1024

/**
 * Opens a server; port 0 takes any free one. `respond` gets the body of a POST, and an empty text otherwise.
 * Where it throws, the answer is 500.
 */
export async function openHttpFace(
  port: number,
  respond: (request: IncomingMessage, url: URL, body: string) => Promise<FaceResponse>,
): Promise<HttpFace> {
  const server = createServer((request, response) => {
    void handle(request, respond)
      .catch((err) => ({ status: 500, json: { code: 2, message: String(err), details: [] } }))
      .then((answer) => write(response, answer))
  })
  server.listen({ host: '127.0.0.1', port })
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  return {
    server,
    url: `http://127.0.0.1:${bound}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function handle(
  request: IncomingMessage,
  respond: (request: IncomingMessage, url: URL, body: string) => Promise<FaceResponse>,
): Promise<FaceResponse> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const body = await readBody(request)
  if (body === null) return { status: 413, json: { error: 'the request is too large' } }
  return await respond(request, url, body)
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > maxBodyBytes) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function write(response: ServerResponse, { status, json }: FaceResponse): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'content-type',
  })
  response.end(JSON.stringify(json))
}
