/**
 * Verified blocks that are not stored: they wait until most signers stand on them. Of each the place in the
 * chain is kept, and its bytes as long as there is room; what is dropped can be pulled again. Each
 * block counts against the share of a signer that sealed it, so that no signer's blocks push out another's.
 */
import type { VerifiedBody } from '../../primitives/body/body.ts'
import type { BlockRef } from '../fork-choice/block-ref.ts'

/** A block with the documents of one root. */
export interface WaitingBlock extends BlockRef {
  /** How many documents it has. */
  readonly count: number
  /** Null where there was no room for it. */
  readonly body: Uint8Array | null
  /** The documents, unpacked: only of the newest blocks, which may be stored at once. */
  readonly documents: VerifiedBody | null
}

/** A block as it arrives. */
interface ArrivedBlock extends BlockRef {
  readonly body: Uint8Array
  readonly documents: VerifiedBody
}

export interface WaitingBlocks {
  /** Adds a block, or brings back the bytes of one that is there. `signers` have sealed it. */
  put(block: ArrivedBlock, signers: readonly string[]): void
  /** The documents that are known of a hash, by their root. */
  variants(hash: string): readonly WaitingBlock[]
  remove(block: BlockRef): void
  /** Forgets everything below a height. */
  removeBelow(height: number): void
  /** Every block, in the order in which they came. */
  all(): Iterable<WaitingBlock>
  readonly size: number
  /** Bytes of bodies that are held. */
  readonly bytes: number
}

interface WaitingLimits {
  /** Blocks of one signer. */
  readonly maxBlocks: number
  /** Bytes of bodies, shared evenly by the signers. */
  readonly maxBytes: number
}

/** So many signers may fill their share; with more of them those that have most have less. */
const maxOwners = 8
/** Bytes of unpacked documents that are held. */
const maxUnpackedBytes = 32 * 1024 * 1024
/** What an unpacked document takes beside its bytes, roughly. */
const documentBytes = 200

interface Entry {
  block: WaitingBlock
  /** The signer against whose share it counts. */
  readonly owner: string
}

/** What counts against one signer. */
interface SignerShare {
  readonly blocks: Set<string>
  bytes: number
}

interface State {
  readonly limits: WaitingLimits
  /** By hash and root. */
  readonly entries: Map<string, Entry>
  /** Keys of `entries` by hash. */
  readonly byHash: Map<string, Set<string>>
  readonly shares: Map<string, SignerShare>
  /** Blocks whose documents are unpacked, the oldest first, with the bytes that they take. */
  readonly unpacked: Map<string, number>
  bytes: number
}

/** Nothing waits. */
export function createWaitingBlocks(limits: WaitingLimits): WaitingBlocks {
  const state: State = {
    limits,
    entries: new Map(),
    byHash: new Map(),
    shares: new Map(),
    unpacked: new Map(),
    bytes: 0,
  }
  const { entries, byHash } = state
  return {
    put: (block, signers) => put(state, block, signers),
    variants: (hash) =>
      [...(byHash.get(hash) ?? [])].flatMap((key) => entries.get(key)?.block ?? []),
    remove: (block) => remove(state, keyOf(block)),
    removeBelow: (height) => {
      for (const [key, { block }] of entries) if (block.number < height) remove(state, key)
    },
    all: function* () {
      for (const { block } of entries.values()) yield block
    },
    get size() {
      return entries.size
    },
    get bytes() {
      return state.bytes
    },
  }
}

function put(state: State, block: ArrivedBlock, signers: readonly string[]): void {
  const { entries, shares } = state
  const key = keyOf(block)
  const owner = entries.get(key)?.owner ?? ownerOf(signers, shares)
  if (owner === undefined) return
  const entry = entries.get(key) ?? add(state, key, block, owner)
  setBody(state, entry, block.body)
  entry.block = { ...entry.block, documents: block.documents }
  unpack(state, key, block.documents)
  makeRoom(state, owner)
}

function add(
  { entries, byHash, shares }: State,
  key: string,
  { number, hash, parentHash, root, documents: { count } }: ArrivedBlock,
  owner: string,
): Entry {
  const block = { number, hash, parentHash, root, count, body: null, documents: null }
  const entry: Entry = { block, owner }
  entries.set(key, entry)
  byHash.set(hash, (byHash.get(hash) ?? new Set()).add(key))
  shareOf(shares, owner).blocks.add(key)
  return entry
}

function remove(state: State, key: string): void {
  const { entries, byHash, shares, unpacked } = state
  const entry = entries.get(key)
  if (entry === undefined) return
  setBody(state, entry, null)
  entries.delete(key)
  unpacked.delete(key)
  const { hash } = entry.block
  const keys = byHash.get(hash)
  keys?.delete(key)
  if (keys?.size === 0) byHash.delete(hash)
  const share = shareOf(shares, entry.owner)
  share.blocks.delete(key)
  if (share.blocks.size === 0) shares.delete(entry.owner)
}

function shareOf(shares: Map<string, SignerShare>, owner: string): SignerShare {
  const share = shares.get(owner) ?? { blocks: new Set(), bytes: 0 }
  shares.set(owner, share)
  return share
}

/** Gives a block another body, or none; its documents are those of the one before, and go with it. */
function setBody(state: State, entry: Entry, body: Uint8Array | null): void {
  const change = (body?.length ?? 0) - (entry.block.body?.length ?? 0)
  shareOf(state.shares, entry.owner).bytes += change
  state.bytes += change
  entry.block = { ...entry.block, body, documents: null }
}

/** Removes the oldest blocks of a signer that has too many, and bytes of all that hold more than their share. */
function makeRoom(state: State, owner: string): void {
  const { entries, limits, shares } = state
  const { blocks } = shareOf(shares, owner)
  for (const key of blocks) {
    if (blocks.size <= limits.maxBlocks) break
    remove(state, key)
  }
  while (entries.size > maxOwners * limits.maxBlocks) {
    const [oldest] = largestShare(shares).blocks
    if (oldest !== undefined) remove(state, oldest)
  }
  const bytesEach = limits.maxBytes / shares.size
  for (const share of shares.values()) shrink(state, share, bytesEach)
}

function largestShare(shares: ReadonlyMap<string, SignerShare>): SignerShare {
  return [...shares.values()].reduce((a, b) => (b.blocks.size > a.blocks.size ? b : a))
}

/** Drops the bytes of a signer's highest blocks. */
function shrink(state: State, share: SignerShare, maxBytes: number): void {
  if (share.bytes <= maxBytes) return
  const held = [...share.blocks].flatMap((key) => state.entries.get(key) ?? [])
  for (const entry of held.sort((a, b) => b.block.number - a.block.number)) {
    if (share.bytes <= maxBytes) break
    setBody(state, entry, null)
  }
}

/** Keeps the documents of the newest blocks unpacked, within bounds. */
function unpack({ entries, unpacked }: State, key: string, documents: VerifiedBody): void {
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

function keyOf({ hash, root }: BlockRef): string {
  return `${hash} ${root}`
}

/** Of those that sealed a block, the signer with the fewest waiting. */
function ownerOf(
  signers: readonly string[],
  shares: ReadonlyMap<string, SignerShare>,
): string | undefined {
  const waiting = (signer: string): number => shares.get(signer)?.blocks.size ?? 0
  return [...signers].sort((a, b) => waiting(a) - waiting(b))[0]
}
