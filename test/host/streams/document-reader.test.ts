/** The documents of a View as a thread of their own reads them: in order, a little ahead, and by what hints leave. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type {
  DocumentReaderData,
  DocumentRequest,
  FromDocumentReader,
  StreamDocuments,
  ToDocumentReader,
} from '../../../src/host/streams/document-batches.ts'
import type { SealedBlockToStore } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'

interface TestReader {
  say(message: ToDocumentReader): void
  begin(id: number, request: Partial<DocumentRequest>): void
  next(): Promise<FromDocumentReader>
  /** What comes until a request is over, each batch being taken at once. */
  all(id: number, request: Partial<DocumentRequest>): Promise<StreamDocuments[]>
  /** How many messages it rang for. */
  rung(): number
}

/** A reader of a store with these blocks, until the last test. */
async function openReader(blocks: readonly SealedBlockToStore[]): Promise<TestReader> {
  const storePath = mkdtempSync(join(tmpdir(), 'viewmesh-documents-'))
  const store = await openWriter(
    { path: storePath, network: testNetwork, retainBlocks: null },
    { log: captureLog().log },
  )
  await Promise.all(blocks.map((block) => store.putBlock(block)))
  const { port1, port2 } = new MessageChannel()
  const bell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const data: DocumentReaderData = { storePath, network: testNetwork, port: port2, bell }
  const url = new URL('../../../src/host/streams/document-reader.ts', import.meta.url)
  const worker = new Worker(url, { workerData: data, transferList: [port2] })
  after(async () => {
    port1.close()
    await worker.terminate()
    await store.close()
    rmSync(storePath, { recursive: true })
  })
  const messages = listenTo(port1)
  const say = (message: ToDocumentReader): void => port1.postMessage(message)
  const begin: TestReader['begin'] = (id, request) => {
    const whole = { query: 'Block { number }', hints: null, heights: [], maxMs: 60_000 }
    say({ kind: 'begin', id, request: { ...whole, ...request } })
  }
  return {
    say,
    begin,
    next: messages,
    async all(id, request) {
      begin(id, request)
      const found: StreamDocuments[] = []
      for (;;) {
        const message = await messages()
        assert.equal(message.id, id)
        if (message.kind === 'failure') assert.fail(message.error.message)
        if (message.kind === 'done') return found
        found.push(...message.blocks)
        say({ kind: 'taken', id })
      }
    },
    rung: () => Atomics.load(bell, 0),
  }
}

/** A function that returns the messages one by one. */
function listenTo(port: MessagePort): () => Promise<FromDocumentReader> {
  const came: FromDocumentReader[] = []
  port.on('message', (message: FromDocumentReader) => came.push(message))
  return async () => {
    while (came.length === 0) await once(port, 'message')
    return came.shift() ?? assert.fail()
  }
}

/** Blocks of three logs, with nothing between them. */
const chain = [100, 101, 102, 1_123, 1_124, 4_000].flatMap((from) =>
  createChain({ count: 1, from, shape: shapes.sparse }),
)
/** Blocks of 200 transactions, of which three fill more than two batches. */
const large = createChain({ count: 3, from: 1, shape: { ...shapes.full, entries: 0 } })
const inputs = {
  query: 'Transaction { input data: input more: input }',
  heights: [[1, 3]],
} as const
/** Entries of access lists, 5,000 in each block, whose transactions have about 4 kB of input as hex. */
const long = createChain({
  count: 3,
  from: 10_001,
  shape: { transactions: 20, logs: 0, entries: 5_000, calldataBytes: 2_000 },
})
const reader = await openReader([...large, ...chain, ...long].map((block) => storableBlock(block)))

const numbersOf = (found: readonly StreamDocuments[]): unknown[] =>
  found.flatMap(({ texts }) => texts.map((text) => JSON.parse(text).number))

test('documents come with their blocks, those of one block together', async () => {
  const query = 'Log { logIndex }'
  const before = reader.rung()
  const found = await reader.all(1, { query, heights: [[100, 101]] })
  assert.deepEqual(
    found,
    chain.slice(0, 2).map(({ number, hash }) => ({
      block: { height: number, blockHash: hash },
      texts: [0, 1, 2].map((logIndex) => JSON.stringify({ logIndex })),
    })),
  )
  assert.deepEqual(await reader.all(2, { query, heights: [[103, 200]] }), [])
  while (reader.rung() - before < 3) await setImmediate()
  assert.equal(reader.rung() - before, 3, 'for the batch and for both ends')
})

test('documents of no single block, such as groups, come without one', async () => {
  const query = 'Log(groupBy: [logIndex]) { logIndex }'
  const found = await reader.all(3, { query, heights: [[100, 102]] })
  const texts = [0, 1, 2].map((logIndex) => JSON.stringify({ logIndex }))
  assert.deepEqual(found, [{ block: null, texts }])
})

test('two batches are read ahead, and another one for each that is taken', async () => {
  reader.begin(4, inputs)
  const bytesOf = (message: FromDocumentReader): number => {
    if (message.kind !== 'batch') return 0
    return message.blocks.flatMap(({ texts }) => texts).reduce((sum, { length }) => sum + length, 0)
  }
  const sizes = [bytesOf(await reader.next()), bytesOf(await reader.next())]
  for (const size of sizes) assert.ok(size >= 256 * 1024 && size < 300 * 1024, `${size} bytes`)

  reader.say({ kind: 'taken', id: 3 })
  reader.begin(5, {})
  const ends = [await reader.next(), await reader.next()].map(({ id, kind }) => `${id} ${kind}`)
  assert.deepEqual(ends.sort(), ['4 failure', '5 done'], 'it waited, and gives way to the next')

  const whole = await reader.all(6, inputs)
  assert.equal(whole.flatMap(({ texts }) => texts).length, 600)
})

test('a request that is ended fails, and one that is over can be ended as well', async () => {
  reader.begin(7, inputs)
  await reader.next()
  await reader.next()
  reader.say({ kind: 'end', id: 7 })
  const ended = await reader.next()
  assert.deepEqual([ended.id, ended.kind], [7, 'failure'])
  assert.deepEqual(numbersOf(await reader.all(8, { heights: [[1, 3]] })), [1, 2, 3])
  reader.say({ kind: 'end', id: 8 })
  assert.deepEqual(numbersOf(await reader.all(9, { heights: [[2, 2]] })), [2])
})

test('where a View needs certain logs, blocks without them are passed over, however far apart', async () => {
  const wanted = [101, 1_123, 1_124, 4_000]
  const topics = wanted.map((height) => {
    const [receipt] = chain.find(({ number }) => number === height)?.receipts ?? []
    return receipt?.logs?.[0]?.topics?.[1] ?? assert.fail(`block ${height} has a log`)
  })
  const hints = { collection: 'Log', values: { topic: topics } }
  let id = 9
  const read = async (...heights: readonly (readonly [number, number])[]): Promise<unknown[]> => {
    id += 1
    return numbersOf(await reader.all(id, { hints, heights }))
  }
  assert.deepEqual(await read([100, 4_000]), wanted)
  assert.deepEqual(await read([100, 1_123]), [101, 1_123])
  assert.deepEqual(await read([100, 100], [1_124, 3_999]), [1_124])
  assert.deepEqual(await read([100, 100], [102, 102]), [])
  assert.deepEqual(await read(), [])
})

test('where a View needs certain transactions, blocks without them are passed over', async () => {
  const wanted = [101, 4_000]
  const senders = wanted.map((height) => {
    const [transaction] = chain.find(({ number }) => number === height)?.block.transactions ?? []
    return transaction?.from ?? assert.fail(`block ${height} has a transaction`)
  })
  const hints = { collection: 'Transaction', values: { from: senders } }
  const found = await reader.all(20, { hints, heights: [[100, 4_000]] })
  assert.deepEqual(numbersOf(found), wanted)
})

test('a request fails once its documents take more than 1 GiB, and the next goes on', async () => {
  const twenty = Array.from({ length: 20 }, (_, index) => `i${index}: input`).join(' ')
  const query = `AccessListEntry { transaction { ${twenty} } }`
  reader.begin(30, { query, heights: [[10_001, 10_003]] })
  let bytes = 0
  let message = await reader.next()
  for (; message.kind === 'batch'; message = await reader.next()) {
    for (const { texts } of message.blocks) for (const { length } of texts) bytes += length
    reader.say({ kind: 'taken', id: 30 })
  }
  assert.ok(message.kind === 'failure')
  const { code, message: text, remedy } = message.error
  assert.equal(code, 'VIEWS_SELECTION_TOO_LARGE')
  assert.equal(text, 'the documents that it reads take more than 1073741824 bytes')
  assert.match(`${remedy}`, /fewer blocks/)
  assert.ok(bytes < 2 ** 30 && bytes > 2 ** 30 - 2 ** 20, `${bytes} bytes`)
  assert.deepEqual(numbersOf(await reader.all(31, { heights: [[1, 3]] })), [1, 2, 3])
})
