/** Which head a Generator serves to peers that ask for heads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNewestHead } from '../../../src/generator/head/newest-head.ts'

test('the newest head is served to who asks for ours or any, for the time of two heads', (t) => {
  let nowMs = 1_000
  t.mock.method(performance, 'now', () => nowMs)
  const newest = createNewestHead('us', { everyMs: 50 })
  assert.deepEqual(newest.among([]), [], 'none is signed yet')
  const head = Buffer.from('a head')
  newest.set(Buffer.from('an older head'))
  newest.set(head)
  for (const asked of [[], ['us'], ['others', 'us']]) assert.deepEqual(newest.among(asked), [head])
  assert.deepEqual(newest.among(['others']), [])
  nowMs += 100
  assert.deepEqual(newest.among([]), [head])
  nowMs += 1
  assert.deepEqual(newest.among([]), [])
})
