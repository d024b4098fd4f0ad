/**
 * The parts of an execution node's answers that become documents, as JSON-RPC spells them
 * (https://ethereum.github.io/execution-apis). Nodes leave out or null what they do not have.
 */

/** Text as a node returns it: a string, null, or missing. */
type RpcText = string | null | undefined

/** `eth_getBlockByNumber(number, true)`: a block with whole transactions. */
export interface RpcBlock {
  readonly hash?: RpcText
  readonly number?: RpcText
  readonly parentHash?: RpcText
  readonly timestamp?: RpcText
  readonly difficulty?: RpcText
  readonly totalDifficulty?: RpcText
  readonly gasUsed?: RpcText
  readonly gasLimit?: RpcText
  readonly baseFeePerGas?: RpcText
  readonly nonce?: RpcText
  readonly miner?: RpcText
  readonly size?: RpcText
  readonly stateRoot?: RpcText
  readonly sha3Uncles?: RpcText
  readonly transactionsRoot?: RpcText
  readonly receiptsRoot?: RpcText
  readonly logsBloom?: RpcText
  readonly extraData?: RpcText
  readonly mixHash?: RpcText
  readonly uncles?: readonly string[] | null | undefined
  readonly transactions?: readonly RpcTransaction[] | null | undefined
}

/** A transaction inside `RpcBlock`. */
export interface RpcTransaction {
  readonly hash?: RpcText
  readonly blockHash?: RpcText
  readonly blockNumber?: RpcText
  readonly transactionIndex?: RpcText
  readonly from?: RpcText
  readonly to?: RpcText
  readonly value?: RpcText
  readonly gas?: RpcText
  readonly gasPrice?: RpcText
  readonly maxFeePerGas?: RpcText
  readonly maxPriorityFeePerGas?: RpcText
  readonly input?: RpcText
  readonly nonce?: RpcText
  readonly type?: RpcText
  readonly chainId?: RpcText
  readonly v?: RpcText
  readonly yParity?: RpcText
  readonly r?: RpcText
  readonly s?: RpcText
  readonly accessList?: readonly RpcAccessListEntry[] | null | undefined
}

/** One entry of a transaction's access list (EIP-2930). */
export interface RpcAccessListEntry {
  readonly address?: RpcText
  readonly storageKeys?: readonly string[] | null | undefined
}

/** `eth_getTransactionReceipt`. */
export interface RpcReceipt {
  readonly transactionHash?: RpcText
  readonly transactionIndex?: RpcText
  readonly blockHash?: RpcText
  readonly blockNumber?: RpcText
  readonly status?: RpcText
  readonly gasUsed?: RpcText
  readonly cumulativeGasUsed?: RpcText
  readonly effectiveGasPrice?: RpcText
  readonly logsBloom?: RpcText
  readonly logs?: readonly RpcLog[] | null | undefined
}

/** A log inside `RpcReceipt`. */
export interface RpcLog {
  readonly address?: RpcText
  readonly data?: RpcText
  readonly topics?: readonly string[] | null | undefined
  readonly transactionHash?: RpcText
  readonly transactionIndex?: RpcText
  readonly blockHash?: RpcText
  readonly blockNumber?: RpcText
  readonly logIndex?: RpcText
  readonly removed?: boolean | null | undefined
}
