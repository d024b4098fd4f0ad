/** Whether a leaf is in a Merkle tree of RFC 9162 over SHA-256; `src/primitives/merkle.ts` makes such trees. */
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '@noble/hashes/utils.js'

const digestBytes = 32
const leafMark = Uint8Array.of(0)
const nodeMark = Uint8Array.of(1)

/**
 * Whether `path` leads from `leaf`, at `index` of `count` leaves, to `root` (RFC 9162, 2.1.3.2).
 * Numbers that are none and digests of another length are false.
 */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  count: number,
  path: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(index)) return false
  if (index < 0 || index >= count) return false
  let digest: Uint8Array = sha256(concatBytes(leafMark, leaf))
  let position = index
  let last = count - 1
  let used = 0
  for (; last > 0; last = Math.floor(last / 2), position = Math.floor(position / 2)) {
    const isRight = position % 2 === 1
    if (!isRight && position === last) continue
    const sibling = path[used++]
    if (sibling?.length !== digestBytes) return false
    digest = isRight ? nodeHash(sibling, digest) : nodeHash(digest, sibling)
  }
  return used === path.length && isEqual(digest, root)
}

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(nodeMark, left, right))
}

/** Whether two byte strings are the same. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
