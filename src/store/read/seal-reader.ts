/** The seals of one snapshot. */
import { isDeepStrictEqual } from 'node:util'
import {
  clipHeights,
  eachHeight,
  type HeightRanges,
  rangeOfHeights,
} from '../../primitives/height-ranges.ts'
import type { Seal } from '../../primitives/seal.ts'
import {
  type Database,
  type Environment,
  type ReadTransaction,
  readValue,
} from '../disk/environment.ts'
import {
  decodeSeal,
  hashBytes,
  hashOfHeader,
  heightKey,
  type StoreState,
  splitSealEntryKey,
} from '../disk/layout.ts'
import type { SealedPlace, Snapshot } from '../store.ts'

/** What seals are read by. */
interface SealView {
  readonly state: StoreState
  readonly visible: HeightRanges
  readonly sealed: SealedUpTo
  /** Identities whose seals are shown; null shows all. */
  readonly shownSigners: ReadonlySet<string> | null
}

export interface SealReads
  extends Pick<Snapshot, 'seals' | 'sealsOf' | 'sealPlaces' | 'firstUnsealed'> {
  sealKeys(start: Uint8Array, end: Uint8Array): Iterable<Buffer>
}

/**
 * Up to where an identity has sealed every block, as it was last seen: the next call continues from
 * there, as long as the same blocks lie below.
 */
export interface SealedUpTo {
  identity: string
  epoch: number
  blocks: HeightRanges
}

/** Nothing seen yet. */
export function createSealedUpTo(): SealedUpTo {
  return { identity: '', epoch: 0, blocks: [] }
}

/** Reads through the transaction that `reading` returns, or throws. */
export function createSealReads(
  databases: Environment['databases'],
  { state, visible, sealed, shownSigners }: SealView,
  reading: () => ReadTransaction,
): SealReads {
  const { headers, seals, hashes } = databases
  const readSeals = (prefix: Buffer): Seal[] =>
    [...withPrefix(seals, prefix, reading())]
      .map(({ key, value }) => decodeSeal(key, value))
      .filter(({ signatureIdentity }) => shownSigners?.has(signatureIdentity) ?? true)

  return {
    sealKeys: (start, end) => seals.getKeys({ start, end, transaction: reading() }),
    seals: (height) => readSeals(heightKey(height)),
    sealPlaces: (from, to) => sealPlaces(from, to),
    sealsOf: (hash) => {
      const height = readValue(hashes, hashBytes(hash), reading())
      return height === undefined ? [] : readSeals(Buffer.concat([height, hashBytes(hash)]))
    },
    firstUnsealed: (identity) => {
      const start = knownToBeSealed(sealed, identity, state.epoch, visible)
      const rest = clipHeights(visible, start, Number.MAX_SAFE_INTEGER)
      const found = firstWithout(rest, identity)
      const end = (found ?? Number.POSITIVE_INFINITY) - 1
      Object.assign(sealed, { identity, epoch: state.epoch, blocks: clipHeights(visible, 0, end) })
      return found
    },
  }

  function* sealPlaces(from: number, to: number): Generator<SealedPlace> {
    const [start, end] = [heightKey(from), heightKey(to + 1)]
    for (const key of seals.getKeys({ start, end, transaction: reading() })) {
      const { height, hash, root, identity } = splitSealEntryKey(key)
      const place = {
        height,
        blockHash: `0x${hash.toString('hex')}`,
        merkleRoot: root.toString('hex'),
        identity: identity.toString('hex'),
      }
      if (shownSigners?.has(place.identity) ?? true) yield place
    }
  }

  /** The lowest of the heights without a seal of the identity over its block. */
  function firstWithout(heights: HeightRanges, identity: string): number | undefined {
    const range = rangeOfHeights(heights)
    if (range === null) return undefined
    const [start, end] = [heightKey(range.tail), heightKey(range.head + 1)]
    const keys = seals.getKeys({ start, end, transaction: reading() })[Symbol.iterator]()
    try {
      const isSealed = sealedHashes(keys, Buffer.from(identity, 'hex'))
      for (const height of eachHeight(heights)) {
        const header = readValue(headers, heightKey(height), reading())
        if (header === undefined || !isSealed(height, hashOfHeader(header))) return height
      }
      return undefined
    } finally {
      // Closes the cursor, which would keep the transaction open.
      keys.return?.()
    }
  }
}

/** The height above those that are known to be sealed; 0 where nothing is known. */
function knownToBeSealed(
  sealed: SealedUpTo,
  identity: string,
  epoch: number,
  visible: HeightRanges,
): number {
  const head = rangeOfHeights(sealed.blocks)?.head
  const tail = rangeOfHeights(visible)?.tail
  if (head === undefined || tail === undefined) return 0
  if (sealed.identity !== identity || sealed.epoch !== epoch) return 0
  const before = clipHeights(sealed.blocks, tail, head)
  return isDeepStrictEqual(before, clipHeights(visible, tail, head)) ? head + 1 : 0
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
export function endOfPrefix(prefix: Buffer): Buffer {
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
      const key = splitSealEntryKey(next.value)
      if (key.height > height) break
      found ||= key.identity.equals(identity) && key.hash.equals(hash)
    }
    return found
  }
}
