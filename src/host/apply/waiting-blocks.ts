/**
 * Verified blocks that are not stored: they wait until most signers stand on them. Of each the place in the
 * chain is kept, and its bytes as long as there is room; what is dropped can be pulled again. Whoever
 * signs a block answers for its room, so that one signer's blocks never push out another's.
 */
import type { VerifiedBody } from '../../primitives/body.ts'
import type { Link } from '../fork-choice/link.ts'

/** A block with the documents of one root. */
export interface WaitingBlock extends Link {
  /** How many documents it has. */
  readonly count: number
  /** Null where there was no room for it. */
  readonly body: Uint8Array | null
  /** The documents, unpacked: only of the newest blocks, which may be stored at once. */
  readonly documents: VerifiedBody | null
}

/** A block as it arrives. */
export interface ArrivedBlock extends Link {
  readonly body: Uint8Array
  readonly documents: VerifiedBody
}

export interface WaitingBlocks {
  /** Adds a block, or brings back the bytes of one that is there. `signers` have sealed it. */
  put(block: ArrivedBlock, signers: readonly string[]): void
  /** The documents that are known of a hash, by their root. */
  variants(hash: string): readonly WaitingBlock[]
  remove(block: Link): void
  /** Forgets everything below a height. */
  removeBelow(height: number): void
  /** Every block, in the order in which they came. */
  all(): Iterable<WaitingBlock>
  readonly size: number
  /** Bytes of bodies that are held. */
  readonly bytes: number
}

export interface WaitingLimits {
  /** Blocks of one signer. */
  readonly maxBlocks: number
  /** Bytes of bodies, shared evenly by the signers. */
  readonly maxBytes: number
}

/** So many signers may fill their room; with more of them those that have most have less. */
const maxOwners = 8
/** Bytes of unpacked documents that are held. */
const maxUnpackedBytes = 32 * 1024 * 1024
/** What an unpacked document takes beside its bytes, roughly. */
const documentBytes = 200

interface Entry {
  block: WaitingBlock
  /** The signer that answers for its room. */
  readonly owner: string
}

/** What a signer answers for. */
interface Room {
  readonly blocks: Set<string>
  bytes: number
}

/** Nothing waits. */
export function createWaitingBlocks(limits: WaitingLimits): WaitingBlocks {
  const entries = new Map<string, Entry>()
  const byHash = new Map<string, Set<string>>()
  const owners = new Map<string, Room>()
  /** Blocks whose documents are unpacked, the oldest first. */
  const unpacked = new Map<string, number>()
  let bytes = 0

  const roomOf = (owner: string): Room => {
    const room = owners.get(owner) ?? { blocks: new Set(), bytes: 0 }
    owners.set(owner, room)
    return room
  }

  const setBody = (entry: Entry, body: Uint8Array | null): void => {
    const change = (body?.length ?? 0) - (entry.block.body?.length ?? 0)
    roomOf(entry.owner).bytes += change
    bytes += change
    entry.block = { ...entry.block, body, documents: body === null ? null : entry.block.documents }
  }

  const remove = (key: string): void => {
    const entry = entries.get(key)
    if (entry === undefined) return
    setBody(entry, null)
    entries.delete(key)
    unpacked.delete(key)
    const { hash } = entry.block
    const keys = byHash.get(hash)
    keys?.delete(key)
    if (keys?.size === 0) byHash.delete(hash)
    const room = roomOf(entry.owner)
    room.blocks.delete(key)
    if (room.blocks.size === 0) owners.delete(entry.owner)
  }

  const largestRoom = (): Room =>
    [...owners.values()].reduce((a, b) => (b.blocks.size > a.blocks.size ? b : a))
  const removeOldest = ({ blocks }: Room): void => {
    const [oldest] = blocks
    if (oldest !== undefined) remove(oldest)
  }

  /** Keeps a signer within its room, from which its oldest blocks go, and each within its share of the bytes. */
  const makeRoom = (owner: string): void => {
    const room = roomOf(owner)
    for (const key of room.blocks) {
      if (room.blocks.size <= limits.maxBlocks) break
      remove(key)
    }
    while (entries.size > maxOwners * limits.maxBlocks) removeOldest(largestRoom())
    const share = limits.maxBytes / owners.size
    for (const each of owners.values()) shrink(each, share)
  }

  /** The bytes of a signer's highest blocks go. */
  const shrink = (room: Room, share: number): void => {
    if (room.bytes <= share) return
    const held = [...room.blocks].flatMap((key) => entries.get(key) ?? [])
    for (const entry of held.sort((a, b) => b.block.number - a.block.number)) {
      if (room.bytes <= share) break
      setBody(entry, null)
    }
  }

  /** Keeps the documents of the newest blocks unpacked, within bounds. */
  const unpack = (key: string, documents: VerifiedBody): void => {
    unpacked.set(key, documents.rawBytes + documents.count * documentBytes)
    let held = [...unpacked.values()].reduce((sum, rawBytes) => sum + rawBytes, 0)
    for (const [oldest, rawBytes] of unpacked) {
      if (held <= maxUnpackedBytes) break
      unpacked.delete(oldest)
      held -= rawBytes
      const entry = entries.get(oldest)
      if (entry !== undefined) entry.block = { ...entry.block, documents: null }
    }
  }

  return {
    put: (block, signers) => {
      const key = keyOf(block)
      const known = entries.get(key)
      const owner = known?.owner ?? ownerOf(signers, owners)
      if (owner === undefined) return
      const { number, hash, parentHash, root } = block
      const { count } = block.documents
      const entry = known ?? {
        block: { number, hash, parentHash, root, count, body: null, documents: null },
        owner,
      }
      if (known === undefined) {
        entries.set(key, entry)
        byHash.set(hash, (byHash.get(hash) ?? new Set()).add(key))
        roomOf(owner).blocks.add(key)
      }
      setBody(entry, block.body)
      entry.block = { ...entry.block, documents: block.documents }
      unpack(key, block.documents)
      makeRoom(owner)
    },
    variants: (hash) =>
      [...(byHash.get(hash) ?? [])].flatMap((key) => entries.get(key)?.block ?? []),
    remove: (block) => remove(keyOf(block)),
    removeBelow: (height) => {
      for (const [key, { block }] of entries) if (block.number < height) remove(key)
    },
    all: function* () {
      for (const { block } of entries.values()) yield block
    },
    get size() {
      return entries.size
    },
    get bytes() {
      return bytes
    },
  }
}

function keyOf({ hash, root }: Link): string {
  return `${hash} ${root}`
}

/** Of those that sealed a block, the signer with the fewest waiting. */
function ownerOf(
  signers: readonly string[],
  owners: ReadonlyMap<string, { readonly blocks: ReadonlySet<string> }>,
): string | undefined {
  const waiting = (signer: string): number => owners.get(signer)?.blocks.size ?? 0
  return [...signers].sort((a, b) => waiting(a) - waiting(b))[0]
}
