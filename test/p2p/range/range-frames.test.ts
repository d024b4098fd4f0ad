import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Range } from '../../../src/p2p/peers/announcements.ts'
import {
  type ClientFrame,
  decodeClientFrame,
  decodeServerFrame,
  encodeClientFrame,
  encodeServerFrame,
  refusals,
  type ServerFrame,
} from '../../../src/p2p/range/range-frames.ts'
import { frameErrorName } from '../../../src/p2p/streams/frame-error.ts'
import { maxInt } from '../../../src/primitives/bounds.ts'

const height = fc.nat(maxInt)
const size = fc.nat(2 ** 32 - 1)
const range: fc.Arbitrary<Range | null> = fc.option(
  fc.tuple(height, height).map(([a, b]) => ({ tail: Math.min(a, b), head: Math.max(a, b) })),
)
const bytes = fc.uint8Array({ maxLength: 200, size: 'max' })

const clientFrames: fc.Arbitrary<ClientFrame> = fc.oneof(
  fc.record({
    kind: fc.constant('request' as const),
    from: height,
    to: height,
    windowBytes: size,
    status: range,
  }),
  fc.record({ kind: fc.constant('credit' as const), bytes: size }),
)

const serverFrames: fc.Arbitrary<ServerFrame> = fc.oneof(
  fc.record({ kind: fc.constant('status' as const), status: range }),
  fc.record({ kind: fc.constant('block' as const), height, blockBytes: size, bytes }),
  fc.record({ kind: fc.constant('part' as const), bytes }),
  fc.record({ kind: fc.constant('end' as const), blocks: size }),
  fc.record({ kind: fc.constant('error' as const), error: fc.constantFrom(...refusals) }),
)

test('every frame is read back as it was written', () => {
  fc.assert(
    fc.property(clientFrames, (frame) => {
      assert.deepEqual(decodeClientFrame(encodeClientFrame(frame)), { ...frame })
    }),
  )
  fc.assert(
    fc.property(serverFrames, (frame) => {
      const read = decodeServerFrame(encodeServerFrame(frame))
      const plain = 'bytes' in read ? { ...read, bytes: new Uint8Array(read.bytes) } : read
      assert.deepEqual(plain, { ...frame })
    }),
  )
})

test('any other bytes are refused by name, whatever they are', () => {
  const tagged = fc.tuple(fc.constantFrom(1, 2, 16, 17, 18, 19, 20), bytes)
  const inputs = fc.oneof(
    bytes,
    tagged.map(([tag, rest]) => Uint8Array.of(tag, ...rest)),
  )
  fc.assert(
    fc.property(inputs, (input) => {
      for (const decode of [decodeClientFrame, decodeServerFrame]) {
        try {
          decode(input)
        } catch (error) {
          assert(error instanceof Error)
          assert.equal(error.name, frameErrorName)
        }
      }
    }),
  )
})

test('a frame that is cut short or goes on is refused', () => {
  const frame = encodeClientFrame({ kind: 'request', from: 1, to: 2, windowBytes: 3, status: null })
  for (let length = 0; length < frame.byteLength; length += 1) {
    assert.throws(() => decodeClientFrame(frame.subarray(0, length)), { name: frameErrorName })
  }
  assert.throws(() => decodeClientFrame(Uint8Array.of(...frame, 0)), { name: frameErrorName })
})

test('a height that no block can have is refused wherever it stands', () => {
  for (const at of [1, 7, 18, 24]) {
    const request = { from: 1, to: 2, windowBytes: 3, status: { tail: 0, head: 1 } }
    const frame = Buffer.from(encodeClientFrame({ kind: 'request', ...request }))
    frame.writeUIntBE(maxInt, 24, 6)
    frame.writeUIntBE(maxInt, at, 6)
    assert.equal(decodeClientFrame(frame).kind, 'request')
    frame.writeUIntBE(maxInt + 1, at, 6)
    assert.throws(() => decodeClientFrame(frame), { name: frameErrorName })
  }
})

test('a range whose tail lies above its head is refused', () => {
  const frame = Buffer.from(encodeServerFrame({ kind: 'status', status: { tail: 5, head: 5 } }))
  frame.writeUIntBE(6, 2, 6)
  assert.throws(() => decodeServerFrame(frame), { name: frameErrorName })
})
