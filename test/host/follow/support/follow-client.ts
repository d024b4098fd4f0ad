/** An application that follows Views frame by frame and believes nothing: it checks order, parents, roots and signatures. */
import assert from 'node:assert/strict'
import { followLimits } from '../../../../src/follow/follow-limits.ts'
import {
  decodeHostFrame,
  type HostFrame,
  type RowsFrame,
  type WelcomedView,
} from '../../../../src/follow/host-frames.ts'
import {
  encodeApplicationFrame,
  type FollowedBlock,
  type OpenFrame,
} from '../../../../src/follow/open-frames.ts'
import { isValidSignature } from '../../../../src/identity/signature.ts'
import type { Channel } from '../../../../src/p2p/streams/channels.ts'
import { unpackChunk } from '../../../../src/primitives/body/chunk.ts'
import { merkleRoot } from '../../../../src/primitives/merkle.ts'
import { rowsDigest } from '../../../../src/row-votes/row-statement.ts'
import { decodeStatementExcerpt } from '../../../../src/row-votes/statement-excerpt.ts'
import { verifyLeaf } from '../../../../src/row-votes/view-leaf.ts'
import { readRowDirectory } from '../../../../src/views/rows/rows.ts'
import type { TestRoom } from '../../../support/p2p-room.ts'

/** What it has of a View of a block. */
export interface FollowedRows {
  readonly hash: string
  /** Null where the View failed at the Host. */
  readonly count: number | null
  readonly root: string | null
}

export interface FollowClient {
  readonly channel: Channel
  readonly views: WelcomedView[]
  /** All frames that came, but for the bytes of rows. */
  readonly frames: HostFrame[]
  /** What it has of each View, by height. */
  readonly rows: ReadonlyMap<string, Map<number, FollowedRows>>
  /** Who signed the root of rows: `<View> <height> <hash> <rows root>`. */
  readonly votes: ReadonlyMap<string, Set<string>>
  /** Who sealed a block: `<height> <hash>`. */
  readonly seals: ReadonlyMap<string, Set<string>>
  /** The identities of those that signed what it has of a View at a height. */
  signersOf(view: string, height: number): string[]
  /** Bytes of all frames that took credit. */
  costs(): number
  credit(bytes: number): Promise<void>
  /** The next frame, after it was checked. */
  next(): Promise<HostFrame>
  /** Reads until something holds; fails where the Host ends the stream first. */
  until(isSo: () => boolean): Promise<void>
  /** Reads until the Host ends the stream. */
  untilError(): Promise<Extract<HostFrame, { kind: 'error' }>>
  leave(): void
}

interface FollowOptions extends Partial<Omit<OpenFrame, 'kind' | 'views'>> {
  readonly views: readonly { readonly id: string; readonly cursor?: readonly FollowedBlock[] }[]
  /** Default true. */
  readonly withRows?: boolean
  /** Whether what was read is given as credit again. Default true. */
  readonly grants?: boolean
}

interface State {
  readonly client: Pick<FollowClient, 'views' | 'frames'>
  readonly rows: Map<string, Map<number, FollowedRows>>
  readonly votes: Map<string, Set<string>>
  readonly seals: Map<string, Set<string>>
  readonly last: Map<string, FollowedBlock>
  readonly parts: Map<string, RowsFrame[]>
}

/** Opens a stream to a connected Host. */
export async function openFollowClient(
  from: TestRoom,
  host: string,
  { views, grants = true, withRows = true, ...options }: FollowOptions,
): Promise<FollowClient> {
  const windowBytes = options.windowBytes ?? 1024 * 1024
  const signal = AbortSignal.timeout(120_000)
  const channel = await from.p2p.openChannel(host, 'views', { windowBytes }, signal)
  const open = { from: 0, windowBytes, ...options }
  const followed = views.map(({ id, cursor = [] }) => ({ view: id, cursor, withRows }))
  await channel.write(encodeApplicationFrame({ kind: 'open', views: followed, ...open }))
  const state: State = {
    client: { views: [], frames: [] },
    rows: new Map(views.map(({ id }) => [id, new Map()])),
    votes: new Map(),
    seals: new Map(),
    last: new Map(views.flatMap(({ id, cursor: [newest] = [] }) => (newest ? [[id, newest]] : []))),
    parts: new Map(),
  }
  const credit = (bytes: number): Promise<void> =>
    channel.write(encodeApplicationFrame({ kind: 'credit', bytes }))
  let costs = 0
  const next = async (): Promise<HostFrame> => {
    const bytes = await channel.read(60_000)
    const frame = decodeHostFrame(bytes)
    take(state, frame)
    const isFree = ['welcome', 'head', 'error'].includes(frame.kind)
    if (!isFree) costs += bytes.length
    if (grants && !isFree) await credit(bytes.length)
    return frame
  }
  return {
    ...state.client,
    channel,
    rows: state.rows,
    votes: state.votes,
    seals: state.seals,
    signersOf: (view, height) => {
      const found = state.rows.get(view)?.get(height)
      return [...(state.votes.get(`${view} ${height} ${found?.hash} ${found?.root}`) ?? [])]
    },
    costs: () => costs,
    credit,
    next,
    until: async (isSo) => {
      while (!isSo()) {
        const frame = await next()
        assert.notEqual(frame.kind, 'error', JSON.stringify(frame))
      }
    },
    untilError: async () => {
      for (;;) {
        const frame = await next()
        if (frame.kind === 'error') return frame
      }
    },
    leave: () => channel.abort(new Error('the application leaves')),
  }
}

function take(state: State, frame: HostFrame): void {
  const { frames, views } = state.client
  if (frames[0]?.kind !== 'error')
    assert.equal((frames[0] ?? frame).kind === 'welcome' || frame.kind === 'error', true)
  frames.push(frame.kind === 'rows' ? { ...frame, bytes: new Uint8Array(0) } : frame)
  switch (frame.kind) {
    case 'welcome':
      views.push(...frame.views)
      break
    case 'rows':
      takeRows(state, frame)
      break
    case 'failed':
      takeBlock(state, frame, { hash: frame.hash, count: null, root: null })
      break
    case 'statement':
      takeExcerpt(state, frame.excerpt)
      break
    case 'votes':
      assert.ok(frame.excerpts.length > 0 && frame.excerpts.length <= followLimits.votes)
      for (const excerpt of frame.excerpts) takeExcerpt(state, excerpt)
      break
    case 'seals': {
      const key = `${frame.number} ${frame.hash}`
      const known = state.seals.get(key) ?? new Set()
      for (const { signatureIdentity } of frame.seals) known.add(signatureIdentity)
      state.seals.set(key, known)
      break
    }
    case 'retract':
      retract(state, frame.view, frame.place)
      break
  }
}

function takeRows(state: State, frame: RowsFrame): void {
  const parts = state.parts.get(frame.view) ?? []
  assert.equal(frame.part, parts.length, 'parts come in order')
  for (const { number, hash, count } of parts)
    assert.deepEqual(
      { number, hash, count },
      { number: frame.number, hash: frame.hash, count: frame.count },
    )
  parts.push(frame)
  state.parts.set(frame.view, frame.last ? [] : parts)
  if (!frame.last) return
  const rows = rowsOf(Buffer.concat(parts.map(({ bytes }) => bytes)))
  assert.equal(rows.length, frame.count)
  const root = Buffer.from(merkleRoot(rows)).toString('hex')
  takeBlock(state, frame, { hash: frame.hash, count: frame.count, root })
}

/** The bytes of each row. */
function rowsOf(packed: Uint8Array): Uint8Array[] {
  if (packed.length === 0) return []
  const directory = readRowDirectory(packed) ?? assert.fail('the rows are unreadable')
  return directory.chunks.flatMap((entry) => {
    const chunk = unpackChunk(packed, entry)
    return Array.from({ length: chunk.length }, (_, index) => chunk.values(chunk.first + index))
  })
}

function takeBlock(
  state: State,
  { view, number, hash, parent }: Pick<RowsFrame, 'view' | 'number' | 'hash' | 'parent'>,
  rows: FollowedRows,
): void {
  const last = state.last.get(view)
  if (last !== undefined) assert.ok(number > last.number, 'blocks come in order')
  if (last?.number === number - 1) assert.equal(parent, last.hash, 'a block stands on the last one')
  state.last.set(view, { number, hash })
  state.rows.get(view)?.set(number, rows)
}

function retract(state: State, view: string, place: FollowedBlock | null): void {
  const rows = state.rows.get(view) ?? assert.fail('a View that is followed')
  for (const height of rows.keys()) if (height > (place?.number ?? -1)) rows.delete(height)
  state.parts.delete(view)
  if (place === null) state.last.delete(view)
  else state.last.set(view, place)
}

function takeExcerpt({ votes, rows }: State, bytes: Uint8Array): void {
  const excerpt = decodeStatementExcerpt(bytes)
  const { signatureType, signatureIdentity, signatureValue, blockNumber, blockHash } = excerpt
  const digest = rowsDigest(excerpt)
  assert.ok(isValidSignature(signatureType, signatureIdentity, digest, signatureValue))
  for (const proof of excerpt.proofs) {
    assert.ok(verifyLeaf(proof, excerpt.root), 'a leaf has its path')
    const { view, rowsRoot } = proof.leaf
    assert.ok(rows.has(view), 'only Views that are followed')
    const key = `${view} ${blockNumber} ${blockHash} ${rowsRoot}`
    votes.set(key, (votes.get(key) ?? new Set()).add(signatureIdentity))
  }
}
