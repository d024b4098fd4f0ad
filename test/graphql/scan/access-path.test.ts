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
import { rowID } from '../../../src/views/rows/row-id.ts'
import { type ChainBlock, createChain } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { documentsRead, openTestGraphql, readData } from '../support/graphql-room.ts'
import { noHash } from '../support/repeat.ts'
import { putRows, servedView } from '../support/served-views.ts'

const view = servedView('type Named { name: String @index n: Int }')
const rowsOf = (n: number) => ['odd', 'even', 'both'].map((name) => ({ name, n }))

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
    for (const [index, block] of chain.entries())
      await putRows({ store }, view, block, index % 10 === 0 ? rowsOf(block.number) : [])
    graphql.setViews([view])
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

  const senders = (count: number) => {
    const others = Array.from({ length: count - 1 }, (_, index) => `0x${noHash(index).slice(-40)}`)
    return `[${[...others, sender.from].map((each) => `"${each}"`).join(', ')}]`
  }
  /** Documents looked at: one for each block and row; 6 for a lookup and 2 for each 64 heights of it; 8 for a hash. */
  const narrow: Readonly<Record<string, readonly [documents: number, field: string]>> = {
    'a height': [2, 'Block(filter: {number: 1070})'],
    'a range with two sides': [6, 'Block(filter: {number: {_gt: 1068, _lt: 1072}})'],
    'the height of linked rows': [14, 'Log(filter: {block: {number: {_in: [1070, 1075]}}})'],
    'the hash of a block': [10, `Block(filter: {hash: "${pick?.hash}"})`],
    'the hash of a block in its logs': [14, `Log(filter: {blockHash: "${pick?.hash}"})`],
    'the id of a block': [12, `Transaction(filter: {block_id: "block-${pick?.hash}"})`],
    'the hash of a transaction': [18, `Transaction(filter: {hash: "${tx?.transactionHash}"})`],
    'the hash of a transaction in its logs': [
      19,
      `Log(filter: {transactionHash: "${tx?.transactionHash}"})`,
    ],
    'the id of a transaction': [
      17,
      `AccessListEntry(filter: {transaction_id: "tx-${tx?.transactionHash}"})`,
    ],
    'a docID': [10, `Log(docID: "log-${pick?.hash}-2")`],
    'a sender': [18, `Transaction(filter: {from: "${sender.from}"})`],
    'a sender of linked rows': [20, `Log(filter: {transaction: {from: "${sender.from}"}})`],
    'a topic': [18, `Log(filter: {topics: {_any: {_eq: "${log?.topics?.[2]}"}}})`],
    'a topic of linked rows': [
      22,
      `Block(filter: {transactions: {logs: {topics: {_any: {_in: ["${log?.topics?.[1]}"]}}}}})`,
    ],
    'two alternatives': [
      36,
      `Transaction(filter: {_or: [{from: "${sender.from}"}, {hash: "${chain[3]?.receipts[0]?.transactionHash}"}]})`,
    ],
    'a value or a height': [
      22,
      `Transaction(filter: {_or: [{from: "${sender.from}"}, {blockNumber: 1075}]})`,
    ],
    'a hash or a range': [
      146,
      `Transaction(filter: {_or: [{hash: "${tx?.transactionHash}"}, {blockNumber: {_gt: 1187}}]})`,
    ],
    '64 values': [1033, `Transaction(filter: {from: {_in: ${senders(64)}}})`],
    '65 values in few blocks': [
      522,
      `Transaction(filter: {from: {_in: ${senders(65)}}, blockNumber: {_geq: 1065, _leq: 1075}})`,
    ],
    'more values than a scan costs': [760, `Transaction(filter: {from: {_in: ${senders(300)}}})`],
    'the height of a View': [20, 'Named(filter: {_blockNumber: {_gt: 1068, _lt: 1072}})'],
    'what a View has of blocks': [92, 'Named(filter: {n: {_gt: 1000}})'],
    'the newest of a View': [19, 'Named(order: {_blockNumber: DESC}, limit: 2)'],
    'a value of a View': [54, 'Named(filter: {name: "odd"})'],
    'a value of a View in few blocks': [
      20,
      'Named(filter: {name: "odd", _blockNumber: {_gt: 1140}})',
    ],
    'two values of a View': [
      53,
      'Named(filter: {name: {_in: ["odd", "even"]}}, order: {_blockNumber: DESC}, limit: 3)',
    ],
    'a rare value and a common one': [
      34,
      `Log(filter: {topics: {_any: {_eq: "${log?.topics?.[0]}"}}, _and: [{topics: {_any: {_eq: "${log?.topics?.[1]}"}}}]})`,
    ],
    'a common value in few blocks': [
      14,
      `Log(filter: {address: "${log?.address}", blockNumber: {_geq: 1070, _leq: 1072}})`,
    ],
    'a value nobody has': [16, `Log(filter: {address: "0x${'12'.repeat(20)}"})`],
    'the height of linked transactions, and a value': [
      11,
      `Log(filter: {transaction: {blockNumber: 1070}, address: "${log?.address}"})`,
    ],
    'an id of a transaction in its logs': [
      19,
      `Log(filter: {transaction_id: "tx-${tx?.transactionHash}"})`,
    ],
    'the hash of a block in its seals': [
      10,
      `BlockSignature(filter: {blockHash: "${pick?.hash}"})`,
    ],
    'all topics in their order': [
      50,
      `Log(filter: {topics: [${log?.topics?.map((topic) => `"${topic}"`)}]})`,
    ],
    'a topic that it must not have': [
      456,
      `Log(filter: {topics: {_none: {_eq: "${log?.topics?.[2]}"}}, blockNumber: {_leq: 1075}})`,
    ],
    'no value where there may be one': [
      152,
      'Transaction(filter: {to: null, blockNumber: {_lt: 1038}})',
    ],
    'a part of what names a block': [
      380,
      `AttestationRecord(filter: {attested_doc: {_like: "%${pick?.hash.slice(8, 20)}%"}})`,
    ],
    'a hash that is none, and a value': [
      0,
      `Log(filter: {blockHash: "0x12", address: "${log?.address}"})`,
    ],
    'linked rows of a hash that is none, and a value': [
      0,
      `Log(filter: {transaction: {hash: "0x12"}, address: "${log?.address}"})`,
    ],
    'a value, or what no index knows of linked rows': [
      90,
      `Log(filter: {_or: [{address: "${log?.address}"}, {transaction: {value: {_lt: 0}}}], blockNumber: {_lt: 1010}})`,
    ],
    'what names no block': [0, 'AttestationRecord(filter: {attested_doc: "nothing"})'],
    'an id of a row': [
      28,
      `Named(docID: "${rowID({ view: view.id, blockHash: pick?.hash ?? '', position: 1 })}")`,
    ],
    'an id of a row of another View': [
      16,
      `Named(docID: "${rowID({ view: noHash(7), blockHash: pick?.hash ?? '', position: 1 })}")`,
    ],
    'a docID of another collection': [0, `Log(docID: "block-${pick?.hash}")`],
    'an address that is too short': [0, `Log(filter: {address: "0x1234"})`],
    'a hash that is none': [0, 'Block(filter: {hash: {_eq: "0x12"}})'],
    'a collection without documents': [0, 'SnapshotSignature'],
    nothing: [0, 'Log(filter: {_or: []})'],
    'no docID': [0, 'Log(docID: [])'],
    'the newest of an address': [
      22,
      `Log(filter: {address: "${log?.address}"}, order: {blockNumber: DESC}, limit: 3)`,
    ],
    'the newest': [12, 'Log(order: {blockNumber: DESC}, limit: 10)'],
    'the newest by two keys': [12, 'Log(order: [{blockNumber: DESC}, {logIndex: ASC}], limit: 10)'],
    'the newest by what their block has': [
      4,
      'Log(order: [{blockNumber: DESC}, {block: {hash: ASC}}, {logIndex: DESC}], limit: 3)',
    ],
    'the newest of several addresses': [
      38,
      `Log(filter: {address: {_in: ["${log?.address}", "${tx?.logs?.[1]?.address}"]}}, order: {block: {number: DESC}}, limit: 4)`,
    ],
  }
  for (const [way, [looked, field]] of Object.entries(narrow)) {
    test(`an access path by ${way} looks at ${looked} documents`, async () => {
      const { rows, documents } = await cost(`{ ${field} { _docID } }`)
      assert.equal(documents, looked)
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
