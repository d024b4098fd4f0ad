/**
 * What must be kept of a block, worked out from the node's own JSON-RPC answers by code that shares nothing with the
 * programs: fields by `expected-documents.ts`, bytes, CIDs and the Merkle root by `oracle.ts`, signatures by OpenSSL.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { encode } from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import type { RpcBlock, RpcReceipt } from '../../../src/primitives/rpc-block.ts'
import { oracleDocuments, oracleRoot } from '../../primitives/oracle.ts'
import { type Anvil, callNodes } from './anvil.ts'
import { expectedDocuments, pick, type Values } from './expected-documents.ts'

/** A document as an answer shows it: its CID, its fields, and the documents that it leads to. */
export interface ShownDocument extends Values {
  readonly _docID: string
  readonly cid: string
}

export interface TrueBlock {
  readonly network: string
  readonly number: number
  readonly hash: string
  readonly documents: ReadonlyMap<string, ShownDocument>
  /** Merkle root over the CIDs, in hex without 0x. */
  readonly root: string
}

/** A seal as an answer shows it. */
export interface ShownSeal {
  readonly blockHash: string
  readonly merkleRoot: string
  readonly cidCount: number
  readonly signatureType: string
  readonly signatureIdentity: string
  readonly signatureValue: string
}

/** Names of what is shown of each collection. */
export const shownFields = {
  Block: `hash timestamp parentHash difficulty gasUsed gasLimit baseFeePerGas nonce miner size stateRoot sha3Uncles
    transactionsRoot receiptsRoot logsBloom extraData mixHash number uncles totalDifficulty`,
  Transaction: `hash blockHash from to value gas gasPrice gasUsed maxFeePerGas maxPriorityFeePerGas input nonce type
    chainId v r s cumulativeGasUsed effectiveGasPrice blockNumber transactionIndex status block_id`,
  Log: `address data transactionHash blockHash removed topics blockNumber transactionIndex logIndex block_id
    transaction_id`,
  AccessListEntry: 'address blockNumber storageKeys transaction_id',
} as const

/** Reads the node's blocks of these heights, whose chain must not move meanwhile. */
export async function readTrueBlocks(
  anvil: Anvil,
  network: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<TrueBlock[]> {
  const blocks: TrueBlock[] = []
  for (let height = from; height <= to; height++)
    blocks.push(await readTrueBlock(anvil, network, height))
  return blocks
}

async function readTrueBlock(anvil: Anvil, network: string, height: number): Promise<TrueBlock> {
  const at = `0x${height.toString(16)}`
  const [block, receipts] = (await callNodes(anvil.url, [
    ['eth_getBlockByNumber', [at, true]],
    ['eth_getBlockReceipts', [at]],
  ])) as [RpcBlock, readonly RpcReceipt[]]
  return toTrueBlock(network, block, receipts)
}

/** The same from answers. */
export function toTrueBlock(
  network: string,
  block: RpcBlock,
  receipts: readonly RpcReceipt[],
): TrueBlock {
  const number = Number(block.number)
  const hash = block.hash as `0x${string}`
  const parentHash = block.parentHash as `0x${string}`
  const cids = new Map(
    oracleDocuments(network, block, receipts).map(({ docID, cid }) => [docID, cid]),
  )
  const chain = expectedDocuments([{ number, hash, parentHash, block, receipts }])
  const shown = (documents: readonly Values[], names: string): ShownDocument[] =>
    documents.map((document) => {
      const _docID = String(document['_docID'])
      const fields = pick(document, names.split(/\s+/).join(' '))
      return { ...fields, _docID, cid: cids.get(_docID) ?? '' }
    })
  const documents = [
    ...shown(chain.blocks, shownFields.Block),
    ...shown(chain.transactions, shownFields.Transaction),
    ...shown(chain.logs, shownFields.Log),
    ...shown(chain.entries, shownFields.AccessListEntry),
  ]
  return {
    network,
    number,
    hash,
    documents: new Map(documents.map((document) => [document._docID, document])),
    root: rootOf([...cids.values()]),
  }
}

function rootOf(cids: readonly string[]): string {
  const leaves = cids.map((cid) => CID.parse(cid).bytes).sort(Buffer.compare)
  return oracleRoot(leaves).toString('hex')
}

/** Whether a seal is over exactly these documents, and is signed by whom it names. */
export function isTrueSeal(block: TrueBlock, seal: ShownSeal): boolean {
  const { network, number, hash, root, documents } = block
  const isOfBlock =
    seal.blockHash === hash && seal.merkleRoot === root && seal.cidCount === documents.size
  if (!isOfBlock || seal.signatureType !== 'ES256K') return false
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
  const signed = encode([
    'viewmesh/seal/1',
    network,
    number,
    bytes(hash.slice(2)),
    bytes(root),
    documents.size,
  ])
  const key = Buffer.concat([secp256k1Prefix, bytes(seal.signatureIdentity)])
  const publicKey = createPublicKey({ key, format: 'der', type: 'spki' })
  // What is signed is a digest, which ES256K (RFC 8812) hashes as any other message.
  const digest = createHash('sha256').update(signed).digest()
  return verify('sha256', digest, publicKey, bytes(seal.signatureValue))
}

/** What stands before a compressed point in a SubjectPublicKeyInfo (RFC 5480). */
const secp256k1Prefix: Buffer = Buffer.from('3036301006072a8648ce3d020106052b8104000a032200', 'hex')
