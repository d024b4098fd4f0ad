import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { nextEvent, openEventStream } from '../../../src/graphql/http/event-stream.ts'

/** A response whose reader takes what was written when the test lets it. */
function openStream(t: TestContext, headers: Record<string, string | undefined> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const written: string[] = []
  const shown = new Map<string, unknown>()
  const untaken: (() => void)[] = []
  const response = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, taken) {
      written.push(String(chunk))
      untaken.push(taken)
    },
  })
  const setHeader = (name: string, value: unknown) => shown.set(name, value)
  const stream = openEventStream(
    Object.assign(response, { setHeader }) as unknown as ServerResponse,
    headers,
  )
  return {
    ...{ stream, response, written, headers: shown },
    /** The reader takes a piece, which lets the next one go. */
    take: () => untaken.shift()?.(),
    pass: (ms: number) => t.mock.timers.tick(ms),
  }
}

const complete = 'event: complete\ndata:\n\n'

test('a stream has the headers of its kind, beside those of the answer that are set', (t) => {
  const { headers } = openStream(t, {
    vary: 'origin',
    etag: undefined,
    'content-type': 'text/plain',
  })
  assert.deepEqual(Object.fromEntries(headers), {
    vary: 'origin',
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
})

test('a long event is written in pieces of 64 KiB, and is taken with the last of them', async (t) => {
  const piece = 64 * 1024
  for (const [length, pieces] of [
    [piece, [piece]],
    [piece + 1, [piece, 1]],
    [2 * piece, [piece, piece]],
  ] as const) {
    const { stream, written, take } = openStream(t)
    let isTaken = false
    stream.send(Buffer.alloc(length, 'x'), () => {
      isTaken = true
    })
    assert.equal(stream.queuedBytes(), length)
    for (const _ of pieces) {
      assert.equal(isTaken, false)
      take()
      await nextTurn()
    }
    assert.deepEqual([isTaken, stream.queuedBytes()], [true, 0])
    assert.deepEqual(
      written.map((each) => each.length),
      pieces,
    )
    t.mock.timers.reset()
  }
})

test('what waits for a reader that leaves is taken, once, and the stream is over', async (t) => {
  const { stream, response, take } = openStream(t)
  let taken = 0
  const onTaken = (): void => {
    taken += 1
  }
  stream.send(nextEvent('1'), onTaken)
  take()
  await nextTurn()
  stream.send(nextEvent('2'), onTaken)
  stream.send(nextEvent('3'), onTaken)
  assert.deepEqual([taken, stream.signal.aborted], [1, false])
  response.destroy()
  await nextTurn()
  assert.deepEqual([taken, stream.signal.aborted], [3, true])
})

test('a connection that fails ends its stream, and nothing else', async (t) => {
  const { stream, response } = openStream(t)
  response.destroy(new Error('it was reset'))
  await nextTurn()
  assert.equal(stream.signal.aborted, true)
})

test('a comment is sent while nothing else waits', async (t) => {
  const { stream, written, take } = openStream(t)
  stream.beat()
  stream.beat()
  take()
  await nextTurn()
  assert.deepEqual(written, [':\n\n'])
  stream.beat()
  assert.deepEqual(written, [':\n\n', ':\n\n'])
})

test('the last event is followed by the end, which a reader has five seconds to read', async (t) => {
  const { stream, response, written, take, pass } = openStream(t)
  stream.end(nextEvent('{"data":null}'))
  assert.equal(stream.signal.aborted, true)
  take()
  await nextTurn()
  assert.deepEqual(written, ['event: next\ndata: {"data":null}\n\n', complete])
  pass(4_999)
  assert.equal(response.destroyed, false)
  pass(1)
  assert.equal(response.destroyed, true)
})

test('a reader who has read the end is not cut off later', async (t) => {
  const { stream, response, take, pass } = openStream(t)
  stream.end()
  take()
  await once(response, 'close')
  const destroy = t.mock.method(response, 'destroy')
  pass(5_000)
  assert.equal(destroy.mock.callCount(), 0)
})

test('an answer in pieces is one event, and one that fails ends the connection', async (t) => {
  const whole = openStream(t)
  whole.stream.endWith(['{"data":', '1}'])
  while (!whole.response.writableFinished) {
    whole.take()
    await nextTurn()
  }
  assert.equal(whole.written.join(''), `event: next\ndata: {"data":1}\n\n${complete}`)
  t.mock.timers.reset()
  const broken = openStream(t)
  const pieces = function* (): Generator<string> {
    yield '{"data":'
    throw new Error('the store is gone')
  }
  broken.stream.endWith(pieces())
  while (!broken.response.destroyed) {
    broken.take()
    await nextTurn()
  }
  assert.doesNotMatch(broken.written.join(''), /complete/)
})
