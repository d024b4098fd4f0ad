import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { openNodeClient } from '../../src/chain/node-client.ts'
import { encodeBody, verifyBody } from '../../src/primitives/body/body.ts'
import { collections } from '../../src/primitives/collections.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import { captureLog } from '../support/captured-log.ts'
import type { ChainBlock } from '../support/chain/block-factory.ts'
import { startGeneratedNode } from '../support/chain/generated-node.ts'

function recorded(name: string): ChainBlock {
  const path = new URL(`../fixtures/chain/${name}.json`, import.meta.url)
  const { block, receipts } = JSON.parse(readFileSync(path, 'utf8'))
  const { number, hash, parentHash } = block
  return { number: Number(number), hash, parentHash, block, receipts }
}

/** Reads a recorded block as a Generator does, every check on, and answers its transactions. */
async function transactionsOf(t: TestContext, name: string): Promise<Record<string, unknown>[]> {
  const block = recorded(name)
  const node = await startGeneratedNode([block])
  const log = captureLog()
  const chain = openNodeClient(
    { rpcUrls: [node.url], verify: 'headers' },
    { log: log.log, registry: new Registry() },
  )
  t.after(async () => {
    await chain.close()
    await node.close()
  })
  const read = await chain.block(block.number, new AbortController().signal)
  assert.deepEqual(log.lines, [], 'the header hashes to the block’s hash')
  const documents = toDocuments('Ethereum__Mainnet', read.block, read.receipts)
  const { body, cids } = encodeBody(documents)
  assert.deepEqual(verifyBody('Ethereum__Mainnet', body).cids, cids)
  const { fields } = collections.Transaction
  return documents.documents.Transaction.map(({ values }) =>
    Object.fromEntries(fields.map((field, index) => [field.name, values[index]])),
  )
}

test('the first transaction of mainnet, from before Byzantium, has no status', async (t) => {
  const [transaction] = await transactionsOf(t, 'mainnet-46147')
  assert.equal(
    transaction?.['hash'],
    '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060',
  )
  assert.equal(transaction['status'], null)
  assert.equal(transaction['chainId'], null)
  assert.equal(transaction['type'], '0x0')
})

test('a blob transaction (EIP-4844) from geth is read, checked and sealed', async (t) => {
  const [transaction] = await transactionsOf(t, 'geth-blob')
  assert.equal(transaction?.['type'], '0x3')
  assert.equal(transaction['status'], true)
})

test('every other type, a delegation (EIP-7702) last, is read, checked and sealed', async (t) => {
  const transactions = await transactionsOf(t, 'geth-all-types')
  assert.deepEqual(
    transactions.map(({ type }) => type),
    ['0x0', '0x1', '0x2', '0x2', '0x4'],
  )
  assert.ok(transactions.every(({ status }) => status === true))
})
