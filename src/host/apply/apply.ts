/**
 * Takes sealed blocks into the store: verifies a message, finds its place in the chain, writes.
 * Verification of one block runs while earlier ones are on their way to the disk; what is not
 * there yet counts as stored all the same. Runs in the writer thread.
 */
import { type VerifiedBody, verifyBody } from '../../primitives/body.ts'
import { indexTerms } from '../../primitives/index-terms.ts'
import type { Seal } from '../../primitives/seal.ts'
import type { SealedBlockToStore, Snapshot, StoreWriter } from '../../store/store.ts'
import { type ChainView, type Placement, placeBlock } from '../fork-choice/fork-choice.ts'
import { createRecentSet } from '../recent-set.ts'
import { createHeldBlocks, type Holdable } from './held-blocks.ts'
import type { Applier, Outcome, TakenIn } from './outcome.ts'
import { createUnwritten, type Unwritten } from './unwritten.ts'
import { type Finding, type VerifyContext, verifyMessage } from './verify.ts'

export interface ApplierOptions {
  readonly network: string
  /** Identities that may vote; null lets everybody. */
  readonly trustedSigners: readonly string[] | null
  /** Newest heights that are kept; null keeps all. */
  readonly retainBlocks: number | null
  /** Bytes one block's documents may unpack to. Default 64 MiB. */
  readonly maxRawBytes?: number
}

/** A verified block. */
interface WaitingBlock extends Holdable {
  readonly seals: readonly Seal[]
  readonly body: Uint8Array
  /** The documents, unpacked, where they may be needed soon; else they are checked once more. */
  readonly documents: VerifiedBody | null
}

const defaultMaxRawBytes = 64 * 1024 * 1024
/** Blocks above the highest stored one that are kept when they come too early. */
const maxEarly = 16
/** Hashes of blocks given up that are remembered. */
const maxGivenUp = 1024

/** An applier over an open store. */
export function createApplier(
  options: ApplierOptions,
  parts: { readonly store: StoreWriter },
): Applier {
  const { store } = parts
  const { network, retainBlocks, maxRawBytes = defaultMaxRawBytes } = options
  const trustedSigners = options.trustedSigners === null ? null : new Set(options.trustedSigners)
  const held = createHeldBlocks<WaitingBlock>()
  const givenUp = createRecentSet(maxGivenUp)
  const unwritten = createUnwritten()

  const contextOver = (chain: ChainView, snapshot: Snapshot, mayFloat: boolean): VerifyContext => ({
    network,
    trustedSigners,
    maxRawBytes,
    floor: () => (retainBlocks === null ? 0 : headOf(snapshot, unwritten) - retainBlocks + 1),
    isFar: (height) => !mayFloat && height > headOf(snapshot, unwritten) + maxEarly,
    isStored: (height, hash) => chain.at(height)?.hash === hash,
    seals: (height) => [...snapshot.seals(height), ...unwritten.seals(height)],
  })

  const settle = async (
    placement: Placement<WaitingBlock>,
    own: WaitingBlock,
    chain: ChainView,
  ): Promise<Outcome> => {
    const height = own.number
    if (placement.kind === 'append' || placement.kind === 'replace')
      return await write(placement, own.number, chain)
    held.put(placement.kind === 'detached' ? own : { ...own, documents: null })
    if (placement.kind === 'keep') return { kind: 'held', height }
    if (placement.kind === 'incomplete')
      return { kind: 'incomplete', height, missing: placement.missing }
    return { kind: placement.kind, height }
  }

  const write = (
    placement: Extract<Placement<WaitingBlock>, { blocks: readonly WaitingBlock[] }>,
    height: number,
    chain: ChainView,
  ): Promise<Outcome> => {
    const { blocks } = placement
    const toStore = blocks.map((block) => storable(block, block.documents ?? reopen(block)))
    for (const block of blocks) {
      held.remove(block.hash)
      givenUp.delete(block.hash)
    }
    const removed = placement.kind === 'replace' ? hashesAbove(placement.above, chain) : []
    for (const hash of removed) givenUp.add(hash)
    const written =
      placement.kind === 'replace'
        ? store.replaceBlocks(placement.above + 1, Number.POSITIVE_INFINITY, toStore)
        : Promise.all(toStore.map((block) => store.putSealedBlock(block)))
    const done = unwritten.add(blocks, placement.kind === 'replace' ? placement.above : null)
    const outcome: Outcome = {
      kind: 'stored',
      height,
      bottom: blocks[0]?.number ?? height,
      top: blocks.at(-1)?.number ?? height,
      removed: removed.length,
      taken: countTaken(toStore),
    }
    return written.then(done).then(() => outcome)
  }

  const reopen = (block: WaitingBlock): VerifiedBody =>
    verifyBody(network, block.body, { maxRawBytes })

  const receive = (bytes: Uint8Array, mayFloat: boolean): { placed: Promise<Outcome> } =>
    store.reader.read((snapshot) => {
      const chain = chainOver(snapshot, unwritten, givenUp)
      const finding = verifyMessage(bytes, contextOver(chain, snapshot, mayFloat))
      return { placed: act(finding, chain, mayFloat) }
    })

  const act = async (finding: Finding, chain: ChainView, mayFloat: boolean): Promise<Outcome> => {
    if (finding.kind === 'breach') return finding
    if (finding.kind === 'announcement') return { kind: 'announced', height: finding.height }
    if (finding.kind === 'far') return { kind: 'detached', height: finding.height }
    if (finding.kind === 'votes') {
      const { height, seals } = finding
      await store.putSeals(height, seals)
      return { kind: 'votes', height, seals: seals.length }
    }
    const block = waitingBlock(finding, held.get(finding.documents.hash))
    return await settle(placeBlock(block, chain, held, mayFloat), block, chain)
  }

  return {
    receive: async (bytes, mayFloat) => {
      const startMs = performance.now()
      const { placed } = receive(bytes, mayFloat)
      const verifiedMs = performance.now()
      const outcome = await placed
      const work = { verifyMs: verifiedMs - startMs, applyMs: performance.now() - verifiedMs }
      return { outcome, work }
    },
  }
}

/** Hashes of the stored blocks that follow a height; those beyond a gap were never weighed against anything. */
function hashesAbove(height: number, chain: ChainView): string[] {
  const hashes: string[] = []
  for (let at = height + 1; ; at++) {
    const link = chain.at(at)
    if (link === undefined) return hashes
    hashes.push(link.hash)
  }
}

function headOf(snapshot: Snapshot, unwritten: Unwritten): number {
  return Math.max(unwritten.head(), snapshot.range()?.head ?? 0)
}

function chainOver(
  snapshot: Snapshot,
  unwritten: Unwritten,
  givenUp: { has(hash: string): boolean },
): ChainView {
  return {
    at: (height) => {
      const own = unwritten.at(height)
      if (own !== undefined || unwritten.isRemoved(height)) return own
      const header = snapshot.header(height)
      if (header === undefined) return undefined
      const { number, hash, parentHash } = header
      const signers = snapshot.seals(height).filter((seal) => seal.blockHash === hash)
      return { number, hash, parentHash, signers: signers.map((seal) => seal.signatureIdentity) }
    },
    wasGivenUp: (hash) => givenUp.has(hash),
  }
}

/** The block of a finding, with the seals that came for it before. */
function waitingBlock(
  { seals: own, documents, bytes }: Extract<Finding, { kind: 'block' }>,
  earlier: WaitingBlock | undefined,
): WaitingBlock {
  const { number, hash, parentHash } = documents
  const others = (earlier?.seals ?? []).filter(
    (seal) => !own.some(({ signatureIdentity }) => signatureIdentity === seal.signatureIdentity),
  )
  const seals = [...own, ...others]
  const signers = seals.map((seal) => seal.signatureIdentity)
  return {
    number,
    hash,
    parentHash,
    signers,
    seals,
    documents,
    body: bytes,
    bytes: bytes.byteLength,
  }
}

function storable(block: WaitingBlock, documents: VerifiedBody): SealedBlockToStore {
  const { number, hash, parentHash, root, count, timestamp, body, cids } = documents
  const header = {
    number,
    hash,
    parentHash,
    root,
    count,
    timestamp,
    sections: body.counts,
    bodyBytes: block.body.byteLength,
  }
  return { header, body: block.body, terms: indexTerms(body, cids), seals: block.seals }
}

function countTaken(blocks: readonly SealedBlockToStore[]): TakenIn {
  const sum = (of: (block: SealedBlockToStore) => number): number =>
    blocks.reduce((total, block) => total + of(block), 0)
  return {
    blocks: blocks.length,
    transactions: sum(({ header }) => header.sections.Transaction),
    logs: sum(({ header }) => header.sections.Log),
    accessListEntries: sum(({ header }) => header.sections.AccessListEntry),
    seals: sum(({ seals }) => seals.length),
  }
}
