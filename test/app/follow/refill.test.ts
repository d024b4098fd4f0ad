/** Which missing heights Hosts are asked for, in which order, and how long. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FollowerState } from '../../../src/app/follow/follow-state.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import { openRefill, type Refill } from '../../../src/app/follow/refill.ts'
import { captureLog } from '../../support/captured-log.ts'
import { connect, openRoom, testNetwork, until } from '../../support/p2p-room.ts'
import { hostA, openState } from '../support/follower-state.ts'
import { madeBlocks } from '../support/follower-stream.ts'
import { createMadeChain, madeView, otherView } from '../support/made-chain.ts'
import { openMadeHost } from '../support/made-host.ts'
import { pendingBlock } from '../support/pending-block.ts'
import { clockOf } from '../support/test-clock.ts'

const checkMs = 1_000
const patience = {
  ...{ ...usualPatience, missingCheckMs: checkMs },
  ...{ missingIdleMs: 3_000, missingHostMs: 1_000 },
}

/** Stores rows of a View at these heights. */
async function put(
  { blocks, parts }: FollowerState,
  heights: readonly number[],
  id: string = madeView,
): Promise<void> {
  const view = parts.views.find(id) ?? assert.fail('it is not known')
  for (const height of heights) {
    const block = madeBlocks(9).slice(height, height + 1)
    const pending = block.map((each) => ({ ...each, sinceMs: 0 }))
    await blocks.put(view, pending, null, { seals: () => [], excerpts: () => [] })
  }
}

interface Filling {
  readonly refill: Refill
  readonly state: FollowerState
  /** Heights that Hosts were asked for, such as `3 to 5`, in this order. */
  asked(): readonly string[]
  /** Since when a Host is there for a View and a height; null for none. */
  serving: (view: string, number: number) => number | null
  /** Lets so many checks come, one after the other. */
  check(times?: number): Promise<void>
  /** Lets so much time pass without a check. */
  pass(ms: number): void
  /** How many Hosts are waited for. */
  awaited(): number
  readonly failures: readonly unknown[]
}

/** Hosts are out of reach, but are said to have connected at the beginning. */
async function openFilling(
  t: TestContext,
  heights: readonly number[],
  { from = 0, peers = [] as readonly string[] } = {},
): Promise<Filling> {
  const { state } = await openState(t)
  await put(state, heights)
  const { log, lines } = captureLog()
  const { pass } = clockOf(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const failures: unknown[] = []
  let awaited = 0
  const unused = (): never => assert.fail('no Host is in reach')
  const onPeer = (): (() => void) => {
    awaited += 1
    return () => {
      awaited -= 1
    }
  }
  const p2p = { openChannel: unused, penalise: unused, peers: () => [], onPeer }
  const links = { servingSinceMs: (view: string, number: number) => filling.serving(view, number) }
  const refill = openRefill(
    { ...state.options, from, peers, patience },
    {
      ...state.parts,
      ...{ log, links, p2p: { ...p2p, failures: () => [] }, onChange: () => undefined },
      onFatal: (error) => void failures.push(error),
    },
  )
  t.after(() => refill.close())
  const filling: Filling = {
    ...{ refill, state, failures },
    asked: () =>
      lines
        .filter(({ msg }) => msg === 'asks for missing blocks')
        .map((line) => `${line['from']} to ${line['to']}`),
    serving: () => 1,
    check: async (times = 1) => {
      for (let time = 0; time < times; time++) {
        pass(checkMs)
        t.mock.timers.tick(checkMs)
        for (let turn = 0; turn < 5; turn++) await nextTurn()
      }
    },
    pass,
    awaited: () => awaited,
  }
  return filling
}

test('missing heights are asked for in turn from the lowest on, and again once a Host came', async (t) => {
  const filling = await openFilling(t, [2, 3, 6, 8], { from: 1 })
  const { state, check, asked } = filling
  const [seven] = madeBlocks(9).slice(7)
  const view = state.parts.views.find(madeView)
  assert.ok(seven && view)
  await state.blocks.putFailure(view, { ...seven, sinceMs: 0 }, 'it failed')
  const holes = ['1 to 1', '4 to 5', '7 to 7']
  await check(30)
  assert.deepEqual(asked(), holes)
  const cameMs = performance.now()
  filling.serving = () => cameMs
  await check(30)
  assert.deepEqual(asked(), [...holes, ...holes])
  filling.serving = () => performance.now()
  await check(60)
  assert.deepEqual(asked().slice(6, 12), [...holes, ...holes], 'though it comes again and again')
})

test('nothing is missing where a View has nothing, or everything that is followed and kept', async (t) => {
  const { state, check, asked } = await openFilling(t, [3, 5], { from: 3 })
  await put(state, [5], otherView)
  await state.parts.store.pruneRowsBelow(5)
  await check(5)
  assert.deepEqual(asked(), [])
})

test('missing heights are asked for of a Host that has the highest of them', async (t) => {
  const filling = await openFilling(t, [2, 5])
  filling.serving = (view, number) => (view === madeView && number === 4 ? 1 : null)
  await filling.check(10)
  assert.deepEqual(filling.asked(), ['3 to 4'])
})

test('of the missing heights of a View the thousand lowest are checked', async (t) => {
  const filling = await openFilling(t, [])
  const { state, check, asked } = filling
  const view = state.parts.views.find(madeView) ?? assert.fail('it is not known')
  const everyOther = Array.from({ length: 1_002 }, (_, index) => pendingBlock(2 * index + 1))
  await state.blocks.put(view, everyOther, null, { seals: () => [], excerpts: () => [] })
  const checked: number[] = []
  filling.serving = (_, number) => {
    checked.push(number)
    return null
  }
  await check()
  assert.deepEqual([checked.length, checked[0], checked.at(-1), asked()], [1_000, 0, 1_998, []])
})

test('what was asked for in vain is asked for again after ten minutes', async (t) => {
  const filling = await openFilling(t, [2])
  const { check, pass, asked } = filling
  await check()
  const askedMs = performance.now()
  filling.serving = () => askedMs
  await check(9)
  assert.deepEqual(asked(), ['0 to 1'])
  pass(600_000 - 10 * checkMs - 1)
  await check()
  assert.deepEqual(asked(), ['0 to 1'])
  pass(1 - checkMs)
  await check()
  assert.deepEqual(asked(), ['0 to 1', '0 to 1'])
})

test('what was filled and is missing again is asked for at once', async (t) => {
  const { state, check, asked } = await openFilling(t, [0, 3])
  await check(10)
  await put(state, [1, 2])
  await check()
  await state.parts.store.truncateAbove(0)
  await put(state, [3])
  await check()
  assert.deepEqual(asked(), ['1 to 2', '1 to 2'])
})

test('an attempt at missing heights ends after a while, which is longer the more Hosts there are', async (t) => {
  const { check, asked, awaited } = await openFilling(t, [2, 4], { peers: ['A', 'B'] })
  await check()
  assert.deepEqual([asked(), awaited()], [['0 to 1'], 2])
  await check(5)
  assert.equal(awaited(), 2)
  await check()
  assert.deepEqual([asked(), awaited()], [['0 to 1'], 0])
  await check()
  assert.deepEqual([asked(), awaited()], [['0 to 1', '3 to 3'], 2])
})

test('missing heights whose attempt ended are checked as rarely as before', async (t) => {
  const filling = await openFilling(t, [2], { peers: ['A', 'B'] })
  const { state, check, awaited } = filling
  const reading = t.mock.method(state.parts.store.reader, 'read')
  const readsOfCheck = async (): Promise<number> => {
    const before = reading.mock.callCount()
    await check()
    return reading.mock.callCount() - before
  }
  filling.serving = () => null
  const reads = await readsOfCheck()
  filling.serving = () => 1
  await check()
  assert.equal(awaited(), 2)
  await check(7)
  assert.equal(awaited(), 0)
  assert.equal(await readsOfCheck(), reads)
})

test('nothing is asked for any more once it is closed, which ends what is being asked', async (t) => {
  const { refill, check, asked, awaited } = await openFilling(t, [2, 4], { peers: ['A'] })
  await check()
  assert.equal(awaited(), 1)
  await refill.close()
  assert.equal(awaited(), 0)
  await check(10)
  assert.deepEqual(asked(), ['0 to 1'])
})

test('a store that cannot be read is reported, and is read again at the next check', async (t) => {
  const { state, check, asked, failures } = await openFilling(t, [2])
  const failed = new Error('the disk is gone')
  const reading = t.mock.method(state.parts.store.reader, 'read', () => {
    throw failed
  })
  await check()
  assert.deepEqual(failures, [failed])
  reading.mock.restore()
  await check()
  assert.deepEqual(asked(), ['0 to 1'])
})

test('missing blocks come one after the other, and each hole is left once it is filled', async (t) => {
  const chain = createMadeChain()
  chain.grow(9)
  const host = await openMadeHost(t, { chain, blockMs: 20, signer: hostA })
  const application = await openRoom(t)
  await connect(application, host.room)
  const { state, reported } = await openState(t)
  await put(state, [3, 7, 8])
  const { log, lines } = captureLog()
  const patient = { ...patience, missingCheckMs: 20, missingIdleMs: 1_000_000 }
  const refill = openRefill(
    {
      ...state.options,
      ...{ network: testNetwork, peers: [host.room.id], patience: patient },
    },
    {
      ...{ ...state.parts, log, p2p: application.p2p, onChange: () => undefined },
      links: { servingSinceMs: () => 1 },
    },
  )
  t.after(() => refill.close())
  await until(() => reported.length === 6)
  assert.deepEqual(
    reported,
    [0, 1, 2, 4, 5, 6].map((height) => `height ${height}`),
  )
  const asked = lines.filter(({ msg }) => msg === 'asks for missing blocks')
  assert.deepEqual(
    asked.map(({ from, to, view }) => [from, to, view]),
    [
      [0, 2, madeView],
      [4, 6, madeView],
    ],
  )
  await refill.close()
})

test('closing lasts until the missing block that is being written is stored', async (t) => {
  const chain = createMadeChain()
  chain.grow(2)
  const host = await openMadeHost(t, { chain, signer: hostA })
  const application = await openRoom(t)
  await connect(application, host.room)
  const { state } = await openState(t)
  await put(state, [1])
  const { store } = state.parts
  const [writing, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const events: string[] = []
  const putRowBlocks: typeof store.putRowBlocks = async (...given) => {
    writing.resolve()
    await released.promise
    await store.putRowBlocks(...given)
    events.push('stored')
  }
  const peers = [host.room.id]
  const refill = openRefill(
    {
      ...state.options,
      network: testNetwork,
      peers,
      patience: { ...patience, missingCheckMs: 20 },
    },
    {
      ...{ ...state.parts, p2p: application.p2p, onChange: () => undefined },
      ...{ store: { ...store, putRowBlocks }, links: { servingSinceMs: () => 1 } },
    },
  )
  await writing.promise
  const closed = refill.close().then(() => events.push('closed'))
  for (let turn = 0; turn < 100; turn++) await nextTurn()
  released.resolve()
  await closed
  assert.deepEqual(events, ['stored', 'closed'])
})

test('missing blocks that come slowly are waited for, however long all of them take', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const chain = createMadeChain()
  chain.grow(1)
  const host = await openMadeHost(t, { chain, signer: hostA })
  const application = await openRoom(t)
  await connect(application, host.room)
  const { state, reported } = await openState(t)
  await put(state, [4])
  const { log, lines } = captureLog()
  const { pass } = clockOf(t)
  const refill = openRefill(
    { ...state.options, network: testNetwork, peers: [host.room.id], patience },
    {
      ...{ ...state.parts, log, p2p: application.p2p, onChange: () => undefined },
      links: { servingSinceMs: () => 1 },
    },
  )
  t.after(() => refill.close())
  t.mock.timers.tick(checkMs)
  for (const height of [0, 1, 2, 3]) {
    await until(() => reported.length === height + 1)
    pass(4_000)
    t.mock.timers.tick(checkMs)
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    chain.grow(1)
  }
  assert.deepEqual(reported, ['height 0', 'height 1', 'height 2', 'height 3'])
  const asked = lines.filter(({ msg }) => msg === 'asks for missing blocks')
  assert.equal(asked.length, 1)
})
