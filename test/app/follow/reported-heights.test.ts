/** Up to which height Hosts are known to have said what they have, and what of it a restart keeps. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  openReportedHeights,
  type ReportedHeights,
  unheardBlocks,
} from '../../../src/app/follow/reported-heights.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'
import { hostA, letWait, openState, settle, sign } from '../support/follower-state.ts'
import { createMadeChain } from '../support/made-chain.ts'

interface Kept {
  readonly reported: ReportedHeights
  /** How often it was written. */
  writes(): number
  /** What another application of the same store would begin with. */
  restart(): Promise<ReportedHeights>
}

async function openKept(t: TestContext): Promise<Kept> {
  const store = await openWriter(
    { path: testDirectory(t), network: testNetwork, retainBlocks: null, program: 'app' },
    { log: captureLog().log },
  )
  t.after(() => store.close())
  const written = t.mock.method(store, 'putRecord').mock
  const writes = (): number => written.callCount()
  const restart = async (): Promise<ReportedHeights> => {
    await store.flushed()
    return openReportedHeights(store)
  }
  return { reported: openReportedHeights(store), writes, restart }
}

test('what is removed is asked for again, of each Host from where it said what it has', async (t) => {
  const { reported, restart } = await openKept(t)
  assert.equal(reported.of('a peer'), undefined)
  reported.prove('a peer', 'A', 0)
  reported.prove('another', 'B', 0)
  reported.raise('A', 9)
  reported.raise('A', 7)
  reported.raise('B', 5)
  assert.deepEqual([reported.of('a peer'), reported.of('another')?.to], [{ host: 'A', to: 9 }, 5])
  reported.save()
  reported.removed(6)
  assert.deepEqual([reported.of('a peer')?.to, reported.of('another')?.to], [6, 5])
  const kept = await restart()
  assert.deepEqual([kept.of('a peer')?.to, kept.of('another')?.to], [6, 5])
})

test('what goes down is kept at once, what goes up from time to time and when it is saved', async (t) => {
  const { reported, restart } = await openKept(t)
  reported.prove('a peer', 'A', 0)
  reported.raise('A', 254)
  assert.equal((await restart()).of('a peer')?.to, -1)
  reported.raise('A', 255)
  assert.equal((await restart()).of('a peer')?.to, 255)
  reported.raise('A', 300)
  reported.save()
  assert.equal((await restart()).of('a peer')?.to, 300)
  reported.prove('another', 'B', 0)
  reported.raise('B', 300)
  reported.lower('A', 299)
  reported.lower('A', 400)
  const kept = await restart()
  assert.deepEqual([kept.of('a peer')?.to, kept.of('another')?.to], [299, 300])
})

test('nothing is written of what is kept already', async (t) => {
  const { reported, writes } = await openKept(t)
  reported.prove('a peer', 'A', 0)
  reported.raise('A', 9)
  reported.save()
  const before = writes()
  for (const change of [reported.raise, reported.lower]) change('A', 9)
  reported.save()
  reported.prove('a peer', 'A', 20_000)
  reported.raise('A', 12)
  reported.lower('A', 9)
  assert.equal(writes(), before)
})

test('a Host that was never heard is asked for the newest blocks, also where it has a known peer', () => {
  const reported = openReportedHeights(null)
  reported.prove('a peer', 'A', unheardBlocks + 7)
  assert.equal(reported.of('a peer')?.to, 7)
  reported.raise('A', 50)
  reported.prove('a peer', 'A', 100)
  assert.equal(reported.of('a peer')?.to, 50)
  reported.prove('a peer', 'B', 100)
  assert.deepEqual(reported.of('a peer'), { host: 'B', to: -1 })
})

test('of more peers than an application can have, those that were met first are forgotten', () => {
  const reported = openReportedHeights(null)
  for (let peer = 0; peer < 65; peer++) reported.prove(`peer ${peer}`, `host ${peer}`, 0)
  assert.deepEqual([reported.of('peer 0'), reported.of('peer 1')?.to], [undefined, -1])
  reported.prove('peer 9', 'another host', 0)
  assert.equal(reported.of('peer 1')?.to, -1, 'one that is another Host now is no further one')
})

test('what Hosts said of blocks is taken back before these are removed', async (t) => {
  const removals: unknown[] = []
  const { state } = await openState(t, {}, ({ store }) => {
    const truncateAbove: StoreWriter['truncateAbove'] = async (above) => {
      removals.push([above, state.reported.of('a peer')?.to])
      await store.truncateAbove(above)
    }
    return { store: { ...store, truncateAbove } }
  })
  state.reported.prove('a peer', hostA.identity, 0)
  const chain = createMadeChain()
  chain.grow(3)
  const follow = async (): Promise<void> => {
    letWait(state, chain.blocks())
    sign(state, hostA, chain.blocks())
    await settle(state)
  }
  await follow()
  assert.equal(state.reported.of('a peer')?.to, 2)
  chain.reorganise(1)
  await follow()
  assert.deepEqual(removals, [[1, 1]])
})
