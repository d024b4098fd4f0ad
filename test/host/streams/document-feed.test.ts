/** The documents of a View as lenses get them, from a thread that reads ahead. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { DocumentRequest } from '../../../src/host/streams/document-batches.ts'
import type { StreamWorkerData } from '../../../src/host/streams/stream-job.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'
import type { FeedOrder, FeedReport } from './support/feed-thread.ts'

const logs = createChain({ count: 2, from: 100, shape: shapes.sparse })
/** Blocks of 200 transactions, which fill several batches. */
const large = createChain({ count: 3, from: 1, shape: { ...shapes.full, entries: 0 } })
const inputs = {
  query: 'Transaction { input data: input more: input }',
  heights: [[1, 3]],
} as const

type Run = (request: Partial<DocumentRequest>, stopAt?: number) => Promise<FeedReport>

/** Runs over the documents of a store with these blocks, one after the other. */
async function openFeed(t: TestContext): Promise<Run> {
  const storePath = testDirectory(t)
  const store = await openWriter(
    { path: storePath, network: testNetwork, retainBlocks: null },
    { log: captureLog().log },
  )
  for (const block of [...large, ...logs]) await store.putBlock(storableBlock(block))
  const data: StreamWorkerData = { storePath, network: testNetwork }
  const thread = new Worker(new URL('support/feed-thread.ts', import.meta.url), {
    workerData: data,
  })
  t.after(async () => {
    await thread.terminate()
    await store.close()
  })
  return async (request, stopAt) => {
    const whole = { query: 'Block { number }', hints: null, heights: [], maxMs: 60_000 }
    const order: FeedOrder = { request: { ...whole, ...request }, stopAt: stopAt ?? null }
    thread.postMessage(order)
    const [report]: FeedReport[] = await once(thread, 'message')
    return report ?? assert.fail()
  }
}

test('each document is known with its block while it is used, and none afterwards', async (t) => {
  const run = await openFeed(t)
  const { documents, end, error } = await run({ query: 'Log { logIndex }', heights: [[100, 101]] })
  assert.deepEqual(
    documents,
    logs.flatMap(({ number: height, hash: blockHash }) =>
      [0, 1, 2].map((logIndex) => {
        const text = JSON.stringify({ logIndex })
        return { text, last: { text, block: { height, blockHash } }, shown: height }
      }),
    ),
  )
  assert.deepEqual([end, error], [{ last: null, shown: null }, null])
})

test('a document of no single block is shown without one, whatever came before', async (t) => {
  const run = await openFeed(t)
  const stopped = await run({ query: 'Log { logIndex }', heights: [[100, 101]] }, 4)
  assert.deepEqual([stopped.end.shown, stopped.end.last?.block?.height], [101, 101])
  const groups = await run({
    query: 'Log(groupBy: [logIndex]) { logIndex }',
    heights: [[100, 101]],
  })
  assert.deepEqual(
    groups.documents.map(({ last, shown }) => [last?.block, shown]),
    [
      [null, null],
      [null, null],
      [null, null],
    ],
  )
})

test('all documents come, however many batches they fill', async (t) => {
  const run = await openFeed(t)
  const { documents, error } = await run(inputs)
  assert.deepEqual([documents.length, error], [600, null])
})

test('a run that is stopped ends with the reason, and the next one has documents of its own', async (t) => {
  const run = await openFeed(t)
  for (const stopAt of [0, 1, 250]) {
    const { documents, error } = await run(inputs, stopAt)
    assert.deepEqual([documents.length, error], [stopAt, 'Error: stopped'])
    const next = await run({ heights: [[2, 3]] })
    assert.deepEqual(
      next.documents.map(({ text }) => text),
      ['{"number":2}', '{"number":3}'],
    )
  }
})

test('what cannot be read fails its run alone', async (t) => {
  const run = await openFeed(t)
  const { documents, error } = await run({ query: 'Block { nothing }', heights: [[1, 3]] })
  assert.deepEqual(documents, [])
  assert.match(`${error}`, /nothing/)
  assert.equal((await run({ heights: [[1, 3]] })).documents.length, 3)
})
