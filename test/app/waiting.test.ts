/** What a program can await of an application, and how it hears of changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMadeChain } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

const closed = /the application is closed/

test('an application is ready and live once all its Views are, and at once where they are', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  const app = await openTestApp(t, { hosts: [await openMadeHost(t, { chain })] })
  await app.untilReady()
  await app.untilLive()
  const [view] = app.state().views
  assert.deepEqual([view?.state, view?.done], ['live', [{ from: 0, to: 2 }]])
  await app.untilReady()
  await app.untilLive()
})

test('waiting fails with the signal of who waits, and when the application closes', async (t) => {
  const host = await openMadeHost(t, { chain: createMadeChain() })
  await host.room.p2p.close()
  const app = await openTestApp(t, { hosts: [host] })
  for (const wait of [app.untilReady, app.untilLive]) {
    const leaving = new AbortController()
    const waiting = wait(leaving.signal)
    leaving.abort(new Error('it takes too long'))
    await assert.rejects(waiting, /it takes too long/)
    await assert.rejects(wait(leaving.signal), /it takes too long/)
  }
  const waiting = [app.untilReady(), app.untilLive()].map((each) => assert.rejects(each, closed))
  await app.close()
  await Promise.all(waiting)
  for (const wait of [app.untilReady, app.untilLive]) await assert.rejects(wait(), closed)
})

test('a listener hears how the application stands until it stops listening', async (t) => {
  const chain = createMadeChain()
  const app = await openTestApp(t, { hosts: [await openMadeHost(t, { chain })] })
  let heard = 0
  const stop = app.onChange(() => void heard++)
  stop()
  const tops: number[] = []
  app.onChange((state) => void tops.push(topOf(state)))
  chain.grow(2)
  await untilState(app, (state) => topOf(state) === 1)
  assert.deepEqual([heard, tops.at(-1)], [0, 1])
})

test('an application closes once, however often it is asked to', async (t) => {
  const app = await openTestApp(t, {
    hosts: [await openMadeHost(t, { chain: createMadeChain() })],
  })
  const closing = app.close()
  assert.equal(app.close(), closing)
  await closing
  assert.equal(app.close(), closing)
})
