/**
 * Takes in what peers send: checks sealed blocks, heads and seals, keeps what accepted signers say, and
 * follows where that leads. Runs in the writer thread. Whatever throws while a peer's bytes are checked is
 * the fault of those bytes; what throws while the store is written ends the program.
 */

import { isSealSigned } from '../../mesh/signed-claims.ts'
import type { Seal } from '../../primitives/seal.ts'
import { decodeSealsAnswer, type SealsAnswer } from '../../primitives/vote-exchange.ts'
import type { BlockRef } from '../fork-choice/block-ref.ts'
import type { Want } from '../fork-choice/wants.ts'
import type { Accepted } from './accepted-signers.ts'
import {
  type ChainOptions,
  type ChainParts,
  type ChainState,
  currentWindow,
  isWithinReach,
  openChainState,
  reviseHeight,
} from './chain-state.ts'
import { createFollowReport } from './follow-report.ts'
import { followState, wantsNow } from './follow-state.ts'
import type { FollowState, Outcome, Received, SealsTaken } from './outcome.ts'
import type { HeadOutcome } from './signer-heads.ts'
import { logUnforeseen } from './unforeseen.ts'
import { type Finding, verifyMessage } from './verify.ts'
import { contextOf, isSameSeal } from './verify-context.ts'

export interface Applier {
  /**
   * Takes a sealed block in; resolves when what followed from it is on the disk. `isForwarded` where the
   * message is passed on if it is accepted. Rejects when the store failed.
   */
  receive(bytes: Uint8Array, isForwarded: boolean): Promise<Received>
  /** Takes a signed head in. */
  receiveHead(bytes: Uint8Array): HeadOutcome
  /** Takes an answer with seals in; null for one that no honest peer gives. */
  receiveSeals(bytes: Uint8Array): Promise<SealsTaken | null>
  /** What is wanted now. */
  wants(): readonly Want[]
  setAccepted(accepted: Accepted): void
  /** Says the lowest height that a configured peer serves; null where none is connected. */
  setServedFrom(height: number | null): void
  /** Decides again, because time has passed. */
  tick(): void
  state(): FollowState
  /** Resolves when everything that was decided so far is on the disk. */
  drain(): Promise<void>
  /** Decides nothing from now on, and resolves when all is on the disk. */
  close(): Promise<void>
}

/** An applier over an open store. */
export function createApplier(options: ChainOptions, parts: ChainParts): Applier {
  const state = openChainState(options, parts)
  const report = createFollowReport(state.startedMs)
  const { follower, book, heads, signers } = state
  let isClosed = false
  let flushed: Promise<void> = Promise.resolve()

  /** Decides, and goes on in later iterations of the event loop while there is more to do at once. */
  const follow = (news: readonly BlockRef[] = []): void => {
    if (isClosed) return
    if (follower.follow(news)) setImmediate(follow)
    flushed = book.flush()
    flushed.catch(parts.onFailure)
  }
  const settled = async (): Promise<void> => {
    await Promise.all([state.writer.drain(), flushed])
  }

  return {
    receive: async (bytes, isForwarded) => {
      const startMs = performance.now()
      const outcome = receive(state, bytes, isForwarded, follow)
      const verifiedMs = performance.now()
      await settled()
      const work = { verifyMs: verifiedMs - startMs, applyMs: performance.now() - verifiedMs }
      return { outcome, timings: work }
    },
    receiveHead: (bytes) => {
      const outcome = checkHead(state, bytes)
      if (outcome.kind === 'newer') {
        adoptGenesis(state)
        follow()
      }
      return outcome
    },
    receiveSeals: async (bytes) => {
      const found = receiveSeals(state, bytes)
      if (found === null) return null
      follow(found.news)
      await settled()
      return found.taken
    },
    setAccepted: (accepted) => {
      signers.set(accepted)
      heads.keepOnly(signers.isAccepted)
      adoptGenesis(state)
      reviseAll(state)
      follow()
    },
    setServedFrom: (height) => {
      if (state.servedFrom === height) return
      state.servedFrom = height
      follow()
    },
    tick: () => {
      heads.flush().catch(parts.onFailure)
      state.waiting.removeBelow(currentWindow(state, follower.choice().horizon).floor)
      const due = follower.nextMs()
      if (due !== null && due <= parts.nowMs()) follow()
    },
    wants: () => wantsNow(state),
    state: () => followState(state, report),
    drain: settled,
    close: async () => {
      isClosed = true
      await heads.flush()
      await settled()
    },
  }
}

function receive(
  state: ChainState,
  bytes: Uint8Array,
  isForwarded: boolean,
  follow: (news: readonly BlockRef[]) => void,
): Outcome {
  const finding = check(state, bytes, isForwarded)
  if (finding.kind === 'breach') return finding
  if (finding.kind === 'seals') {
    const { height, seals } = finding
    const fresh = admit(state, height, seals)
    if (fresh === 0) return notKept(height)
    follow(reviseHeight(state, height))
    return { kind: 'seals', height, seals: fresh }
  }
  const { documents, body, seals } = finding
  const { number, hash, parentHash, root } = documents
  const link = { number, hash, parentHash, root }
  const fresh = admit(state, number, seals)
  const identities = seals.map(({ signatureIdentity }) => signatureIdentity)
  state.waiting.put({ ...link, body, documents }, identities)
  reviseHeight(state, number)
  follow([link])
  const isStored = state.follower.withBlocks((blocks) => blocks.stored(number)?.hash === hash)
  return { kind: 'block', height: number, isStored, seals: fresh }
}

/** What is not kept is not passed on: it would be new again the next time. */
function notKept(height: number): Outcome {
  const detail = 'its seals are not kept'
  return { kind: 'breach', action: 'ignore', rule: 'something-new', detail, height }
}

/** Never throws for what is in the message, whatever it is. */
function check(state: ChainState, bytes: Uint8Array, isForwarded: boolean): Finding {
  try {
    return verifyMessage(bytes, contextOf(state, isForwarded))
  } catch (error) {
    logUnforeseen(state.parts.log, error)
    return { ...unforeseen, rule: 'well-formed' }
  }
}

function checkHead(state: ChainState, bytes: Uint8Array): HeadOutcome {
  try {
    return state.heads.receive(bytes)
  } catch (error) {
    logUnforeseen(state.parts.log, error)
    return { ...unforeseen, rule: 'well-formed' }
  }
}

const unforeseen = {
  kind: 'breach',
  action: 'reject',
  detail: 'unforeseen',
  height: null,
} as const

/** Takes verified seals of accepted signers in; returns how many were new. */
function admit(state: ChainState, height: number, seals: readonly Seal[]): number {
  const near = seals.filter((seal) => isWithinReach(state, seal))
  return state.book.admit(height, near).length
}

/** Null for an answer that no honest peer gives; else what was new in it. */
function receiveSeals(
  state: ChainState,
  bytes: Uint8Array,
): { readonly taken: SealsTaken; readonly news: readonly BlockRef[] } | null {
  const checked = checkSeals(state, bytes)
  if (checked === null) return null
  const { answer, fresh } = checked
  const news: BlockRef[] = []
  let seals = 0
  for (const seal of fresh) {
    seals += state.book.admit(seal.blockNumber, [seal]).length
    news.push(...reviseHeight(state, seal.blockNumber))
  }
  const last = answer.seals.at(-1)
  const place = last === undefined ? null : { height: last.blockNumber, blockHash: last.blockHash }
  return { taken: { seals, isMore: answer.more, last: place }, news }
}

/** The answer with those of its seals that are new; null where it cannot be read or one of these is forged. */
function checkSeals(
  state: ChainState,
  bytes: Uint8Array,
): { readonly answer: SealsAnswer; readonly fresh: readonly Seal[] } | null {
  const { options, signers, book } = state
  try {
    const answer = decodeSealsAnswer(bytes)
    const fresh = answer.seals
      .filter((seal) => signers.isAccepted(seal.signatureIdentity) && isWithinReach(state, seal))
      .filter((seal) => !book.at(seal.blockNumber).some((known) => isSameSeal(known, seal)))
    const isSound = fresh.every((seal) => seal.network === options.network && isSealSigned(seal))
    return isSound ? { answer, fresh } : null
  } catch (error) {
    logUnforeseen(state.parts.log, error)
    return null
  }
}

/** Where the store does not know its chain, adopts that of its own block 0, else of the heads, if most vouch for it. */
function adoptGenesis({ parts, signers, book }: ChainState): void {
  const { store, onFailure, log } = parts
  if (store.genesisHash() !== null) return
  const own = store.reader.read((snapshot) => snapshot.header(0)?.hash)
  const sealers = own === undefined ? [] : book.at(0).filter(({ blockHash }) => blockHash === own)
  const isSure = signers.areMost(sealers.map(({ signatureIdentity }) => signatureIdentity))
  const genesis = isSure && own !== undefined ? own : signers.majorityGenesis()
  if (genesis === null) return
  log.info({ genesis }, 'the chain is known by its genesis block')
  store.adoptGenesis(genesis).catch(onFailure)
}

/** After a change of the signers: whose documents are served of blocks that have several roots? */
function reviseAll(state: ChainState): void {
  state.revised.clear()
  const heights = state.parts.store.reader.read((snapshot) => {
    const range = snapshot.range()
    if (range === null) return []
    const places = snapshot.sealPlaces(Math.max(range.tail, range.head - revisedBlocks), range.head)
    const other = [...places].filter(({ height, blockHash, merkleRoot }) => {
      const header = snapshot.header(height)
      return header?.hash === blockHash && header.root !== merkleRoot
    })
    return [...new Set(other.map(({ height }) => height))]
  })
  for (const height of heights) reviseHeight(state, height)
}

/** Newest blocks that are checked again after a change of the signers. */
const revisedBlocks = 10_000
