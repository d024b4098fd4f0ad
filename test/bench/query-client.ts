/** The benchmark's query, over HTTP as an application sends it, and the route it is compared with. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { watchedAddresses } from '../support/chain/block-factory.ts'

const query = `query ($address: String!) {
  Log(filter: {address: {_eq: $address}}, order: {blockNumber: DESC}, limit: 50) {
    address topics data blockNumber logIndex
    transaction { hash from to value }
    block { number hash timestamp }
  }
}`

interface QueryClient {
  /** The 50 newest logs of the next address: milliseconds, and the answer. */
  logs(address?: string): Promise<{ ms: number; text: string }>
  /** Number of the newest block and how many blocks there are. */
  blocks(): Promise<{ newest: number; count: number }>
  close(): Promise<void>
}

/** A client that keeps one connection open. */
export function openQueryClient(url: string): QueryClient {
  const agent = new Agent({ connections: 1, keepAliveTimeout: 60_000 })
  let turn = 0
  return {
    async logs(address = watchedAddresses[turn++ % watchedAddresses.length] ?? '') {
      return await timedPost(url, agent, JSON.stringify({ query, variables: { address } }))
    },
    async blocks() {
      const counting = '{ Block(order: {number: DESC}, limit: 1) { number } COUNT(Block: {}) }'
      const { text } = await timedPost(url, agent, JSON.stringify({ query: counting }))
      const { data } = JSON.parse(text)
      return { newest: data.Block[0]?.number ?? 0, count: data.COUNT }
    },
    close: () => agent.close(),
  }
}

interface PlainRoute {
  fetch(): Promise<number>
  close(): Promise<void>
}

/** A fastify route in a process of its own that answers `body`. */
export async function openPlainRoute(body: string): Promise<PlainRoute> {
  const child = fork(join(import.meta.dirname, 'plain-route.ts'))
  child.send({ body })
  const [{ url }] = await once(child, 'message')
  const agent = new Agent({ connections: 1, keepAliveTimeout: 60_000 })
  const question = JSON.stringify({ query, variables: { address: watchedAddresses[0] } })
  return {
    async fetch() {
      return (await timedPost(url, agent, question)).ms
    },
    async close() {
      await agent.close()
      child.disconnect()
    },
  }
}

async function timedPost(
  url: string,
  dispatcher: Agent,
  body: string,
): Promise<{ ms: number; text: string }> {
  const start = performance.now()
  const response = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const text = await response.body.text()
  return { ms: performance.now() - start, text }
}
