/**
 * A way to the real API server for programs that are given a kubeconfig. It can be cut, as when the server
 * restarts, and it keeps account of writes: when they came, and when and how they were answered.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, type AgentOptions, type RequestOptions, request as startRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { KubeConfig } from '@kubernetes/client-node'
import { parse, stringify } from 'yaml'

/** A request that is meant to change something; dry runs are none. Times are of `performance.now()`. */
export interface ProxiedWrite {
  readonly method: string
  /** Without its query. */
  readonly path: string
  /** When it came, before anything of it was passed on. */
  readonly receivedMs: number
  /** Null while there is no answer. Counted even where the program does not wait for it any more. */
  readonly answer: { readonly status: number; readonly atMs: number } | null
}

export interface KubernetesProxy {
  /** In the order in which they came. */
  readonly writes: readonly ProxiedWrite[]
  /** Resolves with the first write for which this holds, as soon as it has come. */
  wrote(isMeant: (write: ProxiedWrite) => boolean): Promise<ProxiedWrite>
  /** Breaks all connections and takes no more. */
  cut(): void
  restore(): void
  close(): Promise<void>
}

/** Writes to `to` the kubeconfig `from` with this way to its server. */
export async function openKubernetesProxy(from: string, to: string): Promise<KubernetesProxy> {
  const { target, options } = await targetOf(from)
  const agent = new Agent({ ...options, keepAlive: true })
  const writes: (ProxiedWrite & { answer: ProxiedWrite['answer'] })[] = []
  const waiting = new Set<(write: ProxiedWrite) => void>()
  let isCut = false

  const account = (request: IncomingMessage, url: URL): ((status: number) => void) => {
    if (!isWrite(request, url)) return () => undefined
    const { method = '' } = request
    const write = { method, path: url.pathname, receivedMs: performance.now(), answer: null }
    const entry: (typeof writes)[number] = write
    writes.push(entry)
    for (const notify of waiting) notify(entry)
    return (status) => {
      entry.answer = { status, atMs: performance.now() }
    }
  }
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', target)
    const answered = account(request, url)
    const { method } = request
    const headers = { ...request.headers, host: target.host }
    const onward = startRequest(url, { method, headers, agent }, (answer) => {
      const { statusCode = 502 } = answer
      answered(statusCode)
      response.writeHead(statusCode, answer.headers).flushHeaders()
      pipeline(answer, response, () => undefined)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => {
      if (!isWrite(request, url)) onward.destroy()
    })
    request.pipe(onward)
  }
  const server = createServer(pass)
  server.on('connection', (socket) => {
    if (isCut) socket.destroy()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  writeKubeconfig(from, to, `http://127.0.0.1:${port}`)
  const breakAll = (): void => {
    server.closeAllConnections()
    agent.destroy()
  }
  return {
    writes,
    wrote(isMeant) {
      const known = writes.find(isMeant)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => {
        const notify = (write: ProxiedWrite): void => {
          if (!isMeant(write)) return
          waiting.delete(notify)
          resolve(write)
        }
        waiting.add(notify)
      })
    },
    cut() {
      isCut = true
      breakAll()
    },
    restore() {
      isCut = false
    },
    async close() {
      const closed = new Promise((done) => server.close(done))
      breakAll()
      await closed
    },
  }
}

function isWrite({ method }: IncomingMessage, url: URL): boolean {
  return method !== 'GET' && !url.searchParams.has('dryRun')
}

/** Where the server is, and how the user of the kubeconfig shows who it is where that takes a certificate. */
async function targetOf(file: string): Promise<{ target: URL; options: AgentOptions }> {
  const config = new KubeConfig()
  config.loadFromFile(file)
  const given: RequestOptions = {}
  await config.applyToHTTPSOptions(given)
  const { ca, cert, key } = given
  return {
    target: new URL(config.getCurrentCluster()?.server ?? ''),
    options: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  }
}

function writeKubeconfig(from: string, to: string, server: string): void {
  const config = parse(readFileSync(from, 'utf8'))
  config.clusters[0].cluster = { server, 'insecure-skip-tls-verify': true }
  writeFileSync(to, stringify(config), { mode: 0o600 })
}
