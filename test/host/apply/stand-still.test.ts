/** For how long a Host has stored nothing while the heads of its signers went on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type StandStill, watchStandStill } from '../../../src/host/apply/stand-still.ts'

type Heads = Parameters<ReturnType<typeof watchStandStill>>[0]['heads']

const stored = (identity: string): Heads[number] => ({ identity, hash: 'here', isStored: true })
const missing = (identity: string, hash: string): Heads[number] => {
  return { identity, hash, isStored: false }
}
const none: StandStill = { forMs: 0, sinceMs: null }

test('a stand-still lasts from the first head that is not stored to the newest one', () => {
  const watch = watchStandStill()
  assert.deepEqual(watch({ head: 10, heads: [stored('alice')] }, 1_000), none)
  const said = (hash: string, nowMs: number): StandStill =>
    watch({ head: 10, heads: [missing('alice', hash)] }, nowMs)
  assert.deepEqual(said('11', 2_000), { forMs: 0, sinceMs: 2_000 })
  assert.deepEqual(said('12', 7_000), { forMs: 5_000, sinceMs: 2_000 })
  assert.deepEqual(said('12', 90_000), { forMs: 5_000, sinceMs: 2_000 }, 'the chain rests')
  assert.deepEqual(said('13', 92_000), { forMs: 90_000, sinceMs: 2_000 })
})

test('a block that is stored ends a stand-still, also where heads are ahead of it', () => {
  const watch = watchStandStill()
  watch({ head: 10, heads: [stored('alice')] }, 1_000)
  watch({ head: 10, heads: [missing('alice', '12')] }, 2_000)
  assert.deepEqual(watch({ head: 11, heads: [missing('alice', '13')] }, 3_000), none)
  assert.deepEqual(watch({ head: 11, heads: [missing('alice', '13')] }, 4_000), none)
  const again = watch({ head: 11, heads: [missing('alice', '14')] }, 5_000)
  assert.deepEqual(again, { forMs: 0, sinceMs: 5_000 })
})

test('heads that are not stored count where they are more than half', () => {
  const watch = watchStandStill()
  watch({ head: 10, heads: [] }, 1_000)
  assert.deepEqual(watch({ head: 10, heads: [] }, 2_000), none, 'nobody is heard')
  const half = [stored('alice'), missing('bob', '11')]
  assert.deepEqual(watch({ head: 10, heads: half }, 3_000), none)
  const most = [...half, missing('carol', '11')]
  assert.deepEqual(watch({ head: 10, heads: most }, 4_000), { forMs: 0, sinceMs: 4_000 })
  assert.deepEqual(watch({ head: 10, heads: half }, 5_000), none)
})
