import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'
import { encodeBody } from '../../src/primitives/body/body.ts'
import { cidText } from '../../src/primitives/cid-text.ts'
import { blockSections, fieldIndex, type Section } from '../../src/primitives/collections.ts'
import { type BlockDocuments, toDocuments } from '../../src/primitives/documents.ts'
import type { RpcBlock, RpcReceipt, RpcTransaction } from '../../src/primitives/rpc-block.ts'
import { decodeValues, encodeValues } from '../../src/primitives/values.ts'
import { answeredBlock } from './arbitrary-block.ts'
import { oracleDocuments } from './oracle.ts'

const network = 'Ethereum__Mainnet'
const word = (digit: string): string => `0x${digit.repeat(64)}`
const account = (digit: string): string => `0x${digit.repeat(40)}`

function blockOf(transactions: readonly RpcTransaction[] = [], more: RpcBlock = {}): RpcBlock {
  return {
    hash: word('a'),
    number: '0x10',
    parentHash: word('b'),
    timestamp: '0x20',
    transactions,
    ...more,
  }
}

function transactionOf(more: RpcTransaction = {}): RpcTransaction {
  return { hash: word('1'), from: account('2'), v: '0x0', ...more }
}

function one(documents: BlockDocuments, section: Section, field: string): unknown {
  return documents.documents[section][0]?.values[fieldIndex(section, field)]
}

function transactionField(
  field: string,
  transaction: RpcTransaction,
  receipt: RpcReceipt = {},
): unknown {
  return one(
    toDocuments(network, blockOf([transactionOf(transaction)]), [receipt]),
    'Transaction',
    field,
  )
}

test('a block’s documents are itself, its transactions, their access list entries and their logs', () => {
  const transactions = [
    transactionOf({
      hash: word('1'),
      type: '0x1',
      accessList: [{ address: account('3') }, { address: account('3'), storageKeys: [word('4')] }],
    }),
    transactionOf({ hash: word('2') }),
  ]
  const logs = ['0x0', '0x1'].map((logIndex) => ({ address: account('5'), data: '0x', logIndex }))
  const documents = toDocuments(network, blockOf(transactions), [{}, { logs }])
  assert.deepEqual(
    blockSections.map((section) => documents.documents[section].map(({ docID }) => docID)),
    [
      [`block-${word('a')}`],
      [`tx-${word('1')}`, `tx-${word('2')}`],
      [`entry-${word('1')}-0`, `entry-${word('1')}-1`],
      [`log-${word('a')}-0`, `log-${word('a')}-1`],
    ],
  )
  assert.deepEqual(documents.entriesPerTransaction, [2, 0])
  assert.deepEqual(documents.logsPerTransaction, [0, 2])
})

test('status, gasUsed, cumulativeGasUsed and effectiveGasPrice come from the receipt', () => {
  const receipt = {
    status: '0x0',
    gasUsed: '0x1',
    cumulativeGasUsed: '0x2',
    effectiveGasPrice: '0x3',
  }
  const transaction = { gasPrice: '0x4', gas: '0x5' }
  assert.equal(transactionField('status', transaction, receipt), false)
  assert.equal(transactionField('gasUsed', transaction, receipt), '0x1')
  assert.equal(transactionField('cumulativeGasUsed', transaction, receipt), '0x2')
  assert.equal(transactionField('effectiveGasPrice', transaction, receipt), '0x3')
  assert.equal(transactionField('gasPrice', transaction, receipt), '0x4')
})

test('a receipt from before Byzantium has no status, and the document says null', () => {
  assert.equal(transactionField('status', {}, {}), null)
  assert.equal(transactionField('status', {}, { status: '0x1' }), true)
})

test('answers of different clients become the same document', async (t) => {
  const cases: [string, string, unknown, RpcTransaction, RpcReceipt?][] = [
    ['a missing type is legacy', 'type', '0x0', {}],
    ['a padded type is made minimal', 'type', '0x2', { type: '0x02' }],
    ['a padded r is made minimal', 'r', '0xab', { r: `0x${'0'.repeat(62)}ab` }],
    ['zero is 0x0', 'value', '0x0', { value: '0x000' }],
    ['capital letters become small', 'to', account('a'), { to: account('A') }],
    ['a legacy chain ID follows from v', 'chainId', '0x1', { v: '0x25' }],
    ['also where the client says another', 'chainId', '0x1', { v: '0x26', chainId: '0x5' }],
    ['its smallest v is of chain 0', 'chainId', '0x0', { v: '0x23', chainId: '0x5' }],
    ['a smaller v says nothing of it', 'chainId', '0x5', { v: '0x22', chainId: '0x5' }],
    ['nor does none', 'chainId', '0x5', { v: null, chainId: '0x5' }],
    ['nor one that is no number', 'chainId', '0x5', { v: '0xzz', chainId: '0x5' }],
    ['before EIP-155 there is none', 'chainId', null, { v: '0x1b', chainId: '0x1' }],
    ['for the other parity neither', 'chainId', null, { v: '0x1c', chainId: '0x1' }],
    ['a typed chain ID is its own', 'chainId', '0x5', { type: '0x1', chainId: '0x5', v: '0x1' }],
    ['whatever its v is', 'chainId', '0x5', { type: '0x1', chainId: '0x5', v: '0x25' }],
    ['a missing v is the parity', 'v', '0x1', { type: '0x2', v: null, yParity: '0x1' }],
    ['no effective price: the gas price', 'effectiveGasPrice', '0x7', { gasPrice: '0x7' }],
    ['no gas price: the effective one', 'gasPrice', '0x7', {}, { effectiveGasPrice: '0x7' }],
    ['no fee cap before EIP-1559', 'maxFeePerGas', null, { type: '0x1', maxFeePerGas: '0x7' }],
    ['a fee cap since', 'maxFeePerGas', '0x7', { type: '0x2', maxFeePerGas: '0x7' }],
    ['a contract creation has no receiver', 'to', null, { to: null }],
  ]
  for (const [name, field, expected, transaction, receipt] of cases) {
    await t.test(name, () => assert.equal(transactionField(field, transaction, receipt), expected))
  }
})

test('accessList null is empty, and total difficulty is kept beside the documents', () => {
  const block = blockOf([transactionOf({ accessList: null })], { totalDifficulty: '0x00ff' })
  const documents = toDocuments(network, block, [{ logs: null }])
  assert.deepEqual(documents.documents.AccessListEntry, [])
  assert.equal(documents.totalDifficulty, '0xff')
  assert.equal(toDocuments(network, blockOf(), []).totalDifficulty, null)
})

test('a field that cannot be read is refused by its name', async (t) => {
  const log = { address: account('5'), data: '0x', logIndex: '0x0' }
  const cases: [string, RpcBlock, RpcReceipt[]][] = [
    ['block.hash', blockOf([], { hash: '0x12' }), []],
    ['block.hash', blockOf([], { hash: null }), []],
    ['block.number', blockOf([], { number: '0x20000000000000' }), []],
    ['block.number', blockOf([], { number: '0x' }), []],
    ['block.number', blockOf([], { number: '16' }), []],
    ['block.number', blockOf([], { number: '0x1g' }), []],
    ['block.timestamp', blockOf([], { timestamp: null }), []],
    ['block.size', blockOf([], { size: `0x${'f'.repeat(65)}` }), []],
    ['block.extraData', blockOf([], { extraData: '0x123' }), []],
    ['block.receipts.length', blockOf([transactionOf()]), []],
    ['transaction[0].hash', blockOf([transactionOf({ hash: null })]), [{}]],
    ['transaction[1].hash', blockOf([transactionOf(), transactionOf()]), [{}, {}]],
    ['transaction[0].blockHash', blockOf([transactionOf({ blockHash: word('c') })]), [{}]],
    [
      'transaction[0].transactionIndex',
      blockOf([transactionOf({ transactionIndex: '0x1' })]),
      [{}],
    ],
    [
      'transaction[0].accessList.address',
      blockOf([transactionOf({ type: '0x1', accessList: [{}] })]),
      [{}],
    ],
    ['receipt[0].status', blockOf([transactionOf()]), [{ status: '0x2' }]],
    ['receipt[0].transactionHash', blockOf([transactionOf()]), [{ transactionHash: word('9') }]],
    ['receipt[0].blockHash', blockOf([transactionOf()]), [{ blockHash: word('9') }]],
    ['receipt[0].logs.logIndex', blockOf([transactionOf()]), [{ logs: [log, log] }]],
    ['receipt[0].logs.data', blockOf([transactionOf()]), [{ logs: [{ ...log, data: null }] }]],
    [
      'receipt[0].logs.topics',
      blockOf([transactionOf()]),
      [{ logs: [{ ...log, topics: ['0x'] }] }],
    ],
    ...[{ transactionHash: word('9') }, { blockHash: word('9') }, { transactionIndex: '0x1' }].map(
      (other): [string, RpcBlock, RpcReceipt[]] => [
        `receipt[0].${Object.keys(other)[0]}`,
        blockOf([transactionOf()]),
        [{ logs: [{ ...log, ...other }] }],
      ],
    ),
    ['receipt[0].transactionIndex', blockOf([transactionOf()]), [{ transactionIndex: '0x1' }]],
  ]
  for (const [index, [field, block, receipts]] of cases.entries()) {
    await t.test(`${field} (case ${index + 1})`, () =>
      assert.throws(
        () => toDocuments(network, block, receipts),
        (error) =>
          error instanceof ServiceError &&
          error.code === 'PRIMITIVES_BLOCK_MALFORMED' &&
          error.facts['field'] === field,
      ),
    )
  }
})

test('a place in the block that is null is that of the answer, as if it were left out', () => {
  const place = { blockHash: null, transactionHash: null, transactionIndex: null }
  const log = { address: account('5'), data: '0x', logIndex: '0x0' }
  const documentsOf = (beside: object): BlockDocuments => {
    const receipt = { ...beside, logs: [{ ...log, ...beside }] }
    return toDocuments(network, blockOf([transactionOf(beside)]), [receipt])
  }
  assert.deepEqual(documentsOf(place), documentsOf({}))
})

test('transactions that are only hashes, and null receipts, are refused', () => {
  const hashes = [word('1')] as unknown as RpcTransaction[]
  const nothing = [null] as unknown as RpcReceipt[]
  const refused = { code: 'PRIMITIVES_BLOCK_MALFORMED' }
  assert.throws(() => toDocuments(network, blockOf(hashes), [{}]), refused)
  assert.throws(() => toDocuments(network, blockOf([transactionOf()]), nothing), refused)
})

test('malformed hex is refused when it becomes bytes, by collection and field', () => {
  const transaction = transactionOf({ input: '0xzz' })
  const documents = toDocuments(network, blockOf([transaction]), [{}])
  assert.throws(() => encodeBody(documents), {
    code: 'PRIMITIVES_BLOCK_MALFORMED',
    message: 'Transaction.input cannot be stored as data: "0xzz"',
  })
})

test('docIDs, bytes and CIDs of any block are what the IPLD libraries make of it', () => {
  fc.assert(
    fc.property(answeredBlock, ({ block, receipts }) => {
      const documents = toDocuments(network, block, receipts)
      const expected = oracleDocuments(network, block, receipts)
      const made = blockSections.flatMap((section) => [...documents.documents[section]])
      assert.deepEqual(
        made.map(({ docID }) => docID),
        expected.map(({ docID }) => docID),
      )
      const { cids } = encodeBody(documents)
      assert.deepEqual(
        cids.map(cidText),
        expected.map(({ cid }) => cid),
      )
    }),
    { numRuns: 60 },
  )
})

test('stored values of any block render back to exactly the normalised hex', () => {
  fc.assert(
    fc.property(answeredBlock, ({ block, receipts }) => {
      const { documents } = toDocuments(network, block, receipts)
      for (const section of blockSections) {
        for (const { collection, values } of documents[section]) {
          assert.deepEqual(decodeValues(collection, encodeValues(collection, values)), values)
        }
      }
    }),
    { numRuns: 40 },
  )
})
