/**
 * What every field of the collections means and in which unit, as GraphiQL shows it. Meanings come
 * from the Ethereum JSON-RPC specification (https://ethereum.github.io/execution-apis) and the EIPs
 * named.
 */
import { invariant } from '../../errors.ts'
import type { CollectionName, Field, FieldKind } from '../../primitives/collections.ts'

/** How values of a kind are written; the second half of a description. */
const forms: Readonly<Record<FieldKind, string>> = {
  hash: '0x hex, 32 bytes.',
  address: '0x hex, 20 bytes.',
  data: '0x hex.',
  quantity: '0x hex, compared and ordered as a number.',
  int: '',
  boolean: '',
  text: '',
}

/** The description of a field. */
export function fieldDescription(
  collection: CollectionName,
  { name, kind }: Pick<Field, 'name' | 'kind'>,
): string {
  const meaning = meanings[collection][name]
  invariant(meaning !== undefined, `${collection}.${name} has a description`)
  return `${meaning} ${forms[kind]}`.trimEnd()
}

const blockHash = 'Hash of the block it is in.'
const blockNumber = 'Height of the block it is in.'
const transactionIndex = 'Position of its transaction in the block, from 0.'

const signature = {
  merkleRoot: 'Merkle root that is signed (RFC 9162 over SHA-256), hex without 0x.',
  signatureType: 'Signature algorithm: ES256K or Ed25519.',
  signatureIdentity: 'Public key of the Generator that signed, hex without 0x.',
  signatureValue: 'The signature, hex without 0x.',
  createdAt: 'When it was signed: ISO 8601, UTC. Not covered by the signature.',
}

const meanings: Readonly<Record<CollectionName, Readonly<Record<string, string>>>> = {
  Block: {
    hash: 'Hash of the block header.',
    timestamp: 'When the block was made, in seconds since 1970 (UTC).',
    parentHash: 'Hash of the block below.',
    difficulty: 'Difficulty of the proof of work; 0 since the merge (EIP-3675).',
    gasUsed: 'Gas that all transactions used together.',
    gasLimit: 'Gas that all transactions could use together.',
    baseFeePerGas: 'Price of a unit of gas that is burnt, in wei; null before EIP-1559.',
    nonce: 'Nonce of the proof of work, 8 bytes; zero since the merge.',
    miner: 'Who receives the priority fees: miner, or fee recipient of the proposer.',
    size: 'Size of the block in bytes.',
    stateRoot: 'Root of the state trie after the block.',
    sha3Uncles: 'Hash of the list of uncles.',
    transactionsRoot: 'Root of the trie of transactions.',
    receiptsRoot: 'Root of the trie of receipts.',
    logsBloom: 'Bloom filter over addresses and topics of all logs, 256 bytes.',
    extraData: 'Free bytes of the block’s producer, at most 32.',
    mixHash:
      'Mix hash of the proof of work; since the merge the random value prevRandao (EIP-4399).',
    number: 'Height of the block; the genesis block has 0.',
    uncles: 'Hashes of the uncles.',
    totalDifficulty: 'Sum of all difficulties up to this block; null where no node answered it.',
  },
  Transaction: {
    hash: 'Hash of the transaction.',
    blockHash,
    from: 'Sender.',
    to: 'Recipient; null where the transaction creates a contract.',
    value: 'Value transferred, in wei.',
    gas: 'Gas limit the sender set.',
    gasPrice: 'Price offered, or paid since EIP-1559, for a unit of gas, in wei.',
    gasUsed: 'Gas that this transaction used, from its receipt.',
    maxFeePerGas: 'Most the sender pays for a unit of gas, in wei; null before EIP-1559.',
    maxPriorityFeePerGas:
      'Most of it that goes to the block’s producer, in wei; null before EIP-1559.',
    input: 'Call data, or the code that creates a contract.',
    nonce: 'How many transactions the sender had sent before.',
    type: 'Type of the transaction (EIP-2718): 0x0 legacy, 0x1 access list, 0x2 dynamic fee, 0x3 blob, 0x4 code.',
    chainId: 'Chain it is valid on (EIP-155); null where it is valid on any.',
    v: 'Recovery value of the signature; of a legacy transaction with the chain in it (EIP-155).',
    r: 'First half of the signature.',
    s: 'Second half of the signature.',
    cumulativeGasUsed:
      'Gas used by the block up to and including this transaction, from its receipt.',
    effectiveGasPrice: 'Price paid for a unit of gas, in wei, from its receipt.',
    blockNumber,
    transactionIndex: 'Position in the block, from 0.',
    status: 'True when it succeeded, from its receipt; null before Byzantium (EIP-658).',
  },
  Log: {
    address: 'Contract that emitted the log.',
    data: 'Parameters that are not indexed, ABI-encoded.',
    transactionHash: 'Hash of the transaction that emitted it.',
    blockHash,
    removed: 'The text "true" where the node removed the log in a reorganisation, else "false".',
    topics:
      'Indexed parameters, at most four; the first is usually the hash of the event’s signature.',
    blockNumber,
    transactionIndex,
    logIndex: 'Position among the logs of the block, from 0.',
  },
  AccessListEntry: {
    address: 'Account that the transaction announced to touch.',
    blockNumber,
    storageKeys: 'Storage slots of the account that it announced.',
  },
  BlockSignature: {
    ...signature,
    blockNumber: 'Height of the block that is signed.',
    blockHash: 'Hash of the block that is signed.',
    cidCount: 'How many documents the signature covers.',
    cids: 'CIDs of the documents it covers, in the order of the Merkle tree; empty where it covers others than are stored.',
  },
  SnapshotSignature: {
    ...signature,
    startBlock: 'Height of the first block in the snapshot.',
    endBlock: 'Height of the last block in the snapshot.',
    blockCount: 'How many blocks the snapshot holds.',
    snapshotFile: 'Name of the snapshot file.',
    blockSigMerkleRoots: 'Merkle roots of its blocks, lowest block first, hex without 0x.',
  },
}
