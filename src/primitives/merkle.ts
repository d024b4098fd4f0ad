/**
 * The Merkle tree of RFC 9162, section 2.1, over SHA-256: leaves and nodes are hashed with different
 * first bytes (0x00 and 0x01), and no leaf is ever counted twice.
 */
import { hash } from 'node:crypto'
import { invariant } from '../errors.ts'

const digestBytes = 32
const emptyRoot = hash('sha256', new Uint8Array(0), 'buffer')

/** The root over leaves of any length, in the given order; 32 bytes. No leaves give SHA-256 of nothing. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return Uint8Array.from(emptyRoot)
  const level = leafLevel(leaves)
  let count = leaves.length
  while (count > 1) count = nextLevel(level, count)
  return Uint8Array.from(level.subarray(0, digestBytes))
}

/** The siblings from the leaf at `index` up to the root, 32 bytes each (RFC 9162, 2.1.3.1). */
export function inclusionProof(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  invariant(index >= 0 && index < leaves.length, 'the leaf to prove is in the tree')
  const level = leafLevel(leaves)
  const proof: Uint8Array[] = []
  let position = index
  for (let count = leaves.length; count > 1; position >>>= 1) {
    const sibling = position ^ 1
    if (sibling < count) proof.push(Uint8Array.from(nodeAt(level, sibling)))
    count = nextLevel(level, count)
  }
  return proof
}

/** Whether `proof` shows that `leaf` is at `index` of the `count` leaves under `root` (RFC 9162, 2.1.3.2). */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  count: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(index)) return false
  if (index < 0 || index >= count) return false
  let digest = leafHash(leaf)
  let position = index
  let last = count - 1
  let used = 0
  for (; last > 0; last = Math.floor(last / 2), position = Math.floor(position / 2)) {
    const isRight = position % 2 === 1
    if (!isRight && position === last) continue
    const sibling = proof[used++]
    if (sibling?.length !== digestBytes) return false
    digest = isRight ? nodeHash(sibling, digest) : nodeHash(digest, sibling)
  }
  return used === proof.length && digest.equals(root)
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  const node = Buffer.alloc(1 + 2 * digestBytes, 1)
  node.set(left, 1)
  node.set(right, 1 + digestBytes)
  return hash('sha256', node, 'buffer')
}

function leafHash(leaf: Uint8Array): Buffer {
  const prefixed = Buffer.alloc(1 + leaf.length)
  prefixed.set(leaf, 1)
  return hash('sha256', prefixed, 'buffer')
}

function leafLevel(leaves: readonly Uint8Array[]): Buffer {
  const level = Buffer.allocUnsafe(leaves.length * digestBytes)
  for (const [index, leaf] of leaves.entries()) level.set(leafHash(leaf), index * digestBytes)
  return level
}

function nodeAt(level: Buffer, index: number): Buffer {
  return level.subarray(index * digestBytes, (index + 1) * digestBytes)
}

/** Replaces a level by the one above it, in place; an odd last node moves up unchanged. */
function nextLevel(level: Buffer, count: number): number {
  const node = Buffer.allocUnsafe(1 + 2 * digestBytes)
  node[0] = 1
  const above = Math.ceil(count / 2)
  for (let index = 0; index < above; index++) {
    const isPair = 2 * index + 1 < count
    if (isPair) {
      level.copy(node, 1, 2 * index * digestBytes, (2 * index + 2) * digestBytes)
      level.set(hash('sha256', node, 'buffer'), index * digestBytes)
    } else {
      level.copyWithin(index * digestBytes, 2 * index * digestBytes, count * digestBytes)
    }
  }
  return above
}
