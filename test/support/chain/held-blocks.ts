/** What a program answers of its blocks over GraphQL, and how that differs from what the node says. */
import { isDeepStrictEqual } from 'node:util'
import type { Program } from '../programs.ts'
import type { Values } from './expected-documents.ts'
import {
  isTrueSeal,
  type ShownDocument,
  type ShownSeal,
  shownFields,
  type TrueBlock,
} from './node-truth.ts'

/** A block as a program answers it. */
export interface HeldBlock {
  readonly hash: string
  readonly documents: ReadonlyMap<string, ShownDocument>
  /** Ordered by who signed. */
  readonly seals: readonly ShownSeal[]
  /** What its documents say of how many signed them. */
  readonly attestations: ReadonlySet<number>
}

type Answered = Values & {
  readonly _docID: string
  readonly _version: readonly { readonly cid: string }[]
  readonly _attestations: number
}

type Answer = Readonly<Record<keyof typeof shownFields, readonly Answered[]>> & {
  readonly BlockSignature: readonly (ShownSeal & { readonly blockNumber: number })[]
}

const range = '{_geq: $from, _leq: $to}'
const shown = (name: keyof typeof shownFields, height: string): string =>
  `${name}(filter: {${height}: ${range}}) { _docID _version { cid } _attestations ${shownFields[name]} }`

const query = `query ($from: Int!, $to: Int!) {
  ${shown('Block', 'number')}
  ${shown('Transaction', 'blockNumber')}
  ${shown('Log', 'blockNumber')}
  ${shown('AccessListEntry', 'blockNumber')}
  BlockSignature(filter: {blockNumber: ${range}}) {
    blockNumber blockHash merkleRoot cidCount signatureType signatureIdentity signatureValue
  }
}`

/** Heights of one question: the documents of all of them are fewer than an answer may have. */
const pageHeights = 16

/** What a program answers for these heights, in as many questions as it takes. */
export async function readHeldBlocks(
  program: Pick<Program, 'query'>,
  from: number,
  to: number,
): Promise<Map<number, HeldBlock>> {
  const held = new Map<number, HeldBlock>()
  for (let first = from; first <= to; first += pageHeights) {
    const last = Math.min(to, first + pageHeights - 1)
    const answer = await program.query<Answer>(query, { from: first, to: last })
    for (const [height, block] of heldBlocks(answer)) held.set(height, block)
  }
  return held
}

/** Documents that belong to no answered block are put with it by their height, and are found to be too many there. */
function heldBlocks(answer: Answer): Map<number, HeldBlock> {
  const { Block, Transaction, Log, AccessListEntry, BlockSignature } = answer
  const byHeight = Map.groupBy([...Block, ...Transaction, ...Log, ...AccessListEntry], (document) =>
    Number(document['blockNumber'] ?? document['number']),
  )
  const seals = Map.groupBy(BlockSignature, ({ blockNumber }) => blockNumber)
  const held = [...byHeight].map(([height, documents]): [number, HeldBlock] => [
    height,
    {
      hash: String(documents.find(({ _docID }) => _docID.startsWith('block-'))?.['hash']),
      documents: documentsOf(documents),
      seals: (seals.get(height) ?? [])
        .map(({ blockNumber: _, ...seal }) => seal)
        .sort((a, b) => (a.signatureIdentity < b.signatureIdentity ? -1 : 1)),
      attestations: new Set(documents.map(({ _attestations }) => _attestations)),
    },
  ])
  return new Map(held)
}

/** One that is answered twice has its second under a name that nothing has. */
function documentsOf(answered: readonly Answered[]): Map<string, ShownDocument> {
  const documents = new Map<string, ShownDocument>()
  for (const { _version, _attestations, ...fields } of answered) {
    const document = { ...fields, cid: _version[0]?.cid ?? '' } as ShownDocument
    const isTwice = documents.has(document._docID)
    documents.set(`${document._docID}${isTwice ? ' once more' : ''}`, document)
  }
  return documents
}

/** Every difference between what a program keeps and these blocks: no others may be there, and each as the node has it. */
export async function storeDifferences(
  program: Pick<Program, 'query'>,
  truth: readonly TrueBlock[],
  signers: readonly string[],
): Promise<string[]> {
  const from = truth[0]?.number ?? 0
  const to = truth.at(-1)?.number ?? 0
  const held = await readHeldBlocks(program, from, to)
  const { others } = await program.query<{ others: number }>(
    `query ($from: Int!, $to: Int!) {
      others: COUNT(Block: {filter: {_or: [{number: {_lt: $from}}, {number: {_gt: $to}}]}})
    }`,
    { from, to },
  )
  const found = truth.flatMap((block) => differencesOf(held.get(block.number), block, signers))
  return others === 0 ? found : [...found, `${others} blocks below ${from} or above ${to}`]
}

/**
 * Every difference between a block as a program has it and the node's: documents that are missing, too many or
 * different, and seals that are not those of these signers.
 */
export function differencesOf(
  held: HeldBlock | undefined,
  block: TrueBlock,
  signers: readonly string[],
): string[] {
  const at = `block ${block.number}`
  if (held === undefined) return [`${at} is missing`]
  if (held.hash !== block.hash) return [`${at} is ${held.hash}, the node has ${block.hash}`]
  const missing = [...block.documents.keys()].filter((id) => !held.documents.has(id))
  const found = [...held.documents].flatMap(([id, document]) => {
    const due = block.documents.get(id)
    if (due === undefined) return [`${at} has a document too many: ${id}`]
    return isDeepStrictEqual(document, due) ? [] : [`${at}: ${documentDifference(document, due)}`]
  })
  return [
    ...missing.map((id) => `${at} lacks ${id}`),
    ...found,
    ...sealDifferences(held, block, signers).map((what) => `${at}: ${what}`),
  ]
}

function documentDifference(document: ShownDocument, due: ShownDocument): string {
  const names = [...new Set([...Object.keys(document), ...Object.keys(due)])]
  const differing = names.filter((name) => !isDeepStrictEqual(document[name], due[name]))
  const values = differing.map(
    (name) => `${name} is ${shortText(document[name])}, the node says ${shortText(due[name])}`,
  )
  return `${due._docID}: ${values.join('; ')}`
}

function shortText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`
}

function sealDifferences(
  { seals, attestations }: HeldBlock,
  block: TrueBlock,
  signers: readonly string[],
): string[] {
  const identities = seals.map(({ signatureIdentity }) => signatureIdentity)
  const isAttested = attestations.size === 1 && attestations.has(signers.length)
  return [
    ...(isDeepStrictEqual(identities, signers.toSorted())
      ? []
      : [`sealed by ${identities.join(', ') || 'nobody'}, due are ${signers.join(', ')}`]),
    ...(isAttested ? [] : [`_attestations are ${[...attestations].join(' and ')}`]),
    ...seals
      .filter((seal) => !isTrueSeal(block, seal))
      .map(({ signatureIdentity }) => `the seal of ${signatureIdentity} is not over its documents`),
  ]
}
