/**
 * A statement about rows with some of its leaves only, each with its way up to the root that is signed: what an
 * application that follows a few Views keeps of it.
 *
 * On the wire: canonical DAG-CBOR of `[2, network, runtime version, number, hash, root, [proof, ...], signature type,
 * identity, signature]`, a proof being `[leaf, index, leaves, [sibling, ...]]`, with hex as bytes. How many leaves there
 * are is not signed, so who passes an excerpt on can name another number that gives the same path; it says nothing.
 */
import { invariant } from '../errors.ts'
import {
  type ByteReader,
  type ByteWriter,
  createByteWriter,
  major,
  readBytes,
  writeBytes,
  writeHead,
} from '../primitives/cbor.ts'
import { readSignature, writeSignature } from '../primitives/signature.ts'
import {
  expectHead,
  malformedMessage,
  present,
  readInteger,
  readList,
  readMessage,
  readRoot,
  writeHexBytes,
  writeList,
} from '../primitives/wire.ts'
import { type RowStatement, readBlock, writeBlock } from './row-statement.ts'
import {
  checkOrder,
  type LeafProof,
  maxLeafBytes,
  maxLeaves,
  proveLeaves,
  readLeaf,
  verifyLeaf,
  writeLeaf,
} from './view-leaf.ts'

/** A statement with some of its leaves, in their order. */
export interface StatementExcerpt extends Omit<RowStatement, 'proofs'> {
  /** One for each of the leaves. */
  readonly proofs: readonly LeafProof[]
}

const version = 2
const items = 10
const digestBytes = 32
/** Leaves of an excerpt at most: as many Views as an application may follow at one Host. */
export const maxExcerptLeaves = 64
/** Siblings of a leaf among `maxLeaves`. */
const maxPath = Math.ceil(Math.log2(maxLeaves))
/** A leaf, two numbers of three bytes, two heads of lists, and siblings with their heads. */
const maxProofBytes = maxLeafBytes + 2 * 3 + 2 + maxPath * (2 + digestBytes)
/** Longest message: the network takes 522 bytes at most, root, key and signature less than 170. */
export const maxExcerptBytes: number = 1_024 + maxExcerptLeaves * maxProofBytes

/** What a statement says of these Views, at most 64 of them; null where it says nothing of any. */
export function excerptOf(
  { leaves, ...statement }: RowStatement,
  views: ReadonlySet<string>,
): StatementExcerpt | null {
  const proofs = proveLeaves(leaves, ({ view }) => views.has(view))
  invariant(proofs.length <= maxExcerptLeaves, 'an excerpt is of 64 Views at most')
  return proofs.length === 0 ? null : withProofs(statement, proofs)
}

/**
 * The leaves of two excerpts of one statement: of the same block, runtime, root and signer. Of more than 64 leaves
 * those of the first go.
 */
export function mergeExcerpts(first: StatementExcerpt, second: StatementExcerpt): StatementExcerpt {
  const views = new Set(second.leaves.map(({ view }) => view))
  const others = first.proofs.filter(({ leaf }) => !views.has(leaf.view))
  const kept = [...second.proofs, ...others].slice(0, maxExcerptLeaves)
  return withProofs(
    second,
    kept.sort((a, b) => (a.leaf.view < b.leaf.view ? -1 : 1)),
  )
}

function withProofs(
  statement: Omit<RowStatement, 'leaves' | 'proofs'>,
  proofs: readonly LeafProof[],
): StatementExcerpt {
  return { ...statement, leaves: proofs.map(({ leaf }) => leaf), proofs }
}

/** The message of an excerpt. */
export function encodeStatementExcerpt(excerpt: StatementExcerpt): Uint8Array {
  const out = createByteWriter(256 + excerpt.proofs.length * maxProofBytes)
  writeHead(out, major.array, items)
  writeBlock(out, version, excerpt)
  writeHexBytes(out, excerpt.root)
  writeList(out, excerpt.proofs, writeProof)
  writeSignature(out, excerpt)
  return out.bytes.subarray(0, out.at)
}

function writeProof(out: ByteWriter, { leaf, index, leaves, path }: LeafProof): void {
  writeHead(out, major.array, 4)
  writeLeaf(out, leaf)
  writeHead(out, major.int, index)
  writeHead(out, major.int, leaves)
  writeList(out, path, writeBytes)
}

/**
 * Decodes an excerpt, each of whose leaves leads to its root; its signature is not verified.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`, also for no leaf, more than 64, or leaves out of order.
 */
export function decodeStatementExcerpt(bytes: Uint8Array): StatementExcerpt {
  return readMessage(bytes, maxExcerptBytes, (reader) => {
    expectHead(reader, major.array, items)
    const block = { ...readBlock(reader, version), root: readRoot(reader) }
    const proofs = readList(reader, 'a list of proofs', maxExcerptLeaves, readProof)
    const excerpt = withProofs({ ...block, ...readSignature(reader) }, proofs)
    checkOrder(excerpt.leaves)
    if (!proofs.every((proof) => verifyLeaf(proof, block.root)))
      throw malformedMessage('a leaf does not lead to its root')
    return excerpt
  })
}

function readProof(reader: ByteReader): LeafProof {
  expectHead(reader, major.array, 4)
  return {
    leaf: readLeaf(reader),
    index: readInteger(reader, 'the place of a leaf', maxLeaves - 1),
    leaves: readInteger(reader, 'a number of leaves', maxLeaves),
    path: readList(reader, 'a path', maxPath, readSibling),
  }
}

function readSibling(reader: ByteReader): Uint8Array {
  return Uint8Array.from(present(readBytes(reader), 'a sibling'))
}
