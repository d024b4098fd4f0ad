/**
 * The Merkle tree of RFC 9162, section 2.1, over SHA-256: leaves and nodes are hashed with different
 * first bytes (0x00 and 0x01), and no leaf is ever counted twice.
 */
import { hash } from 'node:crypto'
import { invariant } from '../errors.ts'
import { createByteWriter, reserve, writeSimple } from './cbor.ts'

const digestBytes = 32
/** A mark and two digests: of what is copied into a node, the rest is left out. */
const nodeBytes = 1 + 2 * digestBytes
const leafMark = 0
const nodeMark = 1
/** Of a tree with as many leaves as can be counted, with one more that was not joined yet. */
const maxLevels = 54

/** The root over leaves of any length, in the given order; 32 bytes. No leaves give SHA-256 of nothing. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return hash('sha256', new Uint8Array(0), 'buffer')
  return raiseToRoot(leafLevel(leaves), leaves.length)
}

/** Makes a root while its leaves come; keeps no more than a digest for each level of the tree. */
interface RootBuilder {
  /** Adds the next leaf, which is not kept. */
  add(leaf: Uint8Array): void
  /** The root over all leaves so far, as `merkleRoot` makes it; nothing can be added afterwards. */
  finish(): Uint8Array
}

/** A builder without leaves. */
export function createRootBuilder(): RootBuilder {
  /** Roots of full trees that stand side by side, the largest first. */
  const roots = Buffer.allocUnsafe(maxLevels * digestBytes)
  const marked = createByteWriter()
  writeSimple(marked, leafMark)
  const node = new Uint8Array(nodeBytes).fill(nodeMark)
  let [leaves, count] = [0, 0]
  const joinLast = (): void => {
    count -= 1
    roots.copy(node, 1, (count - 1) * digestBytes)
    writeDigest(roots, count - 1, node)
  }
  return {
    add: (leaf) => {
      reserve(marked, leaf.length)
      marked.bytes.set(leaf, 1)
      writeDigest(roots, count, marked.bytes.subarray(0, 1 + leaf.length))
      leaves += 1
      count += 1
      for (let trees = leaves; trees % 2 === 0; trees /= 2) joinLast()
    },
    finish: () => {
      if (leaves === 0) return merkleRoot([])
      while (count > 1) joinLast()
      return Uint8Array.from(digestAt(roots, 0))
    },
  }
}

/** The digests of a tree level by level, the leaves first: 32 bytes each, one after the other. */
export type MerkleTree = readonly Uint8Array[]

/** Keeps a whole tree, about 64 bytes a leaf, for `inclusionPath` to read from. */
export function merkleTree(leaves: readonly Uint8Array[]): MerkleTree {
  const level = leafLevel(leaves)
  const tree: Uint8Array[] = []
  for (let count = leaves.length; count > 1; count = raiseLevel(level, count)) {
    tree.push(Uint8Array.from(level.subarray(0, count * digestBytes)))
  }
  return [...tree, Uint8Array.from(level.subarray(0, digestBytes))]
}

/** The siblings from the leaf at `index` up to the root, 32 bytes each (RFC 9162, 2.1.3.1). */
export function inclusionPath(tree: MerkleTree, index: number): Uint8Array[] {
  invariant(index >= 0 && index * digestBytes < (tree[0]?.length ?? 0), 'the leaf is in the tree')
  const siblings = tree.map((level, height) => {
    const at = ((index >>> height) ^ 1) * digestBytes
    return level.subarray(at, at + digestBytes)
  })
  return siblings.filter((sibling) => sibling.length > 0)
}

/** The leaves' digests, one after the other. */
function leafLevel(leaves: readonly Uint8Array[]): Buffer {
  const level = Buffer.allocUnsafe(leaves.length * digestBytes)
  let marked = new Uint8Array(0)
  for (const [index, leaf] of leaves.entries()) {
    if (marked.length !== leaf.length + 1) marked = new Uint8Array(leaf.length + 1).fill(leafMark)
    marked.set(leaf, 1)
    writeDigest(level, index, marked)
  }
  return level
}

/** The root above a level, whose place is used. */
function raiseToRoot(level: Buffer, leaves: number): Uint8Array {
  for (let count = leaves; count > 1; ) count = raiseLevel(level, count)
  return Uint8Array.from(digestAt(level, 0))
}

/** Replaces a level by the one above it, in place; an odd last node moves up unchanged. */
function raiseLevel(level: Buffer, count: number): number {
  const node = new Uint8Array(nodeBytes).fill(nodeMark)
  const pairs = count >>> 1
  for (let index = 0; index < pairs; index++) {
    level.copy(node, 1, 2 * index * digestBytes)
    writeDigest(level, index, node)
  }
  if (count % 2 === 0) return pairs
  level.copyWithin(pairs * digestBytes, (count - 1) * digestBytes, count * digestBytes)
  return pairs + 1
}

/** A digest passed as text of one byte per character costs a third of one in a new buffer. */
function writeDigest(level: Buffer, index: number, input: Uint8Array): void {
  level.write(hash('sha256', input, 'binary'), index * digestBytes, 'latin1')
}

function digestAt(level: Buffer, index: number): Buffer {
  return level.subarray(index * digestBytes, (index + 1) * digestBytes)
}
