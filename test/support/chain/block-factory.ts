/**
 * Makes chains that look like what an execution node answers: blocks with transactions of every
 * type, receipts, logs and access lists, from empty to shaped like Ethereum mainnet, the same for
 * the same seed. Block hashes are the real hashes of the headers and blooms are the real blooms of
 * the logs, so nothing downstream has to look away.
 */
import { keccak256, toRlp } from 'viem'
import type {
  RpcBlock,
  RpcLog,
  RpcReceipt,
  RpcTransaction,
} from '../../../src/primitives/rpc-block.ts'
import { createSeededRandom, type SeededRandom } from '../seeded-random.ts'

type Hex = `0x${string}`

/** How much is in each block. */
export interface BlockShape {
  readonly transactions: number
  readonly logs: number
  readonly entries: number
  /** Mean bytes of a transaction's calldata; a third of it is random. */
  readonly calldataBytes: number
}

/** Named shapes; `full` is an Ethereum mainnet block: 761 documents, about 808 kB of JSON. */
export const shapes: Readonly<Record<'empty' | 'tiny' | 'sparse' | 'full', BlockShape>> = {
  empty: { transactions: 0, logs: 0, entries: 0, calldataBytes: 0 },
  tiny: { transactions: 2, logs: 3, entries: 1, calldataBytes: 68 },
  sparse: { transactions: 2, logs: 3, entries: 0, calldataBytes: 68 },
  full: { transactions: 200, logs: 500, entries: 60, calldataBytes: 450 },
}

/** A block with its receipts, as `eth_getBlockByNumber` and `eth_getTransactionReceipt` answer. */
export interface ChainBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
}

interface ChainOptions {
  /** Blocks of another seed differ in everything but their shape. Default `chain`. */
  readonly seed?: string
  /** Height of the first block. Default: the parent's plus one, or 1. */
  readonly from?: number
  readonly count: number
  readonly shape?: BlockShape
  /** The block below the first one. Default: a made-up hash. */
  readonly parent?: ChainBlock
}

/** `count` blocks that follow one another. */
export function createChain(options: ChainOptions): ChainBlock[] {
  return [...chainBlocks(options)]
}

/** The same, one at a time, for chains too long to hold. */
export function* chainBlocks(options: ChainOptions): Generator<ChainBlock> {
  const { seed = 'chain', shape = shapes.tiny, count, parent } = options
  const first = options.from ?? (parent === undefined ? 1 : parent.number + 1)
  let parentHash = parent?.hash ?? createSeededRandom(`${seed}:parent`).hex(32)
  for (let number = first; number < first + count; number++) {
    const made = makeBlock(seed, number, parentHash, shape)
    parentHash = made.hash
    yield made
  }
}

/**
 * The chain as it is after a reorganisation: what it was up to and including height `common`, then
 * `count` other blocks (default: as many as there were).
 */
export function forkChain(
  chain: readonly ChainBlock[],
  common: number,
  options: { seed?: string; count?: number; shape?: BlockShape } = {},
): ChainBlock[] {
  const kept = chain.filter((block) => block.number <= common)
  const parent = kept.at(-1)
  if (parent === undefined) throw new Error(`height ${common} is not in the chain`)
  const { seed = 'fork', count = chain.length - kept.length, shape = shapes.tiny } = options
  return [...kept, ...chainBlocks({ seed, count, shape, parent })]
}

/** Contracts that emit exactly one log in every block with logs enough for all of them. */
export const watchedAddresses: readonly Hex[] = Array.from({ length: 64 }, (_, index) =>
  createSeededRandom(`watched:${index}`).hex(20),
)

const tokens: readonly Hex[] = Array.from({ length: 40 }, (_, index) =>
  createSeededRandom(`token:${index}`).hex(20),
)
/** keccak256 of `Transfer(address,address,uint256)`. */
export const transferTopic: Hex =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const emptyUncles: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`
const wordOf = (address: Hex): Hex => `0x${'0'.repeat(24)}${address.slice(2)}`

function makeBlock(seed: string, number: number, parentHash: Hex, shape: BlockShape): ChainBlock {
  const random = createSeededRandom(`${seed}:${number}`)
  const transactions = Array.from({ length: shape.transactions }, (_, index) =>
    makeTransaction(random, index, number, shape),
  )
  const entries = spread(shape.entries, transactions.filter(takesAccessList))
  for (const [transaction, count] of entries)
    Object.assign(transaction, {
      accessList: Array.from({ length: count }, () => makeEntry(random)),
    })
  const logs = spread(shape.logs, transactions)
  const receipts = makeReceipts(random, transactions, logs)
  const header = makeHeader(random, number, parentHash, receipts)
  const hash = headerHash(header)
  for (const transaction of transactions) Object.assign(transaction, { blockHash: hash })
  for (const receipt of receipts) {
    Object.assign(receipt, { blockHash: hash })
    for (const log of receipt.logs ?? []) Object.assign(log, { blockHash: hash })
  }
  const whole = {
    ...header,
    hash,
    size: quantity(600 + shape.transactions * (shape.calldataBytes + 120)),
    uncles: [],
    transactions,
    withdrawals: [],
    totalDifficulty: '0xc70d815d562d3cfa955',
  }
  return { number, hash, parentHash, block: whole, receipts }
}

/** Shares `count` things out over the transactions, as evenly as whole numbers allow. */
function spread<T>(count: number, over: readonly T[]): Map<T, number> {
  const shares = new Map<T, number>()
  for (const [index, item] of over.entries()) {
    const share = Math.floor(((index + 1) * count) / over.length)
    shares.set(item, share - Math.floor((index * count) / over.length))
  }
  return shares
}

const takesAccessList = (transaction: RpcTransaction): boolean => transaction.type !== '0x0'

/** Every transaction type in use, the common ones more often. */
const typeCycle: readonly Hex[] = ['0x2', '0x0', '0x2', '0x1', '0x2', '0x2', '0x3', '0x2', '0x4']

function makeTransaction(
  random: SeededRandom,
  index: number,
  blockNumber: number,
  shape: BlockShape,
): RpcTransaction {
  const type = typeCycle[index % typeCycle.length] ?? '0x2'
  const price = 1_000_000_000 + random.int(2_000_000_000)
  const transaction = {
    hash: random.hex(32),
    blockNumber: quantity(blockNumber),
    transactionIndex: quantity(index),
    from: random.hex(20),
    to: index % 50 === 49 ? null : random.pick(tokens),
    value: quantity(random.int(4) === 0 ? random.int(2 ** 31) * 1_000_003 : 0),
    gas: quantity(60_000 + random.int(200_000)),
    gasPrice: quantity(price),
    input: calldata(random, shape.calldataBytes),
    nonce: quantity(random.int(5000)),
    type,
    v: type === '0x0' ? quantity(37 + random.int(2)) : quantity(random.int(2)),
    r: random.hex(32).replace(/^0x0+/, '0x'),
    s: random.hex(32).replace(/^0x0+/, '0x'),
    ...typeFields(random, type, price),
  }
  return transaction
}

/** The fields that came with each transaction type (EIP-2930, EIP-1559, EIP-4844, EIP-7702). */
function typeFields(random: SeededRandom, type: Hex, price: number): object {
  const typed = { chainId: '0x1', accessList: [] }
  const fees = {
    ...typed,
    maxFeePerGas: quantity(price + random.int(1_000_000_000)),
    maxPriorityFeePerGas: quantity(random.int(1_000_000_000)),
  }
  if (type === '0x0') return { chainId: '0x1' }
  if (type === '0x1') return typed
  if (type === '0x3')
    return { ...fees, maxFeePerBlobGas: '0x1', blobVersionedHashes: [random.hex(32)] }
  if (type === '0x4')
    return { ...fees, authorizationList: [{ chainId: '0x1', address: random.hex(20) }] }
  return fees
}

/** A selector, then 32-byte words: one in three random, the others padded addresses and amounts. */
function calldata(random: SeededRandom, meanBytes: number): Hex {
  const words = Math.floor((meanBytes - 4) / 32)
  if (words < 0) return '0x'
  const selector = random.pick(['a9059cbb', '23b872dd', '095ea7b3', '38ed1739', 'ac9650d8'])
  const count = words - Math.floor(words / 2) + random.int(words + 1)
  const body = Array.from({ length: count }, (_, index) => {
    if (index % 3 === 0) return random.hex(32).slice(2)
    return random
      .int(2 ** 24)
      .toString(16)
      .padStart(64, '0')
  })
  return `0x${selector}${body.join('')}`
}

const makeEntry = (random: SeededRandom): { address: Hex; storageKeys: Hex[] } => ({
  address: random.hex(20),
  storageKeys: Array.from({ length: random.int(3) }, () => random.hex(32)),
})

function makeReceipts(
  random: SeededRandom,
  transactions: readonly RpcTransaction[],
  logCounts: Map<RpcTransaction, number>,
): RpcReceipt[] {
  let cumulative = 0
  let logIndex = 0
  return transactions.map((transaction, index) => {
    const gasUsed = 21_000 + random.int(150_000)
    cumulative += gasUsed
    const logs = Array.from({ length: logCounts.get(transaction) ?? 0 }, () =>
      makeLog(random, transaction, index, logIndex++),
    )
    const { from, to, hash, type, gasPrice } = transaction
    const receipt = {
      transactionHash: hash,
      transactionIndex: quantity(index),
      blockNumber: transaction.blockNumber,
      from,
      to,
      type,
      status: index % 25 === 24 ? '0x0' : '0x1',
      gasUsed: quantity(gasUsed),
      cumulativeGasUsed: quantity(cumulative),
      effectiveGasPrice: gasPrice,
      contractAddress: to === null ? random.hex(20) : null,
      logs,
      logsBloom: bloomOf(logs),
    }
    return receipt
  })
}

function makeLog(
  random: SeededRandom,
  transaction: RpcTransaction,
  transactionIndex: number,
  logIndex: number,
): RpcLog {
  return {
    address: watchedAddresses[logIndex] ?? random.pick(tokens),
    topics: [transferTopic, wordOf(random.hex(20)), wordOf(random.hex(20))],
    data: `0x${random
      .int(2 ** 31)
      .toString(16)
      .padStart(64, '0')}`,
    blockNumber: transaction.blockNumber,
    transactionHash: transaction.hash,
    transactionIndex: quantity(transactionIndex),
    logIndex: quantity(logIndex),
    removed: false,
  }
}

type Header = Readonly<Record<(typeof headerFields)[number], Hex>>

/** The header's fields in the order in which its hash takes them (Prague). */
const headerFields = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const
const quantityFields: ReadonlySet<string> = new Set([
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'baseFeePerGas',
  'blobGasUsed',
  'excessBlobGas',
])

function makeHeader(
  random: SeededRandom,
  number: number,
  parentHash: Hex,
  receipts: readonly RpcReceipt[],
): Header {
  return {
    parentHash,
    sha3Uncles: emptyUncles,
    miner: random.pick(tokens),
    stateRoot: random.hex(32),
    transactionsRoot: random.hex(32),
    receiptsRoot: random.hex(32),
    logsBloom: bloomOf(receipts.flatMap((receipt) => [...(receipt.logs ?? [])])),
    difficulty: '0x0',
    number: quantity(number),
    gasLimit: '0x2255100',
    gasUsed: (receipts.at(-1)?.cumulativeGasUsed ?? '0x0') as Hex,
    timestamp: quantity(1_700_000_000 + number * 12),
    extraData: '0x6265617665726275696c642e6f7267',
    mixHash: random.hex(32),
    nonce: '0x0000000000000000',
    baseFeePerGas: quantity(500_000_000 + random.int(500_000_000)),
    withdrawalsRoot: random.hex(32),
    blobGasUsed: '0x20000',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: random.hex(32),
    requestsHash: random.hex(32),
  }
}

function headerHash(header: Header): Hex {
  return keccak256(
    toRlp(
      headerFields.map((name) => (quantityFields.has(name) ? trim(header[name]) : header[name])),
    ),
  )
}

function trim(value: Hex): Hex {
  if (value === '0x0') return '0x'
  return value.length % 2 === 0 ? value : `0x0${value.slice(2)}`
}

const bloomBits = new Map<string, readonly number[]>()

/** The 2,048-bit filter of addresses and topics (Yellow Paper 4.3.1). */
function bloomOf(logs: readonly RpcLog[]): Hex {
  const bloom = Buffer.alloc(256)
  for (const log of logs)
    for (const value of [log.address ?? '0x', ...(log.topics ?? [])])
      for (const bit of bitsOf(value)) {
        const at = 255 - (bit >> 3)
        bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
      }
  return `0x${bloom.toString('hex')}`
}

function bitsOf(value: string): readonly number[] {
  const known = bloomBits.get(value)
  if (known !== undefined) return known
  const hash = Buffer.from(keccak256(value as Hex).slice(2), 'hex')
  const bits = [0, 2, 4].map((at) => hash.readUInt16BE(at) & 2047)
  if (bloomBits.size > 20_000) bloomBits.clear()
  bloomBits.set(value, bits)
  return bits
}
