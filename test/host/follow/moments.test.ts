import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createMoments, type Moment, type Moments } from '../../../src/host/follow/moments.ts'
import type { RowStatement } from '../../../src/row-votes/row-statement.ts'
import type { StoreReader } from '../../../src/store/store.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { openTestStore } from '../../support/test-store.ts'
import { hostedView } from '../views/engine/support/engine-room.ts'

/** Moments of a store at a clock of the test; `passing` passes time as a use runs. */
async function openMoments(
  t: TestContext,
  read: (reader: StoreReader) => StoreReader['read'] = (reader) => reader.read,
) {
  const store = await openTestStore(t)
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const fresh = new Map<number, RowStatement>()
  const moments: Moments = createMoments({ ...store.reader, read: read(store.reader) }, fresh)
  const passing =
    (ms: number) =>
    (moment: Moment): Moment => {
      nowMs += ms
      return moment
    }
  return { moments, fresh, passing }
}

test('those that read in one turn share a snapshot, and later ones get another', async (t) => {
  const { moments, passing } = await openMoments(t)
  const uses = [1, 2, 3].map(() => moments.soon(passing(0)))
  const [first, ...others] = await Promise.all(uses)
  assert.ok(first !== undefined && others.every((moment) => moment === first))
  assert.notEqual(await moments.soon(passing(0)), first)
  assert.notEqual(await moments.inTurn(passing(0)), await moments.inTurn(passing(0)))
})

test('those that read once 10 ms are over get the next turn of the event loop', async (t) => {
  const { moments, passing } = await openMoments(t)
  const [first, second, third, last] = await Promise.all(
    [9, 1, 9, 0].map((ms) => moments.soon(passing(ms))),
  )
  assert.equal(first, second)
  assert.notEqual(second, third)
  assert.equal(third, last)
})

test('what fails for one fails for no other', async (t) => {
  const { moments, passing } = await openMoments(t)
  const failing = () => {
    throw new Error('no such View')
  }
  const [first, failed, third] = await Promise.allSettled([
    moments.soon(passing(0)),
    moments.soon(failing),
    moments.soon(passing(0)),
  ])
  assert.deepEqual([first.status, third.status], ['fulfilled', 'fulfilled'])
  assert.deepEqual(failed.status === 'rejected' && failed.reason.message, 'no such View')
  await assert.rejects(moments.inTurn(failing), { message: 'no such View' })
})

test('where the store cannot be read all that wait fail, and later ones are served again', async (t) => {
  let isBroken = true
  const { moments, passing } = await openMoments(t, (reader) => (use) => {
    if (isBroken) throw new Error('the store is closed')
    return reader.read(use)
  })
  const waiting = [1, 2].map(() => moments.soon(passing(0)))
  for (const wait of waiting) await assert.rejects(wait, { message: 'the store is closed' })
  isBroken = false
  await moments.soon(passing(0))
})

test('what is found in a moment is read once, with what this Host is storing now', async (t) => {
  const { moments, fresh } = await openMoments(t)
  const signed = opaqueStatement(5, namedHash('main:5'))
  fresh.set(5, signed)
  await moments.soon((moment) => {
    const view = hostedView()
    const standing = moment.standing(view)
    assert.deepEqual([standing.done, standing.failed], [[], []])
    assert.equal(moment.standing(view), standing)
    assert.deepEqual([moment.statements(5), moment.statements(6)], [[signed], []])
    fresh.clear()
    assert.deepEqual(moment.statements(5), [signed])
  })
  assert.deepEqual(await moments.soon((moment) => moment.statements(5)), [])
})
