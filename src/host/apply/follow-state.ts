/** Where the Host stands among its signers, and what it lacks, at this moment. */
import { isStored, type KnownBlocks } from '../fork-choice/block-ref.ts'
import { droppedOf, type Gap, type Want, wantsOf } from '../fork-choice/wants.ts'
import { type ChainState, currentWindow } from './chain-state.ts'
import type { FollowReport } from './follow-report.ts'
import { bodiedBlock } from './follower.ts'
import type { FollowState, SignerState } from './outcome.ts'

/** Gaps that are read. */
const maxGaps = 100

export function followState(state: ChainState, report: FollowReport): FollowState {
  const { follower, parts, signers, heads, waiting } = state
  const choice = follower.choice()
  const genesis = signers.genesis()
  return follower.withBlocks((blocks, head) => ({
    genesis,
    signers: signerStates(state),
    reached: choice.reached,
    floor: currentWindow(state, choice.horizon).floor,
    wants: wantsOver(state, blocks, head),
    failures: report.failures(
      blocks,
      { choice, head, genesis, foreign: signers.foreign(), twice: heads.twice() },
      parts.nowMs(),
    ),
    waiting: { blocks: waiting.size, bytes: waiting.bytes },
  }))
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
