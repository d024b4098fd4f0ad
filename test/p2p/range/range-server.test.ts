/** What a server of blocks sends for how much credit, and how many streams a peer may have. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { LengthPrefixedStream } from '@libp2p/utils'
import type { P2pLimits } from '../../../src/p2p/limits/limits.ts'
import {
  decodeServerFrame,
  encodeClientFrame,
  encodeServerFrame,
  type ServerFrame,
} from '../../../src/p2p/range/range-frames.ts'
import { firstHeights } from '../../../src/p2p/range/range-server.ts'
import { openRoom, type TestRoom, until } from '../../support/p2p-room.ts'
import { openRawPeer, type RawPeer } from '../../support/raw-peer.ts'

const maxWindowBytes = 16 * 1024 * 1024
const block = new Uint8Array(1_000)
/** Bytes of the one frame in which the block is. */
const frameBytes = encodeServerFrame({
  ...{ kind: 'block', height: 0, blockBytes: block.length, bytes: block },
}).length

/** A server with so many blocks, and a peer that nobody bans. */
async function open(
  t: TestContext,
  blocks: readonly Uint8Array[],
  limits: Partial<P2pLimits> = {},
): Promise<{ room: TestRoom; peer: RawPeer; faults(fault: string): Promise<number> }> {
  const unlimited = { configured: 2 ** 40, address: 2 ** 40, strangers: 2 ** 40 }
  const noBans = { banScore: -1e9, addressBanScore: -1e9 }
  const room = await openRoom(t, { limits: { rangeBytes: unlimited, ...noBans, ...limits } })
  for (const [height, bytes] of blocks.entries()) room.blocks.set(height, Buffer.from(bytes))
  const faults = (fault: string): Promise<number> =>
    room.metric('viewmesh_p2p_faults_total', { fault })
  return { room, peer: await openRawPeer(t), faults }
}

/** Asks for everything with so many bytes of credit. */
async function ask(
  peer: RawPeer,
  { address }: TestRoom,
  windowBytes: number,
): Promise<LengthPrefixedStream> {
  const frames = await peer.range(address)
  const request = { kind: 'request', from: 0, to: 1_000, windowBytes, status: null } as const
  await frames.write(encodeClientFrame(request))
  assert.equal((await next(frames)).kind, 'status')
  return frames
}

async function next(frames: LengthPrefixedStream): Promise<ServerFrame> {
  const bytes = await frames.read({ signal: AbortSignal.timeout(60_000) })
  return decodeServerFrame(bytes.subarray())
}

const credit = (bytes: number): Uint8Array => encodeClientFrame({ kind: 'credit', bytes })

test('of heights the first ones are taken, as many as are asked for', () => {
  assert.deepEqual(firstHeights([3, 5, 8], 2), [3, 5])
  assert.deepEqual(firstHeights([3, 5], 2), [3, 5])
  assert.deepEqual(firstHeights([3], 2), [3])
})

test('a block is sent for exactly the credit that its frame takes, and counted', async (t) => {
  const { room, peer } = await open(t, [block, block])
  const frames = await ask(peer, room, frameBytes)
  assert.equal((await next(frames)).kind, 'block')
  await frames.write(credit(frameBytes - 1))
  await frames.write(credit(1))
  assert.equal((await next(frames)).kind, 'block')
  assert.deepEqual(await next(frames), { kind: 'end', blocks: 2 })
  const direction = { direction: 'sent' }
  assert.equal(await room.metric('viewmesh_p2p_range_blocks_total', direction), 2)
  assert.equal(await room.metric('viewmesh_p2p_range_bytes_total', direction), 2_000)
  await until(async () => (await room.metric('viewmesh_p2p_range_streams')) === 0)
})

test('nothing is sent for less, and credit of no byte is a fault', async (t) => {
  const { room, peer, faults } = await open(t, [block])
  const frames = await ask(peer, room, frameBytes - 1)
  await frames.write(credit(0))
  await assert.rejects(next(frames))
  await until(async () => (await faults('protocol violation')) === 1)
  assert.equal(await room.metric('viewmesh_p2p_range_blocks_total', { direction: 'sent' }), 0)
})

test('a request in the place of credit is a fault', async (t) => {
  const { room, peer, faults } = await open(t, [block])
  const frames = await ask(peer, room, 0)
  const again = { kind: 'request', from: 0, to: 9, windowBytes: 1_000_000, status: null } as const
  await frames.write(encodeClientFrame(again))
  await assert.rejects(next(frames))
  await until(async () => (await faults('protocol violation')) === 1)
})

test('credit goes up to 16 MiB; one byte more is a fault', async (t) => {
  const { room, peer, faults } = await open(t, [block])
  const frames = await ask(peer, room, 0)
  await frames.write(credit(maxWindowBytes))
  assert.equal((await next(frames)).kind, 'block')
  assert.deepEqual(await next(frames), { kind: 'end', blocks: 1 })
  assert.equal(await faults('protocol violation'), 0)
  const greedy = await ask(peer, room, 1)
  await greedy.write(credit(maxWindowBytes))
  await assert.rejects(next(greedy))
  await until(async () => (await faults('protocol violation')) === 1)
})

test('a request with more credit than 16 MiB has 16 MiB', async (t) => {
  const mebibyte = new Uint8Array(1024 * 1024)
  const { room, peer, faults } = await open(t, Array<Uint8Array>(20).fill(mebibyte))
  const frames = await ask(peer, room, 2 ** 32 - 1)
  await frames.write(credit(0))
  const kinds = new Set<string>()
  await assert.rejects(async () => {
    for (;;) kinds.add((await next(frames)).kind)
  })
  assert.ok(!kinds.has('end'))
  await until(async () => (await faults('protocol violation')) === 1)
})

test('a peer has as many streams at a time as it may; one more is refused and a fault', async (t) => {
  const { room, peer, faults } = await open(t, [block], { streamsPerPeer: 2 })
  const [first] = [await ask(peer, room, 0), await ask(peer, room, 0)]
  assert.equal(await faults('too many streams'), 0)
  await assert.rejects(ask(peer, room, 0))
  await until(async () => (await faults('too many streams')) === 1)
  first.unwrap().abort(new Error('it leaves'))
  await until(async () => (await room.metric('viewmesh_p2p_range_streams')) === 1)
  await ask(peer, room, 0)
  assert.equal(await faults('too many streams'), 1)
  await assert.rejects(ask(peer, room, 0))
  await until(async () => (await faults('too many streams')) === 2)
})
