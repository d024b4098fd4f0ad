/**
 * Answers the ingest methods over HTTP from generated blocks, and changes its mind when told to:
 * for branches that come back, which no development node can show.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ChainBlock } from './block-factory.ts'

/** The answer to one call, in place of the usual one. */
type Answer = { readonly result: unknown } | { readonly error: object }

export interface GeneratedNode {
  readonly url: string
  /** The methods of all calls, in order. */
  readonly asked: readonly string[]
  /** From now on this is the chain; its last block is the head. */
  show(chain: readonly ChainBlock[]): void
  /** Replaces answers; what it leaves undefined is answered as usual. */
  change(answer: (method: string, param: string) => Answer | undefined): void
  close(): Promise<void>
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly string[]
}

/** Starts on a free port. */
export async function startGeneratedNode(start: readonly ChainBlock[]): Promise<GeneratedNode> {
  const asked: string[] = []
  let chain = start
  let changed: (method: string, param: string) => Answer | undefined = () => undefined

  const answer = (method: string, param: string): Answer => {
    if (method === 'eth_getBlockByNumber') {
      const at = param === 'latest' ? chain.at(-1)?.number : Number(param)
      return { result: chain.find(({ number }) => number === at)?.block ?? null }
    }
    if (method !== 'eth_getTransactionReceipt')
      return { error: { code: -32601, message: 'the method does not exist' } }
    const receipts = chain.flatMap((block) => block.receipts)
    return { result: receipts.find(({ transactionHash }) => transactionHash === param) ?? null }
  }
  const reply = ({ id, method, params }: Call): object => {
    asked.push(method)
    const [param = ''] = params
    return { jsonrpc: '2.0', id, ...(changed(method, param) ?? answer(method, param)) }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
      response.end(JSON.stringify(Array.isArray(body) ? body.map(reply) : reply(body)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    show(next) {
      chain = next
    },
    change(answerOf) {
      changed = answerOf
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
