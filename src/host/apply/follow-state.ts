/** Where the Host stands among its signers, and what it lacks, at this moment. */
import { isStored, type KnownBlocks } from '../fork-choice/block-ref.ts'
import { isRecent } from '../fork-choice/counting.ts'
import { droppedOf, type Gap, type Want, wantsOf } from '../fork-choice/wants.ts'
import { type ChainState, currentWindow } from './chain-state.ts'
import type { FollowReport } from './follow-report.ts'
import { bodiedBlock } from './follower.ts'
import type { FollowState, SignerState } from './outcome.ts'

/** Gaps that are read. */
const maxGaps = 100

export function followState(state: ChainState, report: FollowReport): FollowState {
  const { follower, parts, signers, heads, waiting, standStill: watch } = state
  const choice = follower.choice()
  const genesis = signers.genesis()
  const { floor } = currentWindow(state, choice.horizon)
  const nowMs = parts.nowMs()
  return follower.withBlocks((blocks, head) => {
    const standStill = watch({ head, heads: heardHeads(state, blocks) }, nowMs)
    const seen = { choice, head, floor, genesis, standStill }
    const facts = { ...seen, foreign: signers.foreign(), twice: heads.twice() }
    return {
      genesis,
      signers: signerStates(state),
      reached: choice.reached,
      floor,
      wants: wantsOver(state, blocks, head),
      failures: report.failures(blocks, facts, nowMs),
      standsStillMs: standStill.forMs,
      waiting: { blocks: waiting.size, bytes: waiting.bytes },
    }
  })
}

/** The newest heads that came lately. */
function heardHeads(
  { signers, heads, parts }: ChainState,
  blocks: KnownBlocks,
): { identity: string; hash: string; isStored: boolean }[] {
  return signers.identities().flatMap((identity) => {
    const heard = heads.of(identity)
    if (heard === undefined || !isRecent(heard.heardMs, parts.nowMs())) return []
    const { number, hash } = heard.head
    return [{ identity, hash, isStored: blocks.stored(number)?.hash === hash }]
  })
}

function signerStates({ signers, heads, follower }: ChainState): SignerState[] {
  const counted = new Set(follower.choice().counted.map(({ identity }) => identity))
  return signers.identities().map((identity) => {
    const heard = heads.of(identity)
    const isCounted = counted.has(identity)
    if (heard === undefined) return { identity, head: null, heardAt: null, isCounted }
    const { number, hash, nodeHeight } = heard.head
    return { identity, head: { number, hash, nodeHeight }, heardAt: heard.heardAt, isCounted }
  })
}

/** What is wanted now. */
export function wantsNow(state: ChainState): Want[] {
  return state.follower.withBlocks((blocks, head) => wantsOver(state, blocks, head))
}

function wantsOver(state: ChainState, blocks: KnownBlocks, head: number): Want[] {
  const { follower, signers, waiting, revised } = state
  const { canonical, horizon } = follower.choice()
  const { floor, windowFloor } = currentWindow(state, horizon)
  const dropped =
    canonical === null
      ? []
      : droppedOf(blocks, canonical, (link) => bodiedBlock(waiting, link) !== undefined)
  return wantsOf(blocks, {
    signers: signers.list(),
    head,
    windowFloor,
    floor,
    dropped,
    revised: [...revised.values()].filter(
      (link) => link.number >= floor && !isStored(blocks, link),
    ),
    gaps: gapsOf(state, floor),
  })
}

/** The missing heights between stored blocks, and those below the lowest that are to be kept as well. */
function gapsOf({ parts }: ChainState, floor: number): Gap[] {
  return parts.store.reader.read((snapshot) => {
    const range = snapshot.range()
    if (range === null) return []
    const between = snapshot.gaps(maxGaps)
    const below = range.tail > floor ? [{ from: floor, to: range.tail - 1 }] : []
    return [...below, ...between].reverse().flatMap(({ from, to }) => {
      const hash = snapshot.header(to + 1)?.parentHash
      return hash === undefined ? [] : [{ from, to, hash }]
    })
  })
}
