/** The seals of one snapshot. */
import type { Seal } from '../primitives/seal.ts'
import { type Database, type Environment, type ReadTransaction, readValue } from './environment.ts'
import { eachHeight, type HeightRanges, rangeOfHeights } from './height-ranges.ts'
import { decodeSeal, hashBytes, hashOfHeader, heightKey, splitSealKey } from './layout.ts'
import type { Snapshot } from './store.ts'

export interface SealReads extends Pick<Snapshot, 'seals' | 'sealsOf' | 'firstUnsealed'> {
  sealKeys(start: Uint8Array, end: Uint8Array): Iterable<Buffer>
}

/** Reads through the transaction that `reading` answers, or throws. */
export function createSealReads(
  databases: Environment['databases'],
  visible: HeightRanges,
  reading: () => ReadTransaction,
): SealReads {
  const { headers, seals, hashes } = databases
  const readSeals = (prefix: Buffer): Seal[] =>
    [...withPrefix(seals, prefix, reading())].map(({ key, value }) => decodeSeal(key, value))

  return {
    sealKeys: (start, end) => seals.getKeys({ start, end, transaction: reading() }),
    seals: (height) => readSeals(heightKey(height)),
    sealsOf: (hash) => {
      const height = readValue(hashes, hashBytes(hash), reading())
      return height === undefined ? [] : readSeals(Buffer.concat([height, hashBytes(hash)]))
    },
    firstUnsealed: (identity) => {
      const range = rangeOfHeights(visible)
      if (range === null) return undefined
      const [start, end] = [heightKey(range.tail), heightKey(range.head + 1)]
      const keys = seals.getKeys({ start, end, transaction: reading() })[Symbol.iterator]()
      try {
        const isSealed = sealedHashes(keys, Buffer.from(identity, 'hex'))
        for (const height of eachHeight(visible)) {
          const header = readValue(headers, heightKey(height), reading())
          if (header === undefined || !isSealed(height, hashOfHeader(header))) return height
        }
        return undefined
      } finally {
        // Closes the cursor, which would keep the transaction open.
        keys.return?.()
      }
    },
  }
}

/** All entries whose key begins with `prefix`. */
function withPrefix(
  database: Database,
  prefix: Buffer,
  transaction: ReadTransaction,
): Iterable<{ key: Buffer; value: Buffer }> {
  return database.getRange({ start: prefix, end: endOfPrefix(prefix), transaction })
}

/** The lowest key above all keys that begin with `prefix`. */
function endOfPrefix(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.alloc(128, 0xff)])
}

/** Whether an identity sealed a hash, asked for ascending heights; one pass over the keys. */
function sealedHashes(
  keys: Iterator<Buffer>,
  identity: Buffer,
): (height: number, hash: Buffer) => boolean {
  let next = keys.next()
  return (height, hash) => {
    let found = false
    for (; next.done !== true; next = keys.next()) {
      const key = splitSealKey(next.value)
      if (key.height > height) break
      found ||= key.identity.equals(identity) && key.hash.equals(hash)
    }
    return found
  }
}
