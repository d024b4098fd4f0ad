/**
 * The floor of a block: downloading and JSON-parsing the same responses with the same batching and
 * connections as the Generator's reader, one block in flight.
 */
import { Agent, request } from 'undici'
import { median, timed } from './statistics.ts'

/** Receipts a batch, as the reader asks for them. */
const receiptsPerBatch = 100
const connections = 8
const passes = 5

/** Median milliseconds a block over the passes, for blocks 1 to `blocks`. */
export async function measureFloor(url: string, blocks: number): Promise<number> {
  const agent = new Agent({ connections, keepAliveTimeout: 60_000 })
  const perBlock: number[] = []
  for (let pass = 0; pass < passes; pass++)
    perBlock.push((await timed(() => readAll(url, agent, blocks))) / blocks)
  await agent.close()
  return median(perBlock)
}

async function readAll(url: string, agent: Agent, blocks: number): Promise<void> {
  for (let number = 1; number <= blocks; number++) await readBlock(url, agent, number)
}

async function readBlock(url: string, agent: Agent, number: number): Promise<void> {
  const call = { method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, true] }
  const answer = (await post(url, agent, { jsonrpc: '2.0', id: 1, ...call })) as {
    result: { transactions: readonly { hash: string }[] }
  }
  const calls = answer.result.transactions.map(({ hash }, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_getTransactionReceipt',
    params: [hash],
  }))
  const batches: unknown[][] = []
  for (let start = 0; start < calls.length; start += receiptsPerBatch)
    batches.push(calls.slice(start, start + receiptsPerBatch))
  await Promise.all(batches.map((batch) => post(url, agent, batch)))
}

async function post(url: string, dispatcher: Agent, body: unknown): Promise<unknown> {
  const response = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return JSON.parse(await response.body.text())
}
