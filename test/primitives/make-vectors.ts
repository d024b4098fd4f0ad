/**
 * Writes test/fixtures/primitives/vectors.json: for each case a node's answer and everything that
 * must follow from it. Run by hand (`npx node test/primitives/make-vectors.ts`) when a case is added; a
 * change of an existing case breaks every node that runs today.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { encodeBody } from '../../src/primitives/body/body.ts'
import { cidText } from '../../src/primitives/cid-text.ts'
import { blockSections } from '../../src/primitives/collections.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import type {
  RpcBlock,
  RpcLog,
  RpcReceipt,
  RpcTransaction,
} from '../../src/primitives/rpc-block.ts'
import { sealDigest, sealRoot } from '../../src/primitives/seal.ts'
import { canonicalBytes, encodeValues } from '../../src/primitives/values.ts'

interface Case {
  readonly name: string
  readonly network: string
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
}

/** Bytes that look random and follow from a name. */
function madeUp(name: string, length: number): string {
  return `0x${createHash('sha256')
    .update(name)
    .digest('hex')
    .slice(0, length * 2)}`
}

function blockOf(name: string, transactions: readonly RpcTransaction[], more: RpcBlock): RpcBlock {
  return {
    hash: madeUp(`${name} block`, 32),
    parentHash: madeUp(`${name} parent`, 32),
    timestamp: '0x68e7a4b7',
    difficulty: '0x0',
    gasUsed: '0x2a51c',
    gasLimit: '0x2aea540',
    baseFeePerGas: '0x1dcd6500',
    nonce: '0x0000000000000000',
    miner: madeUp('miner', 20),
    size: '0x3e8',
    stateRoot: madeUp(`${name} state`, 32),
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    transactionsRoot: madeUp(`${name} transactions`, 32),
    receiptsRoot: madeUp(`${name} receipts`, 32),
    logsBloom: `0x${'00'.repeat(255)}80`,
    extraData: '0x',
    mixHash: madeUp(`${name} mix`, 32),
    uncles: [],
    ...more,
    transactions,
  }
}

function transactionOf(name: string, more: RpcTransaction): RpcTransaction {
  return {
    hash: madeUp(`${name} transaction`, 32),
    from: madeUp('sender', 20),
    to: madeUp('receiver', 20),
    value: '0xde0b6b3a7640000',
    gas: '0x5208',
    gasPrice: '0x3b9aca00',
    input: '0x',
    nonce: '0x7',
    r: madeUp(`${name} r`, 32),
    s: madeUp(`${name} s`, 32),
    ...more,
  }
}

function receiptOf(name: string, more: RpcReceipt): RpcReceipt {
  return {
    transactionHash: madeUp(`${name} transaction`, 32),
    status: '0x1',
    gasUsed: '0x5208',
    cumulativeGasUsed: '0x5208',
    effectiveGasPrice: '0x3b9aca00',
    logs: [],
    ...more,
  }
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const logs: readonly RpcLog[] = [
  {
    address: madeUp('token', 20),
    topics: [transferTopic, `0x${'00'.repeat(12)}${madeUp('sender', 20).slice(2)}`],
    data: `0x${'00'.repeat(31)}2a`,
    logIndex: '0x0',
    removed: false,
  },
  { address: madeUp('token', 20), topics: [], data: '0x', logIndex: '0x1', removed: false },
]

const fees = { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x3b9aca00', chainId: '0x1' }
const entryA = { address: madeUp('token', 20), storageKeys: [madeUp('slot', 32)] }
const entryB = { address: madeUp('other', 20), storageKeys: [] }

const cases: readonly Case[] = [
  {
    name: 'a block without transactions',
    network: 'Ethereum__Mainnet',
    block: blockOf('empty', [], { number: '0x17d7840', extraData: '0x6d61646520627920' }),
    receipts: [],
  },
  {
    name: 'a legacy transaction from before EIP-155, with a receipt from before Byzantium, in a block with uncles',
    network: 'Ethereum__Mainnet',
    block: blockOf(
      'frontier',
      [transactionOf('frontier', { v: '0x1c', gasPrice: '0xba43b7400' })],
      {
        number: '0xb443',
        timestamp: '0x55c42659',
        difficulty: '0x153886c1bbd',
        totalDifficulty: '0x2d3d7b3c4a1f3f9',
        baseFeePerGas: null,
        nonce: '0x1a2b3c4d5e6f7081',
        uncles: [madeUp('uncle one', 32), madeUp('uncle two', 32)],
      },
    ),
    receipts: [receiptOf('frontier', { status: null, effectiveGasPrice: null, gasUsed: '0x5208' })],
  },
  {
    name: 'a legacy transaction with EIP-155, answered without type, chainId and effectiveGasPrice and with padded quantities',
    network: 'Ethereum__Mainnet',
    block: blockOf(
      'legacy',
      [
        transactionOf('legacy', {
          v: '0x25',
          value: '0x0',
          r: `0x00${'ab'.repeat(31)}`,
          accessList: null,
        }),
      ],
      { number: '0x7a1200' },
    ),
    receipts: [
      receiptOf('legacy', { status: '0x0', effectiveGasPrice: null, gasUsed: '0x05208', logs: [] }),
    ],
  },
  {
    name: 'an EIP-2930 transaction with duplicate access list entries',
    network: 'Ethereum__Mainnet',
    block: blockOf(
      'list',
      [
        transactionOf('list', {
          type: '0x1',
          chainId: '0x1',
          v: '0x1',
          accessList: [entryA, entryB, entryA, entryA],
        }),
      ],
      { number: '0xc5d488' },
    ),
    receipts: [receiptOf('list', { logs })],
  },
  {
    name: 'an EIP-1559 contract creation with logs of no and of two topics',
    network: 'Ethereum__Mainnet',
    block: blockOf(
      'fees',
      [
        transactionOf('fees', {
          ...fees,
          type: '0x2',
          to: null,
          v: '0x0',
          input: `0x60806040${'52'.repeat(300)}`,
          accessList: [],
        }),
      ],
      { number: '0x11e1a300', totalDifficulty: '0xc70d815d562d3cfa955' },
    ),
    receipts: [receiptOf('fees', { logs })],
  },
  {
    name: 'an EIP-4844 blob transaction, answered with yParity only',
    network: 'Ethereum__Sepolia',
    block: blockOf(
      'blobs',
      [
        transactionOf('blobs', {
          ...fees,
          chainId: '0xaa36a7',
          type: '0x3',
          yParity: '0x1',
          accessList: [],
        }),
      ],
      { number: '0x5b8d80' },
    ),
    receipts: [receiptOf('blobs', {})],
  },
  {
    name: 'an EIP-7702 transaction, and one of each other type after it, answered in capital letters',
    network: 'Local__Devnet',
    block: blockOf(
      'codes',
      [
        transactionOf('codes', {
          ...fees,
          chainId: '0x7a69',
          type: '0x4',
          v: '0x0',
          accessList: [entryB],
        }),
        ...['0x0', '0x1', '0x2', '0x3'].map((type) =>
          transactionOf(`codes ${type}`, {
            ...fees,
            type,
            v: type === '0x0' ? '0xF4F5' : '0x1',
            accessList: [],
          }),
        ),
      ].map((tx) => ({ ...tx, hash: `0x${tx.hash?.slice(2).toUpperCase()}` })),
      { number: '0x10', miner: `0x${madeUp('miner', 20).slice(2).toUpperCase()}` },
    ),
    receipts: ['codes', 'codes 0x0', 'codes 0x1', 'codes 0x2', 'codes 0x3'].map((name, index) =>
      receiptOf(name, {
        cumulativeGasUsed: `0x${((index + 1) * 21000).toString(16)}`,
        logs: logs.map((log, place) => ({
          ...log,
          logIndex: `0x${(2 * index + place).toString(16)}`,
        })),
      }),
    ),
  },
]

function vectorOf({ name, network, block, receipts }: Case): object {
  const made = toDocuments(network, block, receipts)
  const { cids } = encodeBody(made)
  const { root, count } = sealRoot(cids)
  const statement = {
    network,
    blockNumber: made.number,
    blockHash: made.hash,
    merkleRoot: root,
    cidCount: count,
  }
  const documents = blockSections.flatMap((section) => [...made.documents[section]])
  return {
    name,
    network,
    block,
    receipts,
    documents: documents.map(({ collection, docID, values }, index) => ({
      collection,
      docID,
      values,
      canonical: hex(canonicalBytes(network, collection, docID, encodeValues(collection, values))),
      cid: cidText(cids[index] ?? new Uint8Array()),
    })),
    totalDifficulty: made.totalDifficulty,
    merkleRoot: root,
    cidCount: count,
    sealDigest: hex(sealDigest(statement)),
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

const about =
  'For each case: what a node answers (block, receipts) and what must follow from it. `values` are in the order of the collection table; `canonical` is the DAG-CBOR that the CID hashes, in hex; `sealDigest` is what a Generator signs.'
const target = new URL('../fixtures/primitives/vectors.json', import.meta.url)
writeFileSync(target, `${JSON.stringify({ about, vectors: cases.map(vectorOf) }, null, 1)}\n`)
