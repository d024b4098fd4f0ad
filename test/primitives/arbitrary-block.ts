/**
 * Blocks with receipts as any execution client might answer them: every transaction type, values of
 * every length, and the ways in which clients differ (padded quantities, capital letters, fields
 * that are missing or null).
 */
import fc from 'fast-check'
import type {
  RpcBlock,
  RpcLog,
  RpcReceipt,
  RpcTransaction,
} from '../../src/primitives/rpc-block.ts'

/** A block and its receipts. */
interface AnsweredBlock {
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
}

const hexBytes = (length: { min: number; max: number }): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: length.min, maxLength: length.max, size: 'max' })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)

const withCapitals = (hex: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(hex, fc.boolean())
    .map(([text, isUpper]) => (isUpper ? `0x${text.slice(2).toUpperCase()}` : text))

const hash = withCapitals(hexBytes({ min: 32, max: 32 }))
const address = withCapitals(hexBytes({ min: 20, max: 20 }))
const data = withCapitals(hexBytes({ min: 0, max: 100 }))

const quantity: fc.Arbitrary<string> = withCapitals(
  fc
    .tuple(
      fc.oneof(fc.constant(0n), fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 256n - 1n)),
      fc.constantFrom('', '0', '000'),
    )
    .map(([value, padding]) => `0x${padding}${value.toString(16)}`),
)

const absent = <T>(present: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 4, arbitrary: present }, fc.constantFrom(null, undefined))

const hashList = absent(fc.array(hash, { maxLength: 4 }))

const entry = fc.record({ address, storageKeys: hashList })

const legacyV = fc
  .constantFrom(0, 1, 27, 28, 35, 36, 37, 38, 2709, 2710, 62709)
  .map((v) => `0x${v.toString(16)}`)
const parity = fc.constantFrom('0x0', '0x1')

const common = {
  hash,
  from: absent(address),
  to: absent(address),
  value: absent(quantity),
  gas: absent(quantity),
  gasPrice: absent(quantity),
  maxFeePerGas: absent(quantity),
  maxPriorityFeePerGas: absent(quantity),
  input: absent(data),
  nonce: absent(quantity),
  chainId: absent(quantity),
  r: absent(quantity),
  s: absent(quantity),
}

const transaction: fc.Arbitrary<RpcTransaction> = fc.oneof(
  fc.record({ ...common, type: fc.constantFrom('0x0', '0x00', null, undefined), v: legacyV }),
  fc.record({
    ...common,
    type: fc.constantFrom('0x1', '0x2', '0x02', '0x3', '0x4', '0x7e'),
    v: absent(parity),
    yParity: absent(parity),
    accessList: absent(fc.array(entry, { maxLength: 4 })),
  }),
)

const log: fc.Arbitrary<RpcLog> = fc.record({
  address,
  data,
  topics: hashList,
  removed: absent(fc.boolean()),
})

const receipt: fc.Arbitrary<RpcReceipt> = fc.record({
  status: fc.constantFrom('0x0', '0x1', '0x01', null, undefined),
  gasUsed: absent(quantity),
  cumulativeGasUsed: absent(quantity),
  effectiveGasPrice: absent(quantity),
  logs: absent(fc.array(log, { maxLength: 4 })),
})

const header = fc.record({
  hash,
  number: fc.nat().map((value) => `0x${value.toString(16)}`),
  parentHash: hash,
  timestamp: fc.nat({ max: 2 ** 48 - 1 }).map((value) => `0x${value.toString(16)}`),
  difficulty: absent(quantity),
  totalDifficulty: absent(quantity),
  gasUsed: absent(quantity),
  gasLimit: absent(quantity),
  baseFeePerGas: absent(quantity),
  nonce: absent(hexBytes({ min: 8, max: 8 })),
  miner: absent(address),
  size: absent(quantity),
  stateRoot: absent(hash),
  sha3Uncles: absent(hash),
  transactionsRoot: absent(hash),
  receiptsRoot: absent(hash),
  logsBloom: absent(hexBytes({ min: 256, max: 256 })),
  extraData: absent(data),
  mixHash: absent(hash),
  uncles: hashList,
})

const parts = fc.array(fc.tuple(transaction, receipt), { maxLength: 6 })

/** Any block that a Generator must be able to store. */
export const answeredBlock: fc.Arbitrary<AnsweredBlock> = fc
  .tuple(header, parts, fc.boolean(), fc.nat({ max: 3 }))
  .map(([head, pairs, isTerse, gap]) => assemble(head, pairs, isTerse, gap))

/** `isTerse`: the answers do not repeat which block and transaction they belong to. */
function assemble(
  head: RpcBlock,
  pairs: readonly (readonly [RpcTransaction, RpcReceipt])[],
  isTerse: boolean,
  gap: number,
): AnsweredBlock {
  const unique = pairs.filter(
    ([one], index) => pairs.findIndex(([other]) => sameHash(one, other)) === index,
  )
  let logIndex = 0
  const receipts = unique.map(([tx, answer], index): RpcReceipt => {
    const place = placeOf(head, tx, index)
    const logs = answer.logs?.map((one) => {
      const indexed = { ...one, logIndex: `0x${logIndex.toString(16)}` }
      logIndex += 1 + gap
      return isTerse ? indexed : { ...indexed, ...place }
    })
    return isTerse ? { ...answer, logs } : { ...answer, ...place, logs }
  })
  const transactions = unique.map(([tx], index): RpcTransaction => {
    const { transactionHash: _, ...place } = placeOf(head, tx, index)
    return isTerse ? tx : { ...tx, ...place }
  })
  return { block: { ...head, transactions }, receipts }
}

function sameHash(one: RpcTransaction, other: RpcTransaction): boolean {
  return one.hash?.toLowerCase() === other.hash?.toLowerCase()
}

function placeOf(
  head: RpcBlock,
  tx: RpcTransaction,
  index: number,
): {
  blockHash: string | null | undefined
  blockNumber: string | null | undefined
  transactionHash: string | null | undefined
  transactionIndex: string
} {
  return {
    blockHash: head.hash,
    blockNumber: head.number,
    transactionHash: tx.hash,
    transactionIndex: `0x${index.toString(16)}`,
  }
}
