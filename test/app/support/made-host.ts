/**
 * A fake: a Host whose rows are made up, and which lies where a test wants it. Real is what carries it, libp2p with its
 * frames, signatures and proofs; real Hosts are followed in test/e2e/app.
 */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import { encodeHostFrame, type HostFrame, notServedState } from '../../../src/follow/host-frames.ts'
import {
  decodeApplicationFrame,
  type FollowedView,
  type OpenFrame,
} from '../../../src/follow/open-frames.ts'
import { createSigner, type DigestSigner } from '../../../src/identity/signature.ts'
import { proveIdentity } from '../../../src/mesh/identity-proof.ts'
import type { Channel } from '../../../src/p2p/streams/channels.ts'
import { encodeStatementExcerpt, excerptOf } from '../../../src/row-votes/statement-excerpt.ts'
import { openRoom, type TestRoom, testNetwork } from '../../support/p2p-room.ts'
import { signedLeaves } from '../../support/signed-statements.ts'
import { type MadeBlock, type MadeChain, madeView, sdlOf } from './made-chain.ts'

interface MadeHostOptions {
  readonly chain: MadeChain
  /** The Views that it has, each with the rows of the chain. Default `madeView`. */
  readonly views?: readonly string[]
  /** Its Views as it says they are. */
  readonly sdl?: string
  /** What it sends in place of a block. Throws to end the stream. */
  readonly alter?: (block: MadeBlock) => MadeBlock | 'nothing'
  /** What it sends in place of a frame on a stream that was opened so. */
  readonly replace?: (frame: HostFrame, open: OpenFrame) => readonly (HostFrame | Uint8Array)[]
  /** How long it takes for each block. */
  readonly blockMs?: number
  /** The lowest height that it has. */
  readonly tail?: number
  /** Whether it signs what it sends. */
  readonly signs?: (block: MadeBlock) => boolean
  readonly signer?: DigestSigner
}

export interface MadeHost {
  readonly room: TestRoom
  readonly identity: string
  readonly signer: DigestSigner
  /** Streams that were opened with rows, and without. */
  readonly opened: { rows: number; votes: number }
  /** Ends all streams. */
  drop(): void
}

export async function openMadeHost(t: TestContext, options: MadeHostOptions): Promise<MadeHost> {
  const signer = options.signer ?? createSigner({ type: 'Ed25519', privateKey: randomBytes(32) })
  const opened = { rows: 0, votes: 0 }
  const channels = new Set<Channel>()
  const room = await openRoom(t, {
    channels: {
      views: {
        busy: encodeHostFrame({ kind: 'error', error: 'busy', tail: null }),
        serve: async (channel) => {
          channels.add(channel)
          const open = decodeApplicationFrame(await channel.read())
          if (open.kind !== 'open') throw new Error('the first frame opens the stream')
          opened[open.views.some(({ withRows }) => withRows) ? 'rows' : 'votes'] += 1
          await serve(channel, open, { ...options, signer, peerId: room.id })
        },
      },
    },
  })
  return {
    room,
    identity: signer.identity,
    signer,
    opened,
    drop: () => {
      for (const channel of channels) channel.abort(new Error('the Host went away'))
    },
  }
}

interface Serving extends MadeHostOptions {
  readonly signer: DigestSigner
  readonly peerId: string
}

async function serve(channel: Channel, open: OpenFrame, serving: Serving): Promise<void> {
  const { chain, signer, peerId, sdl, views = [madeView] } = serving
  const spend = takeCredit(channel, open.windowBytes)
  const send = async (frame: HostFrame): Promise<void> => {
    for (const each of serving.replace?.(frame, open) ?? [frame]) {
      const [bytes, { kind }] =
        each instanceof Uint8Array ? [each, frame] : [encodeHostFrame(each), each]
      if (kind !== 'welcome' && kind !== 'head') await spend(bytes.length)
      await channel.write(bytes)
    }
  }
  const head = chain.blocks().at(-1)
  await send({
    kind: 'welcome',
    proof: proveIdentity(signer, { network: testNetwork, role: 'host', peerId }),
    genesis: null,
    views: open.views.map(({ view }) =>
      views.includes(view)
        ? {
            ...{ view, name: 'Payment', sdl: sdl ?? sdlOf(view), state: 'live' },
            tail: serving.tail ?? chain.blocks()[0]?.number ?? null,
            head: head?.number ?? null,
          }
        : { view, name: '', sdl: '', tail: null, head: null, state: notServedState },
    ),
  })
  const followed: Followed[] = open.views
    .filter(({ view }) => views.includes(view))
    .map((each) => ({ ...each, last: each.cursor[0] ?? null }))
  while (!channel.ended.aborted) {
    for (const each of followed) await goBack(each, chain, send)
    let isIdle = true
    for (const each of followed) {
      const { last } = each
      if (last !== null && !isOn(chain, last)) {
        isIdle = false
        break
      }
      const lowest = Math.max(open.from, serving.tail ?? 0)
      const above = chain.blocks().find(({ number }) => number > (last?.number ?? lowest - 1))
      if (above === undefined) continue
      isIdle = false
      await sendBlock(above, each, serving, send)
      sentBlocks.set(above.hash, above)
      each.last = above
    }
    if (isIdle) await change(chain, channel)
  }
}

/** A View on a stream, and the newest block that the application has of it. */
interface Followed extends FollowedView {
  last: Place | null
}

/** Everything that was ever sent, to find the way back. */
const sentBlocks = new Map<string, MadeBlock>()

type Place = Pick<MadeBlock, 'number' | 'hash'>

function isOn(chain: MadeChain, { number, hash }: Place): boolean {
  return chain.blocks().some((block) => block.number === number && block.hash === hash)
}

function* sent(from: Place): Generator<Place> {
  let at: Place | undefined = from
  while (at !== undefined) {
    yield at
    const block: MadeBlock | undefined = sentBlocks.get(at.hash)
    at = block && { number: block.number - 1, hash: block.parent }
  }
}

/** Says what gave way of a View, where its newest block did. */
async function goBack(
  followed: Followed,
  chain: MadeChain,
  send: (frame: HostFrame) => Promise<void>,
): Promise<void> {
  const { view, cursor, last } = followed
  if (last === null || isOn(chain, last)) return
  const places = last === cursor[0] ? cursor : [...sent(last)]
  const place = places.find((each) => isOn(chain, each)) ?? null
  followed.last = place && { number: place.number, hash: place.hash }
  await send({ kind: 'retract', view, place: followed.last })
}

async function sendBlock(
  given: MadeBlock,
  { view, withRows }: FollowedView,
  { alter, signs, signer, blockMs }: Serving,
  send: (frame: HostFrame) => Promise<void>,
): Promise<void> {
  if (blockMs !== undefined) await delay(blockMs)
  const block = alter?.(given) ?? given
  if (block === 'nothing') return
  const { rows, number, hash, parent } = block
  const place = { view, number, hash, parent }
  if (withRows && rows === null) await send({ kind: 'failed', ...place })
  if (withRows && rows !== null) {
    const { count, bytes } = rows
    const parts = Math.max(1, Math.ceil(bytes.length / followLimits.partBytes))
    for (let part = 0; part < parts; part++) {
      const start = part * followLimits.partBytes
      const piece = bytes.subarray(start, start + followLimits.partBytes)
      await send({ kind: 'rows', ...place, count, part, last: part === parts - 1, bytes: piece })
    }
  }
  if (rows === null || signs?.(block) === false) return
  await send({ kind: 'statement', excerpt: madeExcerpt(block, signer, view) })
}

/** What a Host signs of a made-up block. */
export function madeExcerpt(
  { number, hash, rows }: MadeBlock,
  signer: DigestSigner,
  view: string = madeView,
): Uint8Array {
  const leaf = { view, rowsRoot: rows?.root ?? '', count: rows?.count ?? 0 }
  const statement = signedLeaves(number, hash, [leaf], { signer, network: testNetwork })
  const excerpt = excerptOf(statement, new Set([view]))
  if (excerpt === null) throw new Error('a statement has its leaf')
  return encodeStatementExcerpt(excerpt)
}

async function change(chain: MadeChain, channel: Channel): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = chain.onChange(() => {
      stop()
      resolve()
    })
    channel.ended.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Takes the credit that comes; the function that it returns waits until there is some, and spends it. */
function takeCredit(channel: Channel, windowBytes: number): (bytes: number) => Promise<void> {
  let left = windowBytes
  let changed = Promise.withResolvers<void>()
  const take = async (): Promise<void> => {
    while (!channel.ended.aborted) {
      const frame = decodeApplicationFrame(await channel.read(null))
      if (frame.kind === 'credit') left += frame.bytes
      changed.resolve()
      changed = Promise.withResolvers()
    }
  }
  take().catch(() => {
    left = Infinity
    changed.resolve()
  })
  return async (bytes) => {
    while (left <= 0) await changed.promise
    left -= bytes
  }
}
