/** When a session reads the store, what it sends then, and when it ends: at a clock that the test moves. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { getEventListeners } from 'node:events'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import { decodeHostFrame, encodeHostFrame } from '../../../src/follow/host-frames.ts'
import {
  type ApplicationFrame,
  encodeApplicationFrame,
  type FollowedBlock,
} from '../../../src/follow/open-frames.ts'
import { createFollowMetrics, type FollowEnd } from '../../../src/host/follow/metrics.ts'
import { createMoments, type Moment } from '../../../src/host/follow/moments.ts'
import { createFollowSession, type FollowTimes } from '../../../src/host/follow/session.ts'
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import type { Channel } from '../../../src/p2p/streams/channels.ts'
import { streamFailure } from '../../../src/p2p/streams/frame-stream.ts'
import { opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { viewBlock } from '../../support/view-rows.ts'
import { hostedView } from '../views/engine/support/engine-room.ts'
import { trustRows } from './support/follow-checks.ts'

const view = hostedView()
const times: FollowTimes = { slowMs: 1_000, gapMs: 60_000, headMs: 60_000, checkMs: 400 }

interface SessionSetup {
  readonly times?: Partial<FollowTimes>
  /** Blocks from 0 on with which the View is done. Default 3. */
  readonly blocks?: number
  /** Bytes of the row of each. Default 10. */
  readonly rowBytes?: number
  readonly windowBytes?: number
  readonly withRows?: boolean
  /** Blocks that the application has, newest first. Default none. */
  readonly cursor?: readonly FollowedBlock[]
  /** Where it begins without any. Default 0. */
  readonly from?: number
  /** How long it takes to find out how the View stands. Default 0. */
  readonly standingMs?: number
}

/** A session whose application has opened its stream. */
async function open(t: TestContext, setup: SessionSetup = {}) {
  const { blocks = 3, rowBytes = 10, withRows = true, standingMs = 0 } = setup
  const { windowBytes = followLimits.windowBytes, cursor = [], from = 0 } = setup
  const store = await openTestStore(t, null)
  await trustRows(store, view)
  const put = async (height: number): Promise<void> => {
    const block = opaqueBlock(height, 5)
    await store.putSealedBlock(block)
    const rows = [{ name: randomBytes(rowBytes).toString('base64url') }]
    await store.putViewRows(view.slot, [viewBlock(block.header, rows)])
  }
  for (let height = 0; height < blocks; height++) await put(height)
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  /** What each read of the store was followed by. */
  const reads: { readonly how: 'soon' | 'inTurn'; readonly frames: string[] }[] = []
  let costs = 0
  const incoming = new PassThrough({ objectMode: true })
  const frames = incoming.iterator()
  const channel: Channel = {
    ended: new AbortController().signal,
    read: async () => {
      const { done, value } = await frames.next()
      if (done === true) throw streamFailure('the application has left', null)
      return value
    },
    write: async (bytes) => {
      const frame = decodeHostFrame(bytes)
      const isFree = ['welcome', 'head', 'error'].includes(frame.kind)
      if (!isFree) costs += encodeHostFrame(frame).length
      reads.at(-1)?.frames.push(frame.kind === 'error' ? frame.error : frame.kind)
    },
    close: async () => undefined,
    abort: () => undefined,
  }
  const moments = createMoments(store.reader, new Map())
  const reading =
    <T>(how: 'soon' | 'inTurn', use: (moment: Moment) => T) =>
    (moment: Moment): T => {
      reads.push({ how, frames: [] })
      const standing: Moment['standing'] = (of) => {
        nowMs += standingMs
        return moment.standing(of)
      }
      return use({ ...moment, standing })
    }
  const stopping = new AbortController()
  let served: HostedView | undefined = view
  const session = createFollowSession(
    channel,
    { ...times, ...setup.times },
    {
      moments: {
        soon: (use) => moments.soon(reading('soon', use)),
        inTurn: (use) => moments.inTurn(reading('inTurn', use)),
      },
      metrics: createFollowMetrics(new Registry(), () => 1),
      proof: Buffer.from('proof'),
      own: 'me',
      genesis: () => null,
      fillsFrom: () => 0,
      viewOf: () => served,
      stateOf: () => 'live',
      stopping: stopping.signal,
    },
  )
  const say = (frame: ApplicationFrame): void => void incoming.write(encodeApplicationFrame(frame))
  /** What the session does until it waits. */
  const settled = async (): Promise<void> => {
    for (let [turns, before] = [0, reads.length]; turns < 10; turns++) {
      await nextTurn()
      if (reads.length > before) [turns, before] = [0, reads.length]
    }
  }
  say({ kind: 'open', views: [{ view: view.id, cursor, withRows }], from, windowBytes })
  const running = session.run()
  let ended: FollowEnd | null = null
  void running.then((why) => {
    ended = why
  })
  t.after(async () => {
    incoming.end()
    await running
  })
  await settled()
  return {
    store,
    put,
    running,
    ended: () => ended,
    stopping,
    costs: () => costs,
    ring: async () => {
      session.ring()
      await settled()
    },
    credit: async (bytes: number) => {
      say({ kind: 'credit', bytes })
      await settled()
    },
    pass: async (ms: number) => {
      nowMs += ms
      t.mock.timers.tick(ms)
      await settled()
    },
    leave: () => void incoming.end(),
    serve: (other: HostedView | undefined) => {
      served = other
    },
    /** The reads since it was asked last. */
    reads: () => reads.splice(0),
  }
}

/** So many reads that found nothing to send. */
const nothing = (count: number) =>
  Array.from({ length: count }, () => ({ how: 'soon', frames: [] }))
const soon = (...frames: string[]) => [{ how: 'soon', frames }]

test('a session reads when it is rung for and when something is due, and never between', async (t) => {
  const { store, reads, ring, pass } = await open(t, { times: { headMs: 1_000, checkMs: 400 } })
  const all = ['head', ...Array.from({ length: 3 }, () => ['seals', 'rows']).flat()]
  assert.deepEqual(reads(), [...soon('welcome'), ...soon(...all)])
  await pass(399)
  assert.deepEqual(reads(), [])
  await pass(1)
  assert.deepEqual(reads(), nothing(1))
  await store.putSeals(2, [opaqueSeal(2, 'main', '03'.repeat(33))])
  await ring()
  assert.deepEqual(reads(), nothing(1), 'seals of blocks that were sent are checked for when due')
  await pass(399)
  assert.deepEqual(reads(), [])
  await pass(1)
  assert.deepEqual(reads(), soon('seals'))
  await pass(199)
  assert.deepEqual(reads(), [])
  await pass(1)
  assert.deepEqual(reads(), soon('head'))
})

test('seals are sent for blocks that an application has, and for none below where it begins', async (t) => {
  const { reads } = await open(t, { from: 2 })
  assert.deepEqual(reads(), [...soon('welcome'), ...soon('head', 'seals', 'rows')])
  t.mock.reset()
  const { number, hash } = opaqueBlock(2, 5).header
  const again = await open(t, { cursor: [{ number, hash }] })
  assert.deepEqual(again.reads(), [
    ...soon('welcome'),
    ...soon('head', ...Array.from({ length: 3 }, () => 'seals')),
  ])
})

test('a session that waits for credit reads only when something else is due', async (t) => {
  const { reads, ring, pass, credit, costs } = await open(t, { windowBytes: 1 })
  assert.deepEqual(reads(), [...soon('welcome'), ...soon('head', 'seals')])
  await ring()
  await credit(costs() - 1)
  assert.deepEqual(reads(), [])
  await pass(399)
  await ring()
  assert.deepEqual(reads(), [])
  await pass(1)
  assert.deepEqual(reads(), nothing(1))
  await credit(1)
  assert.deepEqual(reads(), soon('rows'))
})

test('a session ends once something has waited a second for credit, however often it reads', async (t) => {
  const { pass, credit, costs, ended } = await open(t, { windowBytes: 1 })
  const seals = costs()
  await pass(999)
  await credit(seals)
  assert.ok(costs() > seals, 'rows were sent, so that it waits again')
  await pass(400)
  await credit(costs() - seals - 1)
  await pass(599)
  assert.equal(ended(), null)
  await pass(1)
  assert.equal(ended(), 'slow')
})

test('a session without credit goes on until something waits, which it sees at once', async (t) => {
  const { reads, put, ring, pass, ended } = await open(t, { blocks: 0, windowBytes: 0 })
  await pass(5_000)
  assert.equal(ended(), null)
  reads()
  await put(0)
  await ring()
  assert.deepEqual(reads(), nothing(1))
  await pass(999)
  assert.equal(ended(), null)
  await pass(1)
  assert.equal(ended(), 'slow')
})

test('a session reads half a megabyte at a time, the rest when its turn comes', async (t) => {
  const { reads } = await open(t, { blocks: 7, rowBytes: 180_000 })
  const rows = reads().map(({ how, frames }) => [
    how,
    frames.filter((kind) => kind === 'rows').length,
  ])
  assert.deepEqual(rows, [
    ['soon', 0],
    ['soon', 3],
    ['inTurn', 3],
    ['inTurn', 1],
  ])
})

test('a session takes three milliseconds at a time, the rest when its turn comes', async (t) => {
  const { reads } = await open(t, { blocks: 2, standingMs: 3, withRows: false })
  const [, first, ...others] = reads()
  assert.deepEqual(first, { how: 'soon', frames: ['head', 'seals'] })
  assert.ok(others.every(({ how, frames }) => how === 'inTurn' && frames.length <= 1))
  assert.deepEqual(
    others.flatMap(({ frames }) => frames),
    ['seals'],
  )
})

test('a session ends when it finds that its View is served no longer, or from another place', async (t) => {
  for (const other of [undefined, { ...view, slot: 7 }]) {
    const { reads, pass, ring, serve, running } = await open(t)
    reads()
    serve(other)
    await ring()
    assert.deepEqual(reads(), nothing(1))
    await pass(400)
    assert.deepEqual(reads(), soon('unknown'))
    assert.equal(await running, 'unknown')
    t.mock.reset()
  }
})

test('nothing of a session stays once its application has left or its Host stops', async (t) => {
  for (const end of ['left', 'unavailable']) {
    const { stopping, leave, running, reads, pass } = await open(t)
    assert.equal(getEventListeners(stopping.signal, 'abort').length, 1)
    if (end === 'left') leave()
    else stopping.abort()
    assert.equal(await running, end)
    assert.deepEqual(getEventListeners(stopping.signal, 'abort'), [])
    reads()
    await pass(60_000)
    assert.deepEqual(reads(), [])
    t.mock.reset()
  }
})
