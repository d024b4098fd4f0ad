import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { Graphql } from '../../../src/graphql/graphql.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { type ChainBlock, createChain } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { documentsRead, openTestGraphql, readData } from '../support/graphql-room.ts'

/** Enough blocks for merged spans of the index and single blocks above them, with gaps between. */
function longChain(): readonly ChainBlock[] {
  const shape = { transactions: 3, logs: 5, entries: 1, calldataBytes: 4 }
  const first = createChain({ from: 1000, count: 150, shape })
  return [...first, ...createChain({ from: 1180, count: 40, shape })]
}

suite('rows are reached by the shortest way', () => {
  const path = mkdtempSync(join(tmpdir(), 'viewmesh-test-'))
  const chain = longChain()
  const registry = new Registry()
  let store: StoreWriter
  let graphql: Graphql

  before(async () => {
    const options = { path, network: testNetwork, retainBlocks: null }
    store = await openWriter(options, { log: pino({ enabled: false }) })
    for (const block of chain) void store.putSealedBlock(storableBlock(block))
    await store.flushed()
    graphql = openTestGraphql(store.reader, { registry })
  })
  after(async () => {
    await store.close()
    rmSync(path, { recursive: true, force: true })
  })

  /** The rows of a query, and how many documents were read for them. */
  async function cost(query: string): Promise<{ rows: readonly object[]; documents: number }> {
    const start = await documentsRead(registry)
    const result = await graphql.execute({ query })
    assert.equal(result.errors, undefined, query)
    const [rows = []] = Object.values<readonly object[]>(readData(result))
    const documents = (await documentsRead(registry)) - start
    return { rows, documents }
  }

  const pick = chain[70]
  const tx = pick?.receipts[1]
  const log = tx?.logs?.[0]
  const sender = pick?.block.transactions?.[1] as { from: string; to: string }

  const narrow: Readonly<Record<string, string>> = {
    'a height': 'Block(filter: {number: 1070})',
    'a range with two sides': 'Block(filter: {number: {_gt: 1068, _lt: 1072}})',
    'the height of linked rows': 'Log(filter: {block: {number: {_in: [1070, 1075]}}})',
    'the hash of a block': `Block(filter: {hash: "${pick?.hash}"})`,
    'the hash of a block in its logs': `Log(filter: {blockHash: "${pick?.hash}"})`,
    'the id of a block': `Transaction(filter: {block_id: "block-${pick?.hash}"})`,
    'the hash of a transaction': `Transaction(filter: {hash: "${tx?.transactionHash}"})`,
    'the hash of a transaction in its logs': `Log(filter: {transactionHash: "${tx?.transactionHash}"})`,
    'the id of a transaction': `AccessListEntry(filter: {transaction_id: "tx-${tx?.transactionHash}"})`,
    'a docID': `Log(docID: "log-${pick?.hash}-2")`,
    'a sender': `Transaction(filter: {from: "${sender.from}"})`,
    'a sender of linked rows': `Log(filter: {transaction: {from: "${sender.from}"}})`,
    'a topic': `Log(filter: {topics: {_any: {_eq: "${log?.topics?.[2]}"}}})`,
    'a topic of linked rows': `Block(filter: {transactions: {logs: {topics: {_any: {_in: ["${log?.topics?.[1]}"]}}}}})`,
    'two alternatives': `Transaction(filter: {_or: [{from: "${sender.from}"}, {hash: "${chain[3]?.receipts[0]?.transactionHash}"}]})`,
    'a rare value and a common one': `Log(filter: {topics: {_any: {_eq: "${log?.topics?.[0]}"}}, _and: [{topics: {_any: {_eq: "${log?.topics?.[1]}"}}}]})`,
    'a common value in few blocks': `Log(filter: {address: "${log?.address}", blockNumber: {_geq: 1070, _leq: 1072}})`,
    'a value nobody has': `Log(filter: {address: "0x${'12'.repeat(20)}"})`,
    'a hash that is none': 'Block(filter: {hash: {_eq: "0x12"}})',
    nothing: 'Log(filter: {_or: []})',
    'no docID': 'Log(docID: [])',
    'the newest of an address': `Log(filter: {address: "${log?.address}"}, order: {blockNumber: DESC}, limit: 3)`,
    'the newest': 'Log(order: {blockNumber: DESC}, limit: 10)',
    'the newest by two keys': 'Log(order: [{blockNumber: DESC}, {logIndex: ASC}], limit: 10)',
    'the newest of several addresses': `Log(filter: {address: {_in: ["${log?.address}", "${tx?.logs?.[1]?.address}"]}}, order: {block: {number: DESC}}, limit: 4)`,
  }
  for (const [way, field] of Object.entries(narrow)) {
    test(`an access path by ${way}`, async () => {
      const { rows, documents } = await cost(`{ ${field} { _docID } }`)
      assert.ok(documents < 100, `${documents} documents looked at`)
      assert.deepEqual(rows, (await cost(`{ ${withoutIndex(field)} { _docID } }`)).rows)
    })
  }

  test('a page far behind the first reads no rows before it', async () => {
    const { rows, documents } = await cost('{ Log(offset: 800, limit: 5) { _docID } }')
    assert.equal(rows.length, 5)
    assert.ok(documents < 200, `${documents} documents looked at`)
  })

  test('every row is read where no index helps', async () => {
    const { documents } = await cost(
      '{ Log(filter: {data: {_like: "0x00%"}}, order: {data: ASC}, limit: 2) { _docID } }',
    )
    assert.ok(documents >= chain.length * 5)
  })
})

/** The same field with every condition hidden from the indexes: `_not` of `_not` narrows nothing. */
function withoutIndex(field: string): string {
  const hidden = field.replace(/filter: (\{.*?\})(?=\)|, order)/, 'filter: {_not: {_not: $1}}')
  return hidden.replace(/docID: (".*?"|\[\])/, (_, id) => {
    const operand = id === '[]' ? '{_in: []}' : `{_eq: ${id}}`
    return `filter: {_not: {_not: {_docID: ${operand}}}}`
  })
}
