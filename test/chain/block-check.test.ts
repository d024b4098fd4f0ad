import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  checkBlock,
  checkHeader,
  checkReceipts,
  receiptProblem,
  toInteger,
} from '../../src/chain/block-check.ts'
import { ServiceError } from '../../src/errors.ts'
import type { RpcReceipt } from '../../src/primitives/rpc-block.ts'
import { assertExplained } from '../docs/support/explained.ts'
import { createChain } from '../support/chain/block-factory.ts'

const [chainBlock] = createChain({ count: 1 })
if (chainBlock === undefined) throw new Error('a chain of one block has one')
const { block, receipts, number } = chainBlock
const checked = checkBlock(block, number)
const otherHash = `0x${'ab'.repeat(32)}`
const emptyBloom = `0x${'00'.repeat(256)}`

const change = (index: number, values: object): RpcReceipt[] =>
  receipts.map((receipt, place) => (place === index ? { ...receipt, ...values } : receipt))

test('a block with exactly its receipts passes', () => {
  assert.deepEqual(
    receipts.map((receipt, index) => receiptProblem(receipt, checked, index)),
    receipts.map(() => null),
  )
  checkReceipts(checked, receipts)
})

test('receipts of a node that writes hashes in another case than its blocks pass', () => {
  const inUpperCase = (hash: unknown): string => `0x${String(hash).slice(2).toUpperCase()}`
  const written = receipts.map((receipt) => ({
    ...receipt,
    blockHash: inUpperCase(receipt.blockHash),
    transactionHash: inUpperCase(receipt.transactionHash),
  }))
  checkReceipts(checked, written)
  checkReceipts(checkBlock({ ...block, hash: inUpperCase(block.hash) }, number), receipts)
})

function withTransaction(values: object): object {
  const [first, ...rest] = block.transactions ?? []
  return { ...block, transactions: [{ ...first, ...values }, ...rest] }
}

const wrongReceipts: readonly [string, unknown, string][] = [
  ['a null receipt', null, 'is missing'],
  ['of another block', { ...receipts[0], blockHash: otherHash }, 'is of another block'],
  ['without a hash of its block', { ...receipts[0], blockHash: null }, 'is of another block'],
  ['of another transaction', receipts[1], 'is of another transaction'],
  ['at another index', { ...receipts[0], transactionIndex: '0x5' }, 'has another index'],
  ['without a list of logs', { ...receipts[0], logs: null }, 'has no list of logs'],
  [
    'with a log of another transaction',
    { ...receipts[0], logs: [{ ...receipts[0]?.logs?.[0], transactionHash: otherHash }] },
    'has a log of another transaction',
  ],
  [
    'whose second log is of another block',
    {
      ...receipts[0],
      logs: [receipts[0]?.logs?.[0], { ...receipts[0]?.logs?.[0], blockHash: otherHash }],
    },
    'has a log of another transaction',
  ],
]

for (const [name, receipt, problem] of wrongReceipts)
  test(`a receipt ${name} is rejected`, () => {
    assert.equal(receiptProblem(receipt, checked, 0), problem)
  })

test('what is wrong with a block is said in one sentence', () => {
  const [transaction] = block.transactions ?? []
  const messages: readonly [object | string | null, string][] = [
    [null, 'something else'],
    ['nope', 'something else'],
    [{ ...block, hash: `${otherHash}0` }, 'a block without a hash'],
    [{ ...block, parentHash: otherHash.slice(0, -1) }, 'a block without a parent hash'],
    [{ ...block, number: null }, 'a block without a number'],
    [{ ...block, number: `0x${'f'.repeat(14)}` }, 'a block without a number'],
    [{ ...block, number: '0x99' }, 'block 153'],
    [{ ...block, transactions: {} }, 'a block without its transactions'],
    [{ ...block, transactions: [transaction, null] }, 'transaction 1 is not whole'],
    [{ ...block, transactions: [otherHash] }, 'transaction 0 is not whole'],
    [withTransaction({ hash: '0x' }), 'transaction 0 has no hash'],
    [withTransaction({ transactionIndex: '0x1' }), 'transaction 0 has another index'],
    [withTransaction({ blockHash: otherHash }), 'transaction 0 is of another block'],
  ]
  for (const [answer, what] of messages)
    assert.throws(() => checkBlock(answer, number), {
      code: 'CHAIN_ANSWER_MALFORMED',
      message: `asked for block ${number}, the node answered ${what}`,
      facts: { height: number },
    })
})

test('the newest header may have any number, and one that was asked for has its own', () => {
  const any = { ...block, number: '0x99' }
  assert.equal(checkHeader(any, 'latest').number, '0x99')
  assert.equal(checkHeader(any, 0x99).number, '0x99')
  assert.throws(() => checkHeader(any, 0x98), { code: 'CHAIN_ANSWER_MALFORMED' })
})

test('a quantity is hex that a number can hold, and nothing else', () => {
  const largest = Number.MAX_SAFE_INTEGER
  const numbers: readonly [unknown, number][] = [
    ['0x0', 0],
    ['0xaF', 0xaf],
    [`0x${'1'.padStart(64, '0')}`, 1],
    [`0x${largest.toString(16)}`, largest],
  ]
  for (const [text, number] of numbers) assert.equal(toInteger(text), number)
  const longer = `0x${'1'.padStart(65, '0')}`
  const aboveLargest = `0x${(BigInt(largest) + 1n).toString(16)}`
  for (const other of ['0x', '', '12', 'x0x1', '0x1 ', '0xg', longer, aboveLargest, 12, null, {}])
    assert.equal(toInteger(other), Number.NaN, String(other))
})

test('every receipt with a filter has logs', () => {
  assert.throws(
    () => checkReceipts(checked, change(0, { logs: [] })),
    (error: ServiceError) => {
      assert.match(error.message, /receipt 0 has lost its logs/)
      return assertExplained(error) !== ''
    },
  )
})

test('the filters of the receipts add up to the header’s', () => {
  const without = change(0, { logs: [], logsBloom: emptyBloom })
  assert.throws(() => checkReceipts(checked, without), {
    code: 'CHAIN_BLOCK_INCOMPLETE',
    message: /do not add up/,
  })
  const full = change(0, { logsBloom: `0x${'ff'.repeat(256)}` })
  assert.throws(() => checkReceipts(checked, full), { code: 'CHAIN_BLOCK_INCOMPLETE' })
})

test('a filter that is none and logs out of order are refused', () => {
  const bloom = String(receipts[0]?.logsBloom)
  const others = [emptyBloom.slice(2), bloom.replace('0x', '1x'), `${bloom}00`]
  for (const logsBloom of [undefined, null, '0x', `0x${'zz'.repeat(256)}`, ...others])
    assert.throws(() => checkReceipts(checked, change(0, { logsBloom })), {
      code: 'CHAIN_BLOCK_INCOMPLETE',
      message: `block ${number}: receipt 0 has no filter`,
    })
  const reversed = change(1, { logs: receipts[1]?.logs?.toReversed() })
  assert.throws(() => checkReceipts(checked, reversed), { message: /logs out of order/ })
  const [log] = receipts[0]?.logs ?? []
  for (const logs of [[log, log], [{ ...log, logIndex: null }]])
    assert.throws(() => checkReceipts(checked, change(0, { logs })), {
      code: 'CHAIN_BLOCK_INCOMPLETE',
      message: `block ${number}: receipt 0 has logs out of order`,
      facts: { height: number, hash: block.hash, problem: 'receipt 0 has logs out of order' },
    })
})

test('no malformed response passes as a block or crashes the check', () => {
  fc.assert(
    fc.property(fc.anything(), (answer) => {
      try {
        checkBlock(answer, 1)
        return false
      } catch (error) {
        return error instanceof ServiceError
      }
    }),
  )
  fc.assert(fc.property(fc.anything(), (answer) => receiptProblem(answer, checked, 0) !== null))
})
