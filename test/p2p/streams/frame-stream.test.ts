import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { lpStream, streamPair } from '@libp2p/utils'
import { frameError } from '../../../src/p2p/streams/frame-error.ts'
import {
  openFrameStream,
  streamFailure,
  toStreamFailure,
} from '../../../src/p2p/streams/frame-stream.ts'

function named(name: string): Error {
  return Object.assign(new Error('what libp2p says'), { name })
}

test('what ends a stream is the peer’s fault where it can be nobody else’s', () => {
  const faults = {
    InvalidDataLengthError: 'oversize frame',
    InvalidDataLengthLengthError: 'oversize frame',
    StreamBufferError: 'protocol violation',
    InvalidMessageLengthError: 'malformed frame',
    StreamResetError: null,
  }
  for (const [name, fault] of Object.entries(faults)) {
    const error = named(name)
    const failure = toStreamFailure(error)
    assert.deepEqual([failure.fault, failure.message], [fault, 'what libp2p says'])
    assert.equal(failure.cause, error)
  }
  assert.equal(toStreamFailure(frameError('unknown frame')).fault, 'malformed frame')
})

test('an event is as good as the error that it carries, and a failure stays what it is', () => {
  const failure = streamFailure('no progress in time', 'stalled reader')
  assert.equal(toStreamFailure(failure), failure)
  assert.equal(toStreamFailure({ error: failure }), failure)
  assert.equal(toStreamFailure({ error: named('StreamBufferError') }).fault, 'protocol violation')
  for (const thrown of [null, undefined, 'a text', {}, { error: undefined }, { error: 'a text' }]) {
    const { fault, message } = toStreamFailure(thrown)
    assert.deepEqual([fault, message], [null, 'the stream ended early'])
  }
})

const stallMs = 60_000

/** A stream whose time passes as the test says; `theirs` is the side of the peer. */
async function open(t: TestContext, signal?: AbortSignal) {
  const [ours, theirs] = await streamPair()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let count = 0
  const frames = openFrameStream(ours, {
    ...{ maxFrameBytes: 100, maxBufferBytes: 1_000, stallMs },
    ...(signal === undefined ? {} : { signal }),
    onFrame: () => {
      count += 1
    },
  })
  t.after(() => ours.abort(new Error('the test is over')))
  return {
    ...{ frames, ours, theirs, peer: lpStream(theirs), count: () => count },
    pass: async (ms: number) => {
      t.mock.timers.tick(ms)
      for (let turn = 0; turn < 5; turn++) await nextTurn()
    },
  }
}

const hello = Buffer.from('hello')

test('a frame may take as long as is said, or else as a step may; then its writer is at fault', async (t) => {
  for (const [maxMs, limitMs] of [
    [undefined, stallMs],
    [100, 100],
  ] as const) {
    const { frames, pass, peer, count } = await open(t)
    const inTime = frames.read(maxMs)
    await pass(limitMs - 1)
    await peer.write(hello)
    assert.deepEqual([Buffer.from(await inTime), count()], [hello, 1])
    await pass(limitMs)
    assert.equal(frames.ended.aborted, false, 'nobody reads')
    const late = frames.read(maxMs)
    const failed = assert.rejects(late, { message: 'no progress in time', fault: 'stalled writer' })
    await pass(limitMs)
    await failed
    assert.deepEqual([frames.ended.aborted, count()], [true, 1])
    t.mock.timers.reset()
  }
})

test('a frame that may take any time is waited for as long as the stream is open', async (t) => {
  const { frames, pass, peer, theirs } = await open(t)
  const reading = frames.read(null)
  await pass(100 * stallMs)
  await peer.write(hello)
  assert.deepEqual(Buffer.from(await reading), hello)
  const last = assert.rejects(frames.read(null), { fault: null })
  theirs.abort(new Error('it leaves'))
  await last
})

test('a stream that a peer does not end after us is dropped in time, without blame', async (t) => {
  const { frames, ours, pass, peer } = await open(t)
  await frames.write(hello)
  await frames.close()
  assert.deepEqual(Buffer.from((await peer.read()).subarray()), hello)
  await pass(stallMs - 1)
  assert.equal(ours.status === 'closed' || ours.status === 'aborted', false)
  await pass(1)
  assert.equal(ours.status, 'aborted')
  await assert.rejects(frames.read(), { message: 'the peer did not end the stream', fault: null })
})

test('a stream that both sides ended is closed for good', async (t) => {
  const { frames, ours, theirs, pass } = await open(t)
  await Promise.all([frames.close(), theirs.close(), once(frames.ended, 'abort')])
  await pass(stallMs)
  assert.equal(ours.status, 'closed')
})

test('an abort of the signal ends a stream, unless our side has ended it', async (t) => {
  const first = new AbortController()
  const running = await open(t, first.signal)
  const reading = assert.rejects(running.frames.read(), { message: 'the transfer was called off' })
  first.abort()
  await reading
  t.mock.timers.reset()
  const second = new AbortController()
  const { frames, ours, peer } = await open(t, second.signal)
  await frames.write(hello)
  await frames.close()
  second.abort()
  assert.notEqual(ours.status, 'aborted')
  assert.deepEqual(Buffer.from((await peer.read()).subarray()), hello)
})

test('a stream that has ended leaves nothing with the signal, whoever ended it', async (t) => {
  const { signal } = new AbortController()
  for (const end of ['ours', 'theirs', 'abort'] as const) {
    const { frames, theirs } = await open(t, signal)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    const ended = once(frames.ended, 'abort')
    if (end === 'ours') await frames.close()
    else if (end === 'theirs') theirs.abort(new Error('it leaves'))
    else frames.abort(new Error('we leave'))
    if (end !== 'ours') await ended
    assert.deepEqual(getEventListeners(signal, 'abort'), [])
    t.mock.timers.reset()
  }
})

test('a stream that has ended by the time it is opened has ended', async (t) => {
  const [ours] = await streamPair()
  ours.abort(new Error('too late'))
  const options = { maxFrameBytes: 1, maxBufferBytes: 1, stallMs, onFrame: () => undefined }
  assert.equal(openFrameStream(ours, options).ended.aborted, true)
  const opened = await open(t)
  assert.deepEqual([opened.ours.status, opened.frames.ended.aborted], ['open', false])
})
