/** Up to which height Hosts are known to have said what they have, and what of it a restart keeps. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  openToldHeights,
  type ToldHeights,
  unheardBlocks,
} from '../../../src/app/follow/told-heights.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'
import { hostA, letWait, openState, settle, sign } from '../support/follower-state.ts'
import { createMadeChain } from '../support/made-chain.ts'

interface Kept {
  readonly told: ToldHeights
  /** How often it was written. */
  writes(): number
  /** What another application of the same store would begin with. */
  restart(): Promise<ToldHeights>
}

async function openKept(t: TestContext): Promise<Kept> {
  const store = await openWriter(
    { path: testDirectory(t), network: testNetwork, retainBlocks: null, program: 'app' },
    { log: captureLog().log },
  )
  t.after(() => store.close())
  const written = t.mock.method(store, 'putRecord').mock
  const writes = (): number => written.callCount()
  const restart = async (): Promise<ToldHeights> => {
    await store.flushed()
    return openToldHeights(store)
  }
  return { told: openToldHeights(store), writes, restart }
}

test('what is removed is asked for again, of each Host from where it said what it has', async (t) => {
  const { told, restart } = await openKept(t)
  assert.equal(told.of('a peer'), undefined)
  told.prove('a peer', 'A', 0)
  told.prove('another', 'B', 0)
  told.raise('A', 9)
  told.raise('A', 7)
  told.raise('B', 5)
  assert.deepEqual([told.of('a peer'), told.of('another')?.to], [{ host: 'A', to: 9 }, 5])
  told.save()
  told.removed(6)
  assert.deepEqual([told.of('a peer')?.to, told.of('another')?.to], [6, 5])
  const kept = await restart()
  assert.deepEqual([kept.of('a peer')?.to, kept.of('another')?.to], [6, 5])
})

test('what goes down is kept at once, what goes up from time to time and when it is saved', async (t) => {
  const { told, restart } = await openKept(t)
  told.prove('a peer', 'A', 0)
  told.raise('A', 254)
  assert.equal((await restart()).of('a peer')?.to, -1)
  told.raise('A', 255)
  assert.equal((await restart()).of('a peer')?.to, 255)
  told.raise('A', 300)
  told.save()
  assert.equal((await restart()).of('a peer')?.to, 300)
  told.prove('another', 'B', 0)
  told.raise('B', 300)
  told.lower('A', 299)
  told.lower('A', 400)
  const kept = await restart()
  assert.deepEqual([kept.of('a peer')?.to, kept.of('another')?.to], [299, 300])
})

test('nothing is written of what is kept already', async (t) => {
  const { told, writes } = await openKept(t)
  told.prove('a peer', 'A', 0)
  told.raise('A', 9)
  told.save()
  const before = writes()
  for (const change of [told.raise, told.lower]) change('A', 9)
  told.save()
  told.prove('a peer', 'A', 20_000)
  told.raise('A', 12)
  told.lower('A', 9)
  assert.equal(writes(), before)
})

test('a Host that was never heard is asked for the newest blocks, also where it has a known peer', () => {
  const told = openToldHeights(null)
  told.prove('a peer', 'A', unheardBlocks + 7)
  assert.equal(told.of('a peer')?.to, 7)
  told.raise('A', 50)
  told.prove('a peer', 'A', 100)
  assert.equal(told.of('a peer')?.to, 50)
  told.prove('a peer', 'B', 100)
  assert.deepEqual(told.of('a peer'), { host: 'B', to: -1 })
})

test('of more peers than an application can have, those that were met first are forgotten', () => {
  const told = openToldHeights(null)
  for (let peer = 0; peer < 65; peer++) told.prove(`peer ${peer}`, `host ${peer}`, 0)
  assert.deepEqual([told.of('peer 0'), told.of('peer 1')?.to], [undefined, -1])
  told.prove('peer 9', 'another host', 0)
  assert.equal(told.of('peer 1')?.to, -1, 'one that is another Host now is no further one')
})

test('what Hosts said of blocks is taken back before these are removed', async (t) => {
  const removals: unknown[] = []
  const { state } = await openState(t, {}, ({ store }) => {
    const truncateAbove: StoreWriter['truncateAbove'] = async (above) => {
      removals.push([above, state.told.of('a peer')?.to])
      await store.truncateAbove(above)
    }
    return { store: { ...store, truncateAbove } }
  })
  state.told.prove('a peer', hostA.identity, 0)
  const chain = createMadeChain()
  chain.grow(3)
  const follow = async (): Promise<void> => {
    letWait(state, chain.blocks())
    sign(state, hostA, chain.blocks())
    await settle(state)
  }
  await follow()
  assert.equal(state.told.of('a peer')?.to, 2)
  chain.reorganise(1)
  await follow()
  assert.deepEqual(removals, [[1, 1]])
})
