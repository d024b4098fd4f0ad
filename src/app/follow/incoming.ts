/** What streams of Hosts bring: checked, and kept until it can be stored. */
import { ServiceError } from '../../errors.ts'
import { notServedState } from '../../follow/host-frames.ts'
import type { FollowedBlock, FollowedView } from '../../follow/open-frames.ts'
import type { Seal } from '../../primitives/seal.ts'
import { malformedMessage } from '../../primitives/wire.ts'
import type { StatementExcerpt } from '../../row-votes/statement-excerpt.ts'
import { readReceivedRows } from '../../views/rows/received-rows.ts'
import { readExcerpt } from './excerpt-check.ts'
import { type FollowerState, noteChange, type StreamSource, untilChanged } from './follow-state.ts'
import type { ReceivedBlock, StreamListener, Welcome } from './host-stream.ts'
import { createPendingBlocks, type PendingBlocks } from './pending-blocks.ts'
import { says } from './pending-votes.ts'
import { wake } from './storing.ts'

const defaultPendingBytes: number = 4 * 1024 * 1024
/** Fewer than heights whose votes are kept, so that no vote about one of them is lost. */
const maxPendingBlocks = 2_048

/** Takes what a stream brings that was opened with these; for the Views that it feeds it replaces the one before. */
export function listen(
  state: FollowerState,
  source: StreamSource,
  opened: readonly FollowedView[],
): StreamListener {
  for (const { view, cursor, withRows } of opened) {
    if (!withRows) continue
    state.feeds.set(view, source)
    state.differing.delete(view)
    state.pending.set(view, createPendingBlocks(cursor[0] ?? null))
  }
  let identity = ''
  source.signal.addEventListener('abort', () => noteChange(state))
  return {
    onWelcome: async (welcome) => {
      identity = welcome.identity
      await onWelcome(state, source, welcome)
    },
    onBlock: async (block) => {
      if (!opened.some(({ view, withRows }) => withRows && view === block.view))
        throw malformedMessage('rows that were not asked for')
      noteSaid(state, identity, block)
      await onBlock(state, source, block)
    },
    onStatement: async (bytes) => {
      await takeExcerpt(state, source, bytes, identity)
      source.onProgress()
    },
    onVotes: async (excerpts) => {
      for (const bytes of excerpts) await takeExcerpt(state, source, bytes, null)
    },
    onSeals: (place, seals) => takeSeals(state, place, seals),
    onRetract: (view, place) => {
      if (!opened.some((each) => each.view === view))
        throw malformedMessage('a View that was not asked for')
      onLeft(state, identity, place?.number ?? null)
      if (state.feeds.get(view) === source) onRetract(state, view, place)
    },
    onHead: source.onHead,
  }
}

async function onWelcome(
  state: FollowerState,
  source: StreamSource,
  welcome: Welcome,
): Promise<void> {
  const { accepted, views, log } = state.parts
  const { identity, genesis } = welcome
  if (!accepted.prove(source.peer, identity))
    throw malformedMessage('it proves to be another Host than before')
  source.onWelcome(welcome)
  state.reported.prove(source.peer, identity, state.blocks.head())
  if (!accepted.isAccepted(identity)) return
  state.heard.set(identity, welcome.views)
  state.left.forget(identity)
  state.votes.forgetOf(identity, Math.min(...welcome.views.map(({ tail }) => tail ?? 0)))
  if (genesis !== null) await believeGenesis(state, identity, genesis)
  for (const { view, sdl, state: how } of welcome.views) {
    if (how === notServedState) continue
    try {
      await views.hear(identity, view, sdl)
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.code.startsWith('VIEWS_')) throw error
      log.warn({ err: error, peer: source.peer, view }, 'a Host has an SDL that no View has')
    }
  }
  wake(state)
}

/** A store is of the chain that enough Hosts named first. */
async function believeGenesis(
  { parts, options, genesis: named }: FollowerState,
  host: string,
  genesis: string,
): Promise<void> {
  const known = parts.store.genesisHash()
  if (known !== null && known !== genesis) throw malformedMessage('it is of another chain')
  named.set(host, genesis)
  const agreeing = [...named.values()].filter((each) => each === genesis).length
  if (known === null && agreeing >= options.minimumHosts) await parts.store.adoptGenesis(genesis)
}

async function onBlock(
  state: FollowerState,
  source: StreamSource,
  block: ReceivedBlock,
): Promise<void> {
  const { parts } = state
  const isFeeding = (): boolean =>
    state.feeds.get(block.view) === source && !source.signal.aborted && !state.isClosed
  const pending = state.pending.get(block.view)
  const view = parts.views.find(block.view)
  if (pending === undefined || view === undefined || !isFeeding()) return
  const rows =
    block.rows &&
    (await parts.slices.run(
      readReceivedRows(view.rowType, block.rows.count, block.rows.bytes),
      isFeeding,
    ))
  if (rows === undefined) return
  const { number, hash, parent } = block
  if (!pending.add({ number, hash, parent, rows, sinceMs: performance.now() }))
    throw malformedMessage('a block that does not stand on the one before')
  source.onProgress()
  wake(state)
  await untilChanged(state, source, () => !isFeeding() || hasRoom(state, block.view))
}

/** Whether more blocks of a View are taken. What others wait with takes no View its part of the memory. */
export function hasRoom(state: FollowerState, view: string): boolean {
  const { options, parts } = state
  const pending = state.pending.get(view)
  if (pending === undefined) return true
  if (pending.list().length >= maxPendingBlocks) return false
  const { maxPendingBytes = defaultPendingBytes } = options
  return (
    pendingBytes(state) <= maxPendingBytes ||
    pending.bytes() <= maxPendingBytes / parts.views.ids.length
  )
}

function pendingBytes({ pending }: FollowerState): number {
  return [...pending.values()].reduce((sum, each) => sum + each.bytes(), 0)
}

/** A Host says itself what gave way. */
function onLeft(
  { parts, votes, left, blocks }: FollowerState,
  host: string,
  above: number | null,
): void {
  votes.retract(host, above)
  if (parts.accepted.isAccepted(host)) left.leave(host, above ?? -1, blocks.head())
}

/** A Host says itself that it has a block, which may be the one that is stored. */
function noteSaid(
  { left, blocks }: FollowerState,
  host: string,
  { number, hash }: FollowedBlock,
): void {
  const stored = blocks.hashAt(number)
  if (stored === undefined) return
  if (stored === hash) left.have(host, number)
  else left.haveOther(host, number)
}

function onRetract(state: FollowerState, view: string, place: FollowedBlock | null): void {
  const pending = state.pending.get(view)
  if (pending === undefined) return
  if (place !== null && !isOurs(state, pending, place))
    throw malformedMessage('a block to go back to that was never here')
  pending.retract(place)
  noteChange(state)
}

function isOurs({ blocks }: FollowerState, pending: PendingBlocks, place: FollowedBlock): boolean {
  const isPlace = ({ number, hash }: FollowedBlock): boolean =>
    number === place.number && hash === place.hash
  const isBelow = place.number < blocks.read(({ rowsFrom }) => rowsFrom)
  return isBelow || blocks.hashAt(place.number) === place.hash || pending.list().some(isPlace)
}

/** `host` is the Host whose own stream brought it; null where another one passed it on. */
async function takeExcerpt(
  state: FollowerState,
  source: StreamSource,
  bytes: Uint8Array,
  host: string | null,
): Promise<void> {
  const { options, parts, blocks, votes } = state
  const excerpt = readExcerpt(bytes, {
    network: options.network,
    views: parts.views.ids,
    isAccepted: parts.accepted.isAccepted,
    isKnown: (each) => {
      const isDirect = each.signatureIdentity === host
      const { blockNumber: number, blockHash: hash } = each
      if (isDirect) noteSaid(state, host, { number, hash })
      return (
        votes.isKnown(each, isDirect) ||
        blocks.excerpts(number, hash).some((stored) => says(stored, each))
      )
    },
  })
  if (excerpt === 'forged') throw malformedMessage('a signature is not valid')
  if (excerpt !== 'ignored') {
    const isDirect = excerpt.signatureIdentity === host
    if (host !== null && !isDirect) throw malformedMessage('a statement is of another Host')
    if (isDirect) await takeOwn(state, source, excerpt)
    else if (!(await blocks.addStatement(excerpt)) && isAwaited(state, excerpt.blockNumber))
      votes.add(excerpt, false)
  }
  wake(state)
}

/** What a Host says itself may be about blocks that come later, of which it says no more than there is room for. */
async function takeOwn(
  state: FollowerState,
  source: StreamSource,
  excerpt: StatementExcerpt,
): Promise<void> {
  const { blocks, votes } = state
  while (!(await blocks.addStatement(excerpt)) && !votes.add(excerpt, true)) {
    const hasRoom = (): boolean => votes.hasRoom(excerpt.signatureIdentity)
    if (!(await untilChanged(state, source, hasRoom))) return
  }
}

/** Whether rows of a height wait: only then is what others pass on of it of use. */
function isAwaited({ pending }: FollowerState, number: number): boolean {
  return [...pending.values()].some((each) => each.has(number))
}

async function takeSeals(
  state: FollowerState,
  place: FollowedBlock,
  seals: readonly Seal[],
): Promise<void> {
  const known = state.blocks.sealers(place)
  const fresh = seals.filter(({ signatureIdentity }) => !known.has(signatureIdentity))
  const accepted = state.seals.accepted(place, fresh)
  if (accepted.length === 0) return
  const isStored = await state.parts.inTurn(() => state.blocks.addSeals(place, accepted))
  if (isStored) state.parts.onSealed(place.number)
  else state.seals.add(place, accepted)
}
