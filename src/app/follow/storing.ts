/** Stores blocks that have their votes, View by View in the order of their heights, as long as anything changes. */
import { notServedState } from '../../follow/host-frames.ts'
import { subtractHeights, toHeightRanges, uniteHeights } from '../../primitives/height-ranges.ts'
import type { KnownView } from '../followed-views.ts'
import { type FollowerState, type Hole, noteChange } from './follow-state.ts'
import { type FeedStep, nextStep } from './next-step.ts'
import type { PendingBlock, PendingBlocks } from './pending-blocks.ts'
import type { RowsVerdict } from './pending-votes.ts'

/** Something changed: checks what waits, now or once more. */
export function wake(state: FollowerState): void {
  state.isAwake = true
  noteChange(state)
  if (state.running !== null || state.isClosed) return
  state.running = work(state)
    .catch((error) => {
      if (!state.isClosed) state.parts.onFatal(error)
      state.isClosed = true
      noteChange(state)
    })
    .finally(() => {
      state.running = null
      if (state.isAwake) wake(state)
    })
}

async function work(state: FollowerState): Promise<void> {
  while (state.isAwake && !state.isClosed) {
    state.isAwake = false
    for (const view of state.parts.views.list())
      while (!state.isClosed && (await advance(state, view))) noteChange(state)
  }
}

/**
 * Does one step for a View; false where it has to wait. What it stored is dropped by the next one, which finds it: the
 * blocks that wait may be others by then.
 */
function advance(state: FollowerState, view: KnownView): Promise<boolean> {
  return state.parts.inTurn(() => step(state, view))
}

async function step(state: FollowerState, view: KnownView): Promise<boolean> {
  const pending = state.pending.get(view.id)
  if (pending === undefined) return false
  const next = decide(state, view, pending)
  state.differing.set(view.id, next.kind === 'wait' ? next.differing : [])
  if (next.kind === 'wait') return false
  if (next.kind === 'known') {
    pending.drop(next.blocks)
    forget(state, view)
  } else await store(state, view, pending.list()[0], next)
  return true
}

function decide(state: FollowerState, view: KnownView, pending: PendingBlocks): FeedStep {
  const { options, parts, blocks } = state
  const step = nextStep({
    pending: pending.list(),
    base: pending.base(),
    minimumHosts: options.minimumHosts,
    acceptedHosts: parts.accepted.list().size,
    storedHash: blocks.hashAt,
    isDone: (number) =>
      options.hole === undefined ? blocks.isDone(view, number) : !isMissing(state, view, number),
    doneBelow: (number) => blocks.doneBelow(view, number),
    lowestWanted: lowestWanted(state),
    mayHave: (number) => mayHave(state, view, number),
    signersOf: (from, to) => state.votes.signers(view.id, from, to),
    leftOutSinceMs: (from) => leftOutSinceMs(state, view, from),
    waitsSinceMs: waitsSinceMs(state, view, pending.list()[0]),
    signersAbove: (number) =>
      [...parts.accepted.list()].filter((host) => state.votes.highest(host, view.id) > number),
    storedHead: blocks.head(),
    leftAbove: leftAbove(state),
    evaluate: (block) => evaluateRows(state, view, block),
    nowMs: performance.now(),
    patience: options.patience,
  })
  return options.hole !== undefined && !fitsHole(state, step)
    ? { kind: 'wait', differing: [] }
    : step
}

/** The height up to which a Host has what is stored; what is pruned nobody can say to have given way. */
function leftAbove({ left, blocks }: FollowerState): (host: string) => number {
  const lowestStored = blocks.tail()
  return (host) => Math.max(left.leftAbove(host), lowestStored - 1)
}

/** Accepted Hosts that say themselves that what the next block of a View would stand on gave way. */
export function leaving(state: FollowerState, view: string): readonly string[] {
  const { number } = state.pending.get(view)?.base() ?? { number: -1 }
  const above = leftAbove(state)
  return [...state.parts.accepted.list()].filter((host) => above(host) < number)
}

/** Whether nothing that is stored has to give way for a hole, on either side of it. */
function fitsHole({ blocks }: FollowerState, step: FeedStep): boolean {
  if (step.kind !== 'store') return true
  const top = step.blocks.at(-1)
  const parentAbove = top && blocks.parentAt(top.number + 1)
  return step.removeAbove === null && (parentAbove === undefined || parentAbove === top?.hash)
}

/** Whether a height of the hole has no rows, though the View may have failed there; what was pruned since is not missing. */
function isMissing(state: FollowerState, view: KnownView, number: number): boolean {
  const { hole } = state.options
  const isWithin =
    hole !== undefined && number >= Math.max(hole.from, lowestWanted(state)) && number <= hole.to
  return isWithin && !state.passed.has(number) && !state.blocks.hasRows(view, number)
}

/** The first height of a hole that is to be filled yet; the one above it where none is. */
export function firstMissing(
  state: FollowerState,
  { slot }: KnownView,
  { from, to }: Hole,
): number {
  const lowest = Math.max(from, lowestWanted(state))
  const done = state.blocks.read(({ viewRanges }) => viewRanges(slot))
  const over = uniteHeights([...done, ...toHeightRanges([...state.passed])])
  const [[first] = [to + 1]] = subtractHeights([[lowest, to]], over)
  return first
}

/** The first height that is followed. */
export function lowestWanted({ options, blocks }: FollowerState): number {
  return Math.max(
    options.from,
    blocks.read(({ rowsFrom }) => rowsFrom),
  )
}

/** Whether some Host that counts may have rows of a View at a height or below: it was not heard yet, or did not say otherwise. */
function mayHave({ parts, heard }: FollowerState, { id }: KnownView, number: number): boolean {
  const hasNot = (host: string): boolean => {
    const welcomed = heard.get(host)?.find(({ view }) => view === id)
    if (welcomed === undefined) return false
    return welcomed.state === notServedState || (welcomed.tail !== null && welcomed.tail > number)
  }
  return parts.accepted.awaited() > 0 || ![...parts.accepted.list()].every(hasNot)
}

function leftOutSinceMs({ leftOut }: FollowerState, { id }: KnownView, from: number): number {
  const known = leftOut.get(id)
  if (known?.from === from) return known.sinceMs
  const sinceMs = performance.now()
  leftOut.set(id, { from, sinceMs })
  return sinceMs
}

/** Another Host that sends the same block does not restart its wait. */
function waitsSinceMs(
  { lowest }: FollowerState,
  { id }: KnownView,
  first: PendingBlock | undefined,
): number {
  if (first === undefined) return performance.now()
  const { number, hash, sinceMs } = first
  const known = lowest.get(id)
  if (known?.number === number && known.hash === hash) return known.sinceMs
  lowest.set(id, { number, hash, sinceMs })
  return sinceMs
}

async function store(
  state: FollowerState,
  view: KnownView,
  first: PendingBlock | undefined,
  step: Extract<FeedStep, { kind: 'store' | 'fail' }>,
): Promise<void> {
  const { options, blocks, votes, seals, left, reported, parts } = state
  if (step.kind === 'fail') {
    if (first === undefined) return
    await blocks.putFailure(view, first, failureTexts[step.why])
    if (options.hole !== undefined) state.passed.add(first.number)
    return await addLate(state, [first])
  }
  const said = step.blocks.flatMap(({ number, hash }) =>
    votes.own(number).map((own) => ({ host: own.host, number, isStored: own.hash === hash })),
  )
  const proofs = { seals: seals.take, excerpts: votes.take }
  if (step.removeAbove !== null) reported.removed(step.removeAbove)
  await blocks.put(view, step.blocks, step.removeAbove, proofs)
  if (step.removeAbove !== null) {
    left.removed(step.removeAbove)
    parts.onRemoved(step.removeAbove)
  }
  for (const { host, number, isStored } of said) {
    if (isStored) left.have(host, number)
    else left.haveOther(host, number)
  }
  for (const { number } of step.blocks) parts.onHeight(view, number)
  await addLate(state, step.blocks)
}

/** What came while blocks were being stored, which nobody saw to be stored then. */
async function addLate(
  { blocks, votes, seals, parts }: FollowerState,
  stored: readonly PendingBlock[],
): Promise<void> {
  for (const place of stored) {
    for (const excerpt of votes.take(place.number, place.hash)) await blocks.addStatement(excerpt)
    const late = seals.take(place.hash)
    if (late.length > 0 && (await blocks.addSeals(place, late))) parts.onSealed(place.number)
  }
}

const failureTexts = {
  failed: 'the Host that was followed failed there, and no other signed rows of it',
  disputed:
    'Hosts differ on its rows, so that none can have enough signatures, while they agreed on the next',
} as const

/** What was signed below all that still waits, and may still come, is of no use. */
function forget(state: FollowerState, view: KnownView): void {
  const { pending, votes, seals, options } = state
  const lowest = [...pending.values()].map((each) => each.base()?.number ?? each.list()[0]?.number)
  // A Host that does not have what a hole lacks sends what is above.
  if (options.hole !== undefined) lowest.push(firstMissing(state, view, options.hole))
  const below = Math.min(...lowest.map((number) => number ?? 0))
  votes.forgetBelow(below)
  seals.forgetBelow(below)
}

/** What accepted Hosts say of a block that waits. */
export function evaluateRows(
  { blocks, votes }: FollowerState,
  view: KnownView,
  { number, hash, rows }: PendingBlock,
): RowsVerdict {
  const { root: rowsRoot = '', count = 0 } = rows ?? {}
  const stored = blocks.excerpts(number, hash)
  return votes.evaluate({ view: view.id, number, hash, rowsRoot, count }, stored)
}
