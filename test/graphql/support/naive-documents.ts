/**
 * Documents of generated blocks as plain objects with everything a query can ask of them: what an
 * executor that knows no index, no chunk and no plan would work on.
 */
import { cidText } from '../../../src/primitives/cid-text.ts'
import { collections, type Section, storedFields } from '../../../src/primitives/collections.ts'
import type { ChainBlock } from '../../support/chain/block-factory.ts'
import { sealBlock, testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'

/** A document: its fields by name, its place, and its neighbours. */
export interface NaiveDocument {
  readonly type: string
  /** Chain position. */
  readonly place: readonly [height: number, position: number]
  readonly fields: Readonly<Record<string, unknown>>
  readonly links: Record<string, NaiveDocument | NaiveDocument[]>
}

/** All documents by collection, in chain order. */
export type NaiveData = Readonly<Record<string, NaiveDocument[]>>

/** Takes generated blocks apart. */
export function naiveData(
  chain: readonly ChainBlock[],
  signers: (block: ChainBlock) => readonly string[],
): NaiveData {
  const data: NaiveData = {
    Block: [],
    Transaction: [],
    Log: [],
    AccessListEntry: [],
    BlockSignature: [],
  }
  for (const block of chain) addBlock(data, block, signers(block))
  return data
}

function addBlock(data: NaiveData, source: ChainBlock, signers: readonly string[]): void {
  const sealed = signers.map((signer) => sealBlock(source, testSigner(signer)))
  const [first = sealBlock(source, testSigner('nobody'))] = sealed
  const { documents } = first.documents
  const cids = first.cids.map(cidText)
  const shared = { _attestations: new Set(signers).size }
  const made = (section: Section): NaiveDocument[] =>
    documents[section].map((document, position) => ({
      type: `${testNetwork}__${section}`,
      place: [source.number, position],
      links: {},
      fields: {
        _docID: document.docID,
        ...Object.fromEntries(
          storedFields(section).map((field, index) => [field.name, document.values[index]]),
        ),
        ...shared,
      },
    }))
  const [blocks, transactions, entries, logs] = [
    made('Block'),
    made('Transaction'),
    made('AccessListEntry'),
    made('Log'),
  ]
  const [block] = blocks
  if (block === undefined) throw new Error('a block has a document')
  Object.assign(block.fields, { totalDifficulty: first.documents.totalDifficulty })
  block.links['transactions'] = transactions
  linkChildren(transactions, logs, first.documents.logsPerTransaction, 'logs')
  linkChildren(transactions, entries, first.documents.entriesPerTransaction, 'accessList')
  for (const document of [...transactions, ...logs]) linkOne(document, 'block', block)
  const seals = sealed
    .sort((a, b) => (a.seal.signatureIdentity < b.seal.signatureIdentity ? -1 : 1))
    .map(({ seal }, position): NaiveDocument => {
      const { network: _, ...values } = seal
      return {
        type: `${testNetwork}__BlockSignature`,
        place: [source.number, position],
        links: {},
        fields: {
          _docID: `seal-${seal.blockHash}-${seal.signatureIdentity}`,
          ...values,
          cids: [...first.cids].sort(Buffer.compare).map(cidText),
          ...shared,
        },
      }
    })
  data['Block']?.push(block)
  data['Transaction']?.push(...transactions)
  data['Log']?.push(...logs)
  data['AccessListEntry']?.push(...entries)
  data['BlockSignature']?.push(...seals)
  if (cids.length === 0) throw new Error('a block has CIDs')
}

function linkChildren(
  owners: readonly NaiveDocument[],
  children: readonly NaiveDocument[],
  counts: readonly number[],
  field: string,
): void {
  let at = 0
  for (const [index, owner] of owners.entries()) {
    const own = children.slice(at, at + (counts[index] ?? 0))
    at += own.length
    owner.links[field] = own
    for (const child of own) linkOne(child, 'transaction', owner)
  }
}

function linkOne(document: NaiveDocument, field: string, target: NaiveDocument): void {
  document.links[field] = target
  Object.assign(document.fields, { [`${field}_id`]: target.fields['_docID'] })
}

/** The kind of a field, for comparing it. */
export function naiveKind(type: string, field: string): string {
  const short = type.replace(`${testNetwork}__`, '') as keyof typeof collections
  if (field === '_attestations') return 'int'
  return collections[short].fields.find((one) => one.name === field)?.kind ?? 'id'
}
