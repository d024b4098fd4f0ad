import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameError } from '../../../src/p2p/streams/frame-error.ts'
import { streamFailure, toStreamFailure } from '../../../src/p2p/streams/frame-stream.ts'

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
