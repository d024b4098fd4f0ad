/**
 * What must be stored of a block, computed from the node's own answers, and a comparison with what
 * a program answers over GraphQL.
 */
import { deepStrictEqual } from 'node:assert/strict'
import { encodeBody } from '../../src/primitives/body.ts'
import { cidText } from '../../src/primitives/cid-text.ts'
import { blockSections } from '../../src/primitives/collections.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import type { RpcBlock, RpcReceipt } from '../../src/primitives/rpc-block.ts'
import { sealRoot } from '../../src/primitives/seal.ts'
import type { Anvil } from '../support/anvil.ts'
import type { Program } from '../support/programs.ts'

/** A block as the comparison sees it. */
export interface Content {
  readonly hash: string
  /** CID of every document by docID. */
  readonly cids: Readonly<Record<string, string>>
  /** One line a seal: block hash, root, number of CIDs. */
  readonly seals: readonly string[]
}

const network = 'Ethereum__Mainnet'

/** The content of the node's block at a height, with one seal over it. */
export async function nodeContent(anvil: Anvil, height: number): Promise<Content> {
  const block = await anvil.rpc<RpcBlock>('eth_getBlockByNumber', `0x${height.toString(16)}`, true)
  const receipts: RpcReceipt[] = []
  for (const transaction of block.transactions ?? [])
    receipts.push(await anvil.rpc<RpcReceipt>('eth_getTransactionReceipt', transaction.hash))
  const documents = toDocuments(network, block, receipts)
  const { cids } = encodeBody(documents)
  const ids = blockSections.flatMap((section) =>
    documents.documents[section].map((document) => document.docID),
  )
  const texts = Object.fromEntries(ids.map((id, at) => [id, cidText(cids[at] ?? new Uint8Array())]))
  const { root, count } = sealRoot(cids)
  return { hash: documents.hash, cids: texts, seals: [sealLine(documents.hash, root, count)] }
}

interface Answered {
  readonly _docID: string
  readonly _version: readonly { readonly cid: string }[]
}

interface AnsweredBlock extends Answered {
  readonly number: number
  readonly hash: string
  readonly transactions: readonly (Answered & {
    readonly logs: readonly Answered[]
    readonly accessList: readonly Answered[]
  })[]
}

interface AnsweredSeal {
  readonly blockNumber: number
  readonly blockHash: string
  readonly merkleRoot: string
  readonly cidCount: number
}

const query = `query ($from: Int!, $to: Int!) {
  Block(filter: {number: {_geq: $from, _leq: $to}}) {
    number hash _docID _version { cid }
    transactions {
      _docID _version { cid }
      logs { _docID _version { cid } }
      accessList { _docID _version { cid } }
    }
  }
  BlockSignature(filter: {blockNumber: {_geq: $from, _leq: $to}}) {
    blockNumber blockHash merkleRoot cidCount
  }
}`

/** What a program answers for these heights, by height. */
export async function programContent(
  program: Program,
  from: number,
  to: number,
): Promise<Map<number, Content>> {
  const { Block, BlockSignature } = await program.query<{
    Block: readonly AnsweredBlock[]
    BlockSignature: readonly AnsweredSeal[]
  }>(query, { from, to })
  return new Map(
    Block.map((block) => [
      block.number,
      {
        hash: block.hash,
        cids: cidsOf(block),
        seals: BlockSignature.filter((seal) => seal.blockNumber === block.number).map((seal) =>
          sealLine(seal.blockHash, seal.merkleRoot, seal.cidCount),
        ),
      },
    ]),
  )
}

function cidsOf(block: AnsweredBlock): Record<string, string> {
  const documents: Answered[] = [
    block,
    ...block.transactions,
    ...block.transactions.flatMap((transaction) => [
      ...transaction.logs,
      ...transaction.accessList,
    ]),
  ]
  return Object.fromEntries(
    documents.map(({ _docID, _version }) => [_docID, _version[0]?.cid ?? '']),
  )
}

function sealLine(hash: string, root: string, count: number): string {
  return `${hash} ${root} ${count}`
}

/** Throws with the difference unless the program holds exactly what the node has at these heights. */
export async function compareWithNode(
  anvil: Anvil,
  program: Program,
  from: number,
  to: number,
): Promise<void> {
  const answered = await programContent(program, from, to)
  for (let height = from; height <= to; height++)
    deepStrictEqual(answered.get(height), await nodeContent(anvil, height), `height ${height}`)
}
