import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Body,
  encodeBody,
  openBody,
  openEncodedBody,
  verifyBody,
} from '../../../src/primitives/body/body.ts'
import { cidText } from '../../../src/primitives/cid-text.ts'
import { blockSections } from '../../../src/primitives/collections.ts'
import { type BlockDocuments, toDocuments } from '../../../src/primitives/documents.ts'
import { sealRoot } from '../../../src/primitives/seal.ts'
import { encodeValues } from '../../../src/primitives/values.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { answeredBlock } from '../arbitrary-block.ts'

const network = 'Ethereum__Mainnet'

function fullBlock(): BlockDocuments {
  const [made] = createChain({ count: 1, shape: shapes.full, seed: 'body' })
  assert.ok(made !== undefined)
  return toDocuments(network, made.block, made.receipts)
}

/** Every document's values bytes, read chunk by chunk. */
function allValues(body: Body): Buffer[] {
  return blockSections.flatMap((section) =>
    Array.from({ length: body.counts[section] }, (_, position) => {
      const chunk = body.openChunk(section, body.chunkOf(section, position))
      return Buffer.from(chunk.values(position))
    }),
  )
}

function expectedValues(documents: BlockDocuments): Buffer[] {
  return blockSections.flatMap((section) =>
    documents.documents[section].map(({ collection, values }) =>
      Buffer.from(encodeValues(collection, values)),
    ),
  )
}

test('a body of any block holds every document’s values bytes, in chain order', () => {
  fc.assert(
    fc.property(answeredBlock, ({ block, receipts }) => {
      const documents = toDocuments(network, block, receipts)
      const encoded = encodeBody(documents)
      const body = openBody(encoded.body)
      assert.deepEqual(allValues(body), expectedValues(documents))
      assert.deepEqual(allValues(openEncodedBody(encoded)), expectedValues(documents))
      assert.equal(body.totalDifficulty, documents.totalDifficulty)
    }),
    { numRuns: 40 },
  )
})

test('a Host verifies of any block what a Generator sealed', () => {
  fc.assert(
    fc.property(answeredBlock, ({ block, receipts }) => {
      const documents = toDocuments(network, block, receipts)
      const { body, cids } = encodeBody(documents)
      const verified = verifyBody(network, body)
      const { root, count } = sealRoot(cids)
      const chunks = blockSections.flatMap((section) =>
        Array.from({ length: verified.body.chunkCount(section) }, (_, index) =>
          verified.body.openChunk(section, index),
        ),
      )
      assert.deepEqual(
        { ...verified, body: undefined },
        {
          number: documents.number,
          hash: documents.hash,
          parentHash: documents.parentHash,
          timestamp: documents.timestamp,
          cids,
          root,
          count,
          body: undefined,
          rawBytes: chunks.reduce((sum, { rawBytes }) => sum + rawBytes, 0),
        },
      )
      assert.deepEqual(allValues(verified.body), expectedValues(documents))
    }),
    { numRuns: 40 },
  )
})

test('the network is part of every document’s identity', () => {
  const documents = fullBlock()
  const { body, cids } = encodeBody(documents)
  const elsewhere = verifyBody('Ethereum__Sepolia', body)
  assert.notEqual(elsewhere.root, sealRoot(cids).root)
  assert.deepEqual(elsewhere.cids, encodeBody({ ...documents, network: 'Ethereum__Sepolia' }).cids)
})

test('a transaction’s logs and access list entries are ranges, and lead back to the transaction', () => {
  const documents = fullBlock()
  const body = openBody(encodeBody(documents).body)
  const logs = documents.logsPerTransaction.flatMap((count, tx) => Array(count).fill(tx))
  const entries = documents.entriesPerTransaction.flatMap((count, tx) => Array(count).fill(tx))
  for (const [position, tx] of logs.entries()) {
    const [start, end] = body.logsOf(tx)
    assert.ok(start <= position && position < end)
    assert.equal(end - start, documents.logsPerTransaction[tx])
    assert.equal(body.transactionOfLog(position), tx)
  }
  for (const [position, tx] of entries.entries()) {
    const [start, end] = body.entriesOf(tx)
    assert.ok(start <= position && position < end)
    assert.equal(end - start, documents.entriesPerTransaction[tx])
    assert.equal(body.transactionOfEntry(position), tx)
  }
  for (const partsOf of [body.logsOf, body.entriesOf]) {
    const all = Array.from({ length: body.counts.Transaction }, (_, tx) => partsOf(tx))
    const ends = all.map(([, end]) => end)
    assert.deepEqual(
      all.map(([start]) => start),
      [0, ...ends.slice(0, -1)],
    )
  }
})

test('a chunk holds at most 64 documents, and knows where each lies', () => {
  const body = openBody(encodeBody(fullBlock()).body)
  assert.deepEqual(
    blockSections.map((section) => [body.counts[section], body.chunkCount(section)]),
    [
      [1, 1],
      [200, 4],
      [60, 1],
      [500, 8],
    ],
  )
  for (const section of blockSections) {
    let next = 0
    for (let index = 0; index < body.chunkCount(section); index++) {
      const chunk = body.openChunk(section, index)
      assert.equal(chunk.first, next)
      assert.ok(chunk.length <= 64)
      for (const position of [chunk.first, chunk.first + chunk.length - 1]) {
        assert.equal(body.chunkOf(section, position), index)
        assert.deepEqual(
          chunk.values(position),
          chunk.bytes.subarray(chunk.start(position), chunk.start(position + 1)),
        )
      }
      assert.throws(() => chunk.values(chunk.first + chunk.length), /broken invariant/)
      next = chunk.first + chunk.length
    }
    assert.equal(next, body.counts[section])
    assert.throws(() => body.openChunk(section, body.chunkCount(section)), /broken invariant/)
  }
})

test('a chunk is closed early once its documents reach 256 KiB', () => {
  const transactions = [1, 2, 3, 4].map((digit) => ({
    hash: `0x${String(digit).repeat(64)}`,
    input: `0x${'ab'.repeat(140 * 1024)}`,
  }))
  const block = {
    hash: `0x${'a'.repeat(64)}`,
    number: '0x1',
    parentHash: `0x${'b'.repeat(64)}`,
    timestamp: '0x1',
    transactions,
  }
  const documents = toDocuments(network, block, [{}, {}, {}, {}])
  const { body } = encodeBody(documents)
  const opened = openBody(body)
  assert.deepEqual(
    [0, 1].map((index) => opened.openChunk('Transaction', index).length),
    [2, 2],
  )
  assert.deepEqual(allValues(opened), expectedValues(documents))
  assert.equal(verifyBody(network, body).count, 5)
})

test('a block of the time 0 is verified as any other', () => {
  const block = {
    hash: `0x${'a'.repeat(64)}`,
    number: '0x0',
    parentHash: `0x${'0'.repeat(64)}`,
    timestamp: '0x0',
    transactions: [],
  }
  const { body } = encodeBody(toDocuments(network, block, []))
  assert.equal(verifyBody(network, body).timestamp, 0)
})

test('a block without transactions has a body of one document', () => {
  const [made] = createChain({ count: 1, shape: shapes.empty })
  assert.ok(made !== undefined)
  const { body, cids } = encodeBody(toDocuments(network, made.block, made.receipts))
  const verified = verifyBody(network, body)
  assert.equal(verified.count, 1)
  assert.deepEqual(verified.cids.map(cidText), cids.map(cidText))
  assert.equal(verified.body.chunkCount('Log'), 0)
})
