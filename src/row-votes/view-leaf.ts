/**
 * What a Host says of one View of a block: the root over its rows and their number. The leaves of a block are those of
 * the tree whose root a Host signs; sorted by their bytes, which is by View.
 */
import {
  type ByteReader,
  type ByteWriter,
  createByteWriter,
  major,
  writeHead,
} from '../primitives/cbor.ts'
import { inclusionPath, merkleRoot, merkleTree } from '../primitives/merkle.ts'
import {
  malformedMessage,
  readHash,
  readInteger,
  readLength,
  readList,
  readRoot,
  writeHash,
  writeHexBytes,
} from '../primitives/wire.ts'
import { verifyInclusion } from '../verify/inclusion.ts'

/** Of a View that is done with a block, also where it has no row there. */
export interface ViewLeaf {
  /** The long ID of the View: 0x and 64 lower-case digits. */
  readonly view: string
  /** Merkle root over its rows in their order: lower-case hex without 0x. */
  readonly rowsRoot: string
  /** Number of rows. */
  readonly count: number
}

/** A leaf with its way up to the root of its block. */
export interface LeafProof {
  readonly leaf: ViewLeaf
  /** Place of the leaf among those of the block, from 0. */
  readonly index: number
  /** Number of leaves of the block. */
  readonly leaves: number
  /** Siblings from the leaf up, 32 bytes each. */
  readonly path: readonly Uint8Array[]
}

/** Views that a statement may speak of: a Host serves at most 1,000. */
export const maxLeaves = 1_000
/** What a leaf takes at most: two hashes with their heads, a count and the head of the list. */
export const maxLeafBytes: number = 1 + 2 * 34 + 5
/** A count of rows has four bytes in the store. */
const maxRows = 2 ** 32 - 1

/** Writes `[View ID, rows root, count]`. */
export function writeLeaf(out: ByteWriter, { view, rowsRoot, count }: ViewLeaf): void {
  writeHead(out, major.array, 3)
  writeHash(out, view)
  writeHexBytes(out, rowsRoot)
  writeHead(out, major.int, count)
}

/** Reads what `writeLeaf` wrote. Throws PRIMITIVES_MESSAGE_MALFORMED. */
export function readLeaf(reader: ByteReader): ViewLeaf {
  readLength(reader, 'a leaf', 3, 3)
  return {
    view: readHash(reader, 'a View'),
    rowsRoot: readRoot(reader),
    count: readInteger(reader, 'a number of rows', maxRows),
  }
}

/**
 * Reads the leaves of a block: at least one, at most `maxLeaves`, in order and no View twice.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`.
 */
export function readLeaves(reader: ByteReader): ViewLeaf[] {
  const leaves = readList(reader, 'a list of leaves', maxLeaves, readLeaf)
  checkOrder(leaves)
  return leaves
}

/** Throws PRIMITIVES_MESSAGE_MALFORMED for no leaf, leaves out of order, and a View that comes twice. */
export function checkOrder(leaves: readonly ViewLeaf[]): void {
  if (leaves.length === 0) throw malformedMessage('it has no leaf')
  const isSorted = leaves.every(({ view }, index) => view > (leaves[index - 1]?.view ?? ''))
  if (!isSorted) throw malformedMessage('its leaves are out of order')
}

/** In the order of the tree. */
export function sortLeaves(leaves: readonly ViewLeaf[]): ViewLeaf[] {
  return leaves.toSorted((a, b) => (a.view < b.view ? -1 : 1))
}

/** Root over the leaves of a block, which are in order: lower-case hex without 0x. */
export function blockRoot(leaves: readonly ViewLeaf[]): string {
  return Buffer.from(merkleRoot(leaves.map(leafBytes))).toString('hex')
}

/** Proves those leaves of a block that are wanted, in their order. */
export function proveLeaves(
  leaves: readonly ViewLeaf[],
  isWanted: (leaf: ViewLeaf) => boolean,
): LeafProof[] {
  if (!leaves.some(isWanted)) return []
  const tree = merkleTree(leaves.map(leafBytes))
  const prove = (leaf: ViewLeaf, index: number): LeafProof => {
    return { leaf, index, leaves: leaves.length, path: inclusionPath(tree, index) }
  }
  return leaves.flatMap((leaf, index) => (isWanted(leaf) ? [prove(leaf, index)] : []))
}

/** Whether a leaf is among those that a root was made of. */
export function verifyLeaf({ leaf, index, leaves, path }: LeafProof, root: string): boolean {
  return verifyInclusion(leafBytes(leaf), index, leaves, path, Buffer.from(root, 'hex'))
}

function leafBytes(leaf: ViewLeaf): Uint8Array {
  const out = createByteWriter()
  writeLeaf(out, leaf)
  return out.bytes.subarray(0, out.at)
}
