import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFetchAhead } from '../../../src/generator/ingest/fetch-ahead.ts'

interface Fetched {
  readonly height: number
  readonly signal: AbortSignal
  readonly answer: PromiseWithResolvers<string>
}

/** A fetch that is answered by the test, and rejects when it is aborted. */
function createManualFetch(): {
  fetched: Fetched[]
  fetch(height: number, signal: AbortSignal): Promise<string>
} {
  const fetched: Fetched[] = []
  return {
    fetched,
    fetch(height, signal) {
      const answer = Promise.withResolvers<string>()
      signal.addEventListener('abort', () => answer.reject(signal.reason))
      fetched.push({ height, signal, answer })
      return answer.promise
    },
  }
}

const heights = ({ fetched }: { fetched: Fetched[] }): number[] =>
  fetched.map(({ height }) => height)

test('the next heights are under way while one is awaited, and no height twice', async () => {
  const manual = createManualFetch()
  const ahead = createFetchAhead(3, manual.fetch)
  const first = ahead.take(5, 100)
  assert.deepEqual(heights(manual), [5, 6, 7, 8])
  manual.fetched[0]?.answer.resolve('five')
  assert.equal(await first, 'five')
  void ahead.take(6, 100)
  assert.deepEqual(heights(manual), [5, 6, 7, 8, 9])
})

test('results that arrive in another order are returned in order', async () => {
  const manual = createManualFetch()
  const ahead = createFetchAhead(3, manual.fetch)
  const first = ahead.take(1, 100)
  for (const { height, answer } of manual.fetched.toReversed()) answer.resolve(`block ${height}`)
  assert.equal(await first, 'block 1')
  assert.equal(await ahead.take(2, 100), 'block 2')
  assert.equal(await ahead.take(3, 100), 'block 3')
})

test('nothing above the head is fetched', () => {
  const manual = createManualFetch()
  void createFetchAhead(3, manual.fetch).take(5, 6)
  assert.deepEqual(heights(manual), [5, 6])
})

test('cancelled heights are aborted, and a caller that waits for one gets null', async () => {
  const manual = createManualFetch()
  const ahead = createFetchAhead(3, manual.fetch)
  const waiting = ahead.take(5, 100)
  ahead.cancelAbove(6)
  assert.deepEqual(
    manual.fetched.map(({ signal }) => signal.aborted),
    [false, false, true, true],
  )
  ahead.cancelAbove(4)
  assert.equal(await waiting, null)
  void ahead.take(5, 5)
  assert.deepEqual(heights(manual), [5, 6, 7, 8, 5])
})

test('a height that is taken again while it is cancelled is fetched once more, for all callers', async () => {
  const manual = createManualFetch()
  const ahead = createFetchAhead(3, manual.fetch)
  const cancelled = ahead.take(5, 5)
  ahead.cancelAbove(4)
  const again = ahead.take(5, 5)
  assert.equal(await cancelled, null)
  const other = ahead.take(5, 5)
  assert.deepEqual(heights(manual), [5, 5])
  manual.fetched[1]?.answer.resolve('five')
  assert.deepEqual(await Promise.all([again, other]), ['five', 'five'])
})

test('a failure reaches the caller that takes the height', async () => {
  const manual = createManualFetch()
  const ahead = createFetchAhead(3, manual.fetch)
  const waiting = ahead.take(5, 6)
  const failure = new Error('broken')
  manual.fetched[1]?.answer.reject(failure)
  manual.fetched[0]?.answer.resolve('five')
  assert.equal(await waiting, 'five')
  await assert.rejects(ahead.take(6, 6), failure)
})
