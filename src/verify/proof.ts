/** A `_proof` as a Host returns it, parsed with bounds on everything in it. */
import { hexToBytes } from '@noble/hashes/utils.js'
import { isObject } from '../json-object.ts'
import { isInt } from '../primitives/bounds.ts'
import { parseCid } from '../primitives/cid-text.ts'
import type { AnsweredDocument } from './answered-document.ts'
import { type Failure, failure, isFailure } from './failure.ts'

/** What a query has to ask for. */
export const proofSelection =
  '_proof { network cid index count path root block { number hash } seals { type identity value } }'

/** More levels than the tree of the largest count has. */
const maxPath = 31
/** As many as a Host keeps for a height. */
const maxSeals = 256
const maxTextLength = 200

/** A proof in its form; nothing of it is checked yet. */
export interface Proof {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Null where the document is a seal. */
  readonly leaf: Leaf | null
  readonly count: number
  /** Hex without 0x, 32 bytes. */
  readonly root: string
  readonly block: ProvenBlock
  readonly seals: readonly SealSignature[]
}

/** The place of a document in the tree. */
export interface Leaf {
  readonly text: string
  readonly cid: Uint8Array
  readonly index: number
  /** 32 bytes each, from the leaf's sibling up. */
  readonly path: readonly Uint8Array[]
}

/** The block that a proof is about. */
export interface ProvenBlock {
  readonly number: number
  /** 0x-prefixed lower-case hex. */
  readonly hash: string
}

/** A signature as a proof carries it. */
export interface SealSignature {
  readonly type: string
  readonly identity: string
  readonly value: string
}

/** Parses a `_proof`, or says what is missing or malformed in it. */
export function readProof(value: unknown): Proof | Failure {
  if (!isObject(value)) return failure('proof-missing')
  const { block, seals } = value
  const missing = missingFields(value)
  if (missing.length > 0)
    return failure(
      'proof-incomplete',
      `The proof lacks ${missing.join(', ')}. Ask for ${proofSelection}.`,
    )
  const { network, count, root } = value
  if (typeof network !== 'string' || !/^\w{1,130}$/.test(network)) return malformed('network')
  if (!isHeight(count) || count === 0) return malformed('count')
  if (!isHash(root)) return malformed('root')
  if (!isObject(block) || !isHeight(block['number'])) return malformed('block.number')
  const hash = block['hash']
  if (typeof hash !== 'string' || !hash.startsWith('0x') || !isHash(hash.slice(2)))
    return malformed('block.hash')
  if (!isListOf(seals, maxSeals, isSeal)) return malformed('seals')
  const leaf = readLeaf(value)
  if (leaf !== null && isFailure(leaf)) return leaf
  return { network, leaf, count, root, block: { number: block['number'], hash }, seals }
}

function missingFields(proof: AnsweredDocument): string[] {
  const { block, seals } = proof
  const [seal] = Array.isArray(seals) ? seals : []
  return [
    ...absent(proof, ['network', 'cid', 'index', 'count', 'path', 'root', 'block', 'seals']),
    ...absent(block, ['number', 'hash']).map((name) => `block.${name}`),
    ...absent(seal, ['type', 'identity', 'value']).map((name) => `seals.${name}`),
  ]
}

function absent(object: unknown, names: readonly string[]): string[] {
  return isObject(object) ? names.filter((name) => object[name] === undefined) : []
}

function readLeaf({ cid, index, path }: AnsweredDocument): Leaf | Failure | null {
  if (cid === null && index === null) return null
  const bytes = typeof cid === 'string' ? parseCid(cid) : null
  if (typeof cid !== 'string' || bytes === null) return malformed('cid')
  if (!isHeight(index)) return malformed('index')
  if (!isListOf(path, maxPath, isHash)) return malformed('path')
  return { text: cid, cid: bytes, index, path: path.map((hash) => hexToBytes(hash)) }
}

function malformed(field: string): Failure {
  return failure(
    'proof-malformed',
    `The field ${field} of the proof has a wrong form or is too long.`,
  )
}

/** A list may have holes where it did not come as JSON. */
function isListOf<T>(
  value: unknown,
  most: number,
  isItem: (item: unknown) => item is T,
): value is readonly T[] {
  return Array.isArray(value) && value.length <= most && [...value].every(isItem)
}

function isSeal(value: unknown): value is SealSignature {
  if (!isObject(value)) return false
  return [value['type'], value['identity'], value['value']].every(
    (text) => typeof text === 'string' && text.length <= maxTextLength,
  )
}

function isHeight(value: unknown): value is number {
  return typeof value === 'number' && isInt(value)
}

/** 32 bytes in lower-case hex without 0x. */
function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}
