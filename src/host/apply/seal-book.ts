/**
 * The seals of accepted signers, kept whether or not their block is stored, and the votes they make. Which
 * seals are kept of a signer does not depend on the order in which they come, so that Hosts that have seen
 * the same ones count the same votes: one root for a block hash, the smaller one; of more than eight hashes
 * at a height the smallest, and always that of the stored block.
 */
import { LRUCache } from 'lru-cache'
import type { Seal } from '../../primitives/seal.ts'
import type { StoreWriter } from '../../store/store.ts'

export interface SealBook {
  /** Seals of accepted signers at a height. */
  at(height: number): readonly Seal[]
  /** How many accepted signers sealed each root of a block. */
  votes(height: number, hash: string): ReadonlyMap<string, number>
  /** Whether an accepted signer sealed a block, with whatever documents. */
  isSealedBy(height: number, hash: string, identity: string): boolean
  /** Takes verified seals of one height in; returns those that were new and are kept. */
  admit(height: number, seals: readonly Seal[]): readonly Seal[]
  /** Seals of a height to be written together with its block; none where others have to go for them. */
  takePending(height: number): readonly Seal[]
  /** Writes what was admitted and not taken. */
  flush(): Promise<void>
  /** Says whose seals are shown and counted from now on. */
  setAccepted(isAccepted: (identity: string) => boolean): void
}

interface SealBookParts {
  readonly store: Pick<StoreWriter, 'putSeals' | 'reader'>
  /** Hash of the stored block of a height. */
  readonly storedHash: (height: number) => string | undefined
  /** Of how many signers seals are kept at one height. */
  readonly mostSigners: () => number
}

/** Hashes that are kept of one signer at one height, besides that of the stored block. */
const maxHashes = 8
/** Heights whose seals are held in memory: more than are ever being written. */
const heldHeights = 4_096

/** What was admitted at a height and is not with the store yet. */
interface PendingSeals {
  readonly fresh: Seal[]
  readonly outdated: Seal[]
}

/** The book over an open store; nobody is accepted yet. */
export function createSealBook(parts: SealBookParts): SealBook {
  const held = new LRUCache<number, readonly Seal[]>({ max: heldHeights })
  const pending = new Map<number, PendingSeals>()
  let isAccepted = (_identity: string): boolean => false

  const all = (height: number): readonly Seal[] => {
    const known = held.get(height)
    if (known !== undefined) return known
    const seals = parts.store.reader.read((snapshot) => snapshot.seals(height))
    held.set(height, seals)
    return seals
  }
  const at = (height: number): readonly Seal[] =>
    all(height).filter(({ signatureIdentity }) => isAccepted(signatureIdentity))

  const admit = (height: number, seal: Seal): boolean => {
    const known = all(height)
    if (!hasRoom(known, seal, parts.mostSigners())) return false
    const change = changeFor(known, seal, parts.storedHash(height))
    if (change === null) return false
    const { outdated } = change
    held.set(height, [...known.filter((other) => other !== outdated), seal])
    const entry = pending.get(height) ?? { fresh: [], outdated: [] }
    pending.set(height, entry)
    entry.fresh.push(seal)
    if (outdated === undefined) return true
    const place = entry.fresh.indexOf(outdated)
    if (place >= 0) entry.fresh.splice(place, 1)
    else entry.outdated.push(outdated)
    return true
  }

  return {
    at,
    votes: (height, hash) => {
      const votes = new Map<string, number>()
      for (const { blockHash, merkleRoot } of at(height))
        if (blockHash === hash) votes.set(merkleRoot, (votes.get(merkleRoot) ?? 0) + 1)
      return votes
    },
    isSealedBy: (height, hash, identity) =>
      at(height).some((seal) => seal.blockHash === hash && seal.signatureIdentity === identity),
    admit: (height, seals) => seals.filter((seal) => admit(height, seal)),
    takePending: (height) => {
      const entry = pending.get(height)
      if (entry === undefined || entry.outdated.length > 0) return []
      pending.delete(height)
      return entry.fresh
    },
    flush: async () => {
      const entries = [...pending]
      pending.clear()
      const writes = entries.map(([height, { fresh, outdated }]) =>
        parts.store.putSeals(height, fresh, outdated),
      )
      await Promise.all(writes)
    },
    setAccepted: (accepts) => {
      isAccepted = accepts
    },
  }
}

/** Whether a seal is of a signer that is known at its height, or of one more for whom there is room. */
function hasRoom(known: readonly Seal[], { signatureIdentity }: Seal, most: number): boolean {
  if (known.length < most) return true
  const signers = new Set(known.map((seal) => seal.signatureIdentity))
  return signers.has(signatureIdentity) || signers.size < most
}

/** What a seal changes among those of its height: null for nothing, else which one gives way to it. */
function changeFor(
  known: readonly Seal[],
  seal: Seal,
  storedHash: string | undefined,
): { readonly outdated: Seal | undefined } | null {
  const own = known.filter(({ signatureIdentity }) => signatureIdentity === seal.signatureIdentity)
  const same = own.find(({ blockHash }) => blockHash === seal.blockHash)
  if (same !== undefined) return seal.merkleRoot < same.merkleRoot ? { outdated: same } : null
  const others = own.filter(({ blockHash }) => blockHash !== storedHash)
  if (seal.blockHash === storedHash || others.length < maxHashes) return { outdated: undefined }
  const largest = others.reduce((a, b) => (a.blockHash > b.blockHash ? a : b))
  return seal.blockHash < largest.blockHash ? { outdated: largest } : null
}
