/** What the rules for sealed blocks need to know of a Host at this moment. */
import type { Seal } from '../../primitives/seal.ts'
import { type ChainState, currentWindow } from './chain-state.ts'
import type { KnownDocuments, VerifyContext } from './verify.ts'

/** `isForwarded` where the message is passed on if it is accepted. */
export function contextOf(state: ChainState, isForwarded: boolean): VerifyContext {
  const { book, signers, follower, options } = state
  const { floor, ceiling } = currentWindow(state, follower.choice().horizon)
  const known = (seal: Seal): Seal | undefined =>
    book.at(seal.blockNumber).find((other) => isSameSeal(other, seal))
  return {
    network: options.network,
    maxRawBytes: options.maxRawBytes,
    isForwarded,
    isAccepted: signers.isAccepted,
    floor: () => floor,
    ceiling: () => ceiling,
    hasSeal: (seal) => known(seal) !== undefined,
    hasSignature: (seal) => known(seal)?.signatureValue === seal.signatureValue,
    documents: (seal) => documentsOf(state, seal),
  }
}

/** Whether two seals are one signer's over the same statement. */
export function isSameSeal(one: Seal, other: Seal): boolean {
  return (
    one.signatureIdentity === other.signatureIdentity &&
    one.blockHash === other.blockHash &&
    one.merkleRoot === other.merkleRoot &&
    one.cidCount === other.cidCount
  )
}

/** Documents that are being written, are stored, or wait with their bytes. */
function documentsOf(state: ChainState, seal: Seal): KnownDocuments | null {
  const { blockNumber, blockHash, merkleRoot } = seal
  const isIt = ({ hash, root }: { readonly hash: string; readonly root: string }): boolean =>
    hash === blockHash && root === merkleRoot
  const { pending } = state.writer
  const here = [pending.at(blockNumber), ...state.waiting.variants(blockHash)]
  const found = here.find((block) => block !== undefined && isIt(block) && block.body !== null)
  if (found !== undefined) return { count: found.count, body: () => found.body }
  if (pending.isRemoved(blockNumber)) return null
  const { reader } = state.parts.store
  const header = reader.read((snapshot) => snapshot.header(blockNumber))
  if (header === undefined || !isIt(header)) return null
  const body = (): Uint8Array | null =>
    reader.read((snapshot) => snapshot.body(blockNumber)) ?? null
  return { count: header.count, body }
}
