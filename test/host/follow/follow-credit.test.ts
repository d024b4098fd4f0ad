/** How much a follower is sent, and what those get that ask for too much, too little, or for nothing that makes sense. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import {
  type ApplicationFrame,
  encodeApplicationFrame,
  type OpenFrame,
} from '../../../src/follow/open-frames.ts'
import { channelProtocol } from '../../../src/p2p/streams/channels.ts'
import { testNetwork, until } from '../../support/p2p-room.ts'
import { lengthPrefixed, openRawPeer } from '../../support/raw-peer.ts'
import { viewBlock } from '../../support/view-rows.ts'
import { engineChain } from '../views/engine/support/engine-room.ts'
import { heights, kinds, logs, stored, trustRows } from './support/follow-checks.ts'
import { type FollowRoom, openFollowRoom } from './support/follow-room.ts'

const view = logs(1)
const noBans = { banScore: -1e9, addressBanScore: -1e9 }
const protocol = channelProtocol(testNetwork, 'views')
const windowBytes = followLimits.windowBytes

const openFrame = (more: Partial<OpenFrame> = {}): OpenFrame => ({
  kind: 'open',
  views: [{ view: view.id, cursor: [], withRows: true }],
  from: 100,
  windowBytes,
  ...more,
})

/** A Host with rows of some blocks, which nobody computes or signs. */
async function withRows(
  t: TestContext,
  count: number,
  setup: Parameters<typeof openFollowRoom>[1] = {},
  rowBytes = 100,
): Promise<FollowRoom> {
  const room = await openFollowRoom(t, setup)
  const chain = engineChain(count)
  await room.put(chain)
  await trustRows(room.store, view)
  for (const { header } of chain) {
    const rows = heights(8).map(() => ({ name: randomBytes(rowBytes).toString('base64url') }))
    await room.store.putViewRows(view.slot, [viewBlock(header, rows)])
  }
  room.expect(view)
  return room
}

const faults = (room: FollowRoom, fault: string): Promise<number> =>
  room.server.metric('viewmesh_p2p_faults_total', { fault })

describe('credit', () => {
  it('is spent by frames; without any only the head comes', async (t) => {
    const room = await withRows(t, 3, { times: { headMs: 20, checkMs: 3_600_000 } })
    const client = await room.follow({ views: [view], from: 100, windowBytes: 1, grants: false })
    const heads = (): number => client.frames.filter(({ kind }) => kind === 'head').length
    const afterHeads = async (count: number): Promise<string[]> => {
      const before = heads()
      await client.until(() => heads() > before + count)
      return kinds(client)
    }
    assert.deepEqual(await afterHeads(3), ['welcome', 'seals'])
    await client.credit(client.costs() - 1)
    assert.deepEqual(await afterHeads(3), ['welcome', 'seals'])
    await client.credit(1)
    assert.deepEqual(await afterHeads(3), ['welcome', 'seals', 'rows'])
  })

  it('sends what waits for it when it comes, whatever else happens', async (t) => {
    const [headMs, checkMs, slowMs] = [3_600_000, 3_600_000, 3_600_000]
    const room = await withRows(t, 3, { times: { headMs, checkMs, slowMs } })
    const client = await room.follow({ views: [view], from: 100, windowBytes: 1, grants: false })
    await client.until(() => kinds(client).includes('seals'))
    await client.credit(client.costs())
    await client.until(() => kinds(client).includes('rows'))
  })

  it('may be outstanding up to the window, and one byte more ends the stream', async (t) => {
    const room = await openFollowRoom(t, { limits: noBans, times: { headMs: 20 } })
    room.expect(view)
    await room.put(engineChain(1))
    const client = await room.follow({ views: [view], windowBytes: windowBytes - 1, grants: false })
    await client.credit(1)
    for (let count = 0; count < 3; count++) await client.next()
    assert.equal(await faults(room, 'protocol violation'), 0)
    await client.credit(1)
    await assert.rejects(client.untilError(), { code: 'P2P_CHANNEL_FAILED' })
    assert.equal(await faults(room, 'protocol violation'), 1)
    assert.equal(await room.metric('viewmesh_host_follow_ended_total', { reason: 'fault' }), 1)
  })

  it('that does not come while something waits ends the stream in time', async (t) => {
    const room = await withRows(t, 3, { times: { slowMs: 100 } })
    const client = await room.follow({ views: [view], from: 100, windowBytes: 1, grants: false })
    assert.deepEqual(await client.untilError(), { kind: 'error', error: 'slow', tail: null })
    assert.deepEqual(kinds(client), ['welcome', 'seals', 'error'])
    const cursor = { views: [view], from: 100 }
    const again = await room.follow(cursor)
    await again.until(() => again.rows.get(view.id)?.size === 3)
    assert.equal(await room.metric('viewmesh_host_follow_ended_total', { reason: 'slow' }), 1)
  })

  it('of which there is none at all ends the stream in time as well', async (t) => {
    const room = await withRows(t, 1, { times: { slowMs: 100 } })
    const client = await room.follow({ views: [view], from: 100, windowBytes: 0, grants: false })
    assert.deepEqual(await client.untilError(), { kind: 'error', error: 'slow', tail: null })
    assert.deepEqual(kinds(client), ['welcome', 'error'])
  })

  it('need not come while nothing waits', async (t) => {
    const room = await openFollowRoom(t, { times: { slowMs: 50, headMs: 20, checkMs: 10 } })
    room.expect(view)
    await room.put(engineChain(1))
    const client = await room.follow({ views: [view], from: 100, windowBytes: 0, grants: false })
    await client.until(() => client.frames.length >= 10)
    assert.deepEqual(kinds(client), ['welcome'])
  })
})

describe('a follower that never reads', () => {
  it('costs another one nothing, and is ended', async (t) => {
    const room = await withRows(t, 24, { limits: { ...noBans, stallMs: 2_000 } }, 60_000)
    const deaf = await openRawPeer(t)
    const streams = [1, 2, 3].map(() => deaf.open(room.server.address, protocol))
    for (const stream of await Promise.all(streams)) {
      stream.pause()
      stream.send(lengthPrefixed(encodeApplicationFrame(openFrame())))
    }
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => client.rows.get(view.id)?.size === 24)
    assert.deepEqual(client.rows.get(view.id), stored(room, view))
    await until(async () => (await faults(room, 'stalled reader')) === 3)
    await until(() => room.followers.count() === 1)
  })
})

describe('a stranger', () => {
  it('gets as many streams as its address may have, then busy', async (t) => {
    const channelStreams = { configured: 8, address: 2, strangers: 64 }
    const room = await openFollowRoom(t, { limits: { channelStreams } })
    room.expect(view)
    const held = await Promise.all([1, 2].map(() => room.follow({ views: [view] })))
    for (const client of held) assert.equal((await client.next()).kind, 'welcome')
    const third = await room.follow({ views: [view] })
    assert.deepEqual(await third.next(), { kind: 'error', error: 'busy', tail: null })
    held[0]?.leave()
    await until(() => room.followers.count() === 1)
    const fourth = await room.follow({ views: [view] })
    assert.equal((await fourth.next()).kind, 'welcome')
    assert.equal(await room.metric('viewmesh_host_follow_ended_total', { reason: 'left' }), 1)
  })

  const strange: Readonly<Record<string, { frames: Uint8Array[]; fault: string }>> = {
    'garbage instead of open': { frames: [randomBytes(100)], fault: 'malformed frame' },
    'nothing but an empty frame': { frames: [new Uint8Array(0)], fault: 'malformed frame' },
    'credit instead of open': {
      frames: [encodeApplicationFrame({ kind: 'credit', bytes: 1 })],
      fault: 'protocol violation',
    },
    'open twice': {
      frames: [encodeApplicationFrame(openFrame()), encodeApplicationFrame(openFrame())],
      fault: 'protocol violation',
    },
    'garbage instead of credit': {
      frames: [encodeApplicationFrame(openFrame()), randomBytes(100)],
      fault: 'malformed frame',
    },
  }
  for (const [what, { frames, fault }] of Object.entries(strange)) {
    it(`that sends ${what} is blamed`, async (t) => {
      const room = await openFollowRoom(t)
      room.expect(view)
      const raw = await openRawPeer(t)
      const stream = await raw.open(room.server.address, protocol)
      for (const frame of frames) stream.send(lengthPrefixed(frame))
      await until(async () => (await faults(room, fault)) === 1)
      await until(() => room.followers.count() === 0)
      assert.equal(await room.metric('viewmesh_host_follow_ended_total', { reason: 'fault' }), 1)
    })
  }

  it('that opens a thousand streams gets a few, and others are served', async (t) => {
    const room = await withRows(t, 5)
    const raw = await openRawPeer(t, { from: '127.0.0.2' })
    const open = lengthPrefixed(encodeApplicationFrame(openFrame({ windowBytes: 0 })))
    await raw.dial(room.server.address)
    const openSome = (): Promise<unknown> =>
      Promise.allSettled(
        heights(20).map(async () => (await raw.open(room.server.address, protocol)).send(open)),
      )
    const opening = (async () => {
      for (let opened = 0; opened < 1_000; opened += 20) await openSome()
    })()
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => client.rows.get(view.id)?.size === 5)
    await opening
    const strangers = room.followers.count() - 1
    assert.ok(strangers <= 8, `${strangers} of its streams are served`)
    const late = await room.follow({ views: [view], from: 100 })
    await late.until(() => late.rows.get(view.id)?.size === 5)
  })
})

/** What an application may send, in any order and with any numbers. */
const anyFrame = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('credit' as const),
      bytes: fc.integer({ min: 1, max: windowBytes }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      from: fc.oneof(fc.integer({ min: 95, max: 110 }), fc.maxSafeNat()),
      windowBytes: fc.integer({ min: 0, max: windowBytes }),
      withRows: fc.boolean(),
      cursor: fc.uniqueArray(fc.integer({ min: 95, max: 110 }), { maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
)

describe('a session', () => {
  it('survives whatever applications send, and serves the next one', async (t) => {
    const limits = { ...noBans, requestsPerSecond: 10_000 }
    const room = await withRows(t, 5, { limits, times: { headMs: 5, checkMs: 5 } })
    const chain = engineChain(5)
    const hashes = new Map(chain.map(({ header: { number, hash } }) => [number, hash]))
    const raw = await openRawPeer(t)
    const encode = (frame: Uint8Array | ApplicationFrame): Uint8Array =>
      lengthPrefixed(frame instanceof Uint8Array ? frame : encodeApplicationFrame(frame))
    await fc.assert(
      fc.asyncProperty(fc.array(anyFrame, { maxLength: 6 }), async (frames) => {
        const stream = await raw.open(room.server.address, protocol)
        for (const frame of frames) {
          if (stream.status !== 'open') break
          if (frame instanceof Uint8Array || 'kind' in frame) stream.send(encode(frame))
          else {
            const { cursor, withRows, ...open } = frame
            const blocks = cursor
              .sort((a, b) => b - a)
              .map((number) => ({ number, hash: hashes.get(number) ?? `0x${'ee'.repeat(32)}` }))
            const views = [{ view: view.id, cursor: blocks, withRows }]
            stream.send(encode(openFrame({ ...open, views })))
          }
        }
        stream.abort(new Error('enough'))
      }),
      { numRuns: 60 },
    )
    await until(() => room.followers.count() === 0)
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => client.rows.get(view.id)?.size === 5)
    assert.deepEqual(client.rows.get(view.id), stored(room, view))
    assert.equal(await room.metric('viewmesh_host_follow_ended_total', { reason: 'failed' }), 0)
  })
})
