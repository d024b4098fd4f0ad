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

/** What other versions of the program read and write, too. */
const golden: readonly (readonly [ClientFrame | ServerFrame, string])[] = [
  [
    { kind: 'request', from: 1, to: 2, windowBytes: 3, status: { tail: 4, head: 5 } },
    '01 000000000001 000000000002 00000003 01 000000000004 000000000005',
  ],
  [
    { kind: 'request', from: 1, to: 0, windowBytes: 0, status: null },
    '01 000000000001 000000000000 00000000 00 000000000000 000000000000',
  ],
  [{ kind: 'credit', bytes: 0x01020304 }, '02 01020304'],
  [{ kind: 'status', status: { tail: 0, head: maxInt } }, '10 01 000000000000 00007fffffff'],
  [{ kind: 'status', status: null }, '10 00 000000000000 000000000000'],
  [
    { kind: 'block', height: 258, blockBytes: 9, bytes: Uint8Array.of(7, 8) },
    '11 000000000102 00000009 0708',
  ],
  [{ kind: 'part', bytes: Uint8Array.of(7, 8) }, '12 0708'],
  [{ kind: 'end', blocks: 3 }, '13 00000003'],
  [{ kind: 'error', error: 'busy' }, '14 00'],
  [{ kind: 'error', error: 'unavailable' }, '14 01'],
]

test('the bytes of each frame are what they are for all who speak the protocol', () => {
  for (const [frame, hex] of golden) {
    const isClients = frame.kind === 'request' || frame.kind === 'credit'
    const written = isClients ? encodeClientFrame(frame) : encodeServerFrame(frame)
    assert.equal(Buffer.from(written).toString('hex'), hex.replaceAll(' ', ''))
  }
})

test('a height above any that a block can have is written as the highest', () => {
  const status = { tail: 0, head: maxInt + 1 }
  const frame = { kind: 'request', from: 0, to: 2 ** 52, windowBytes: 0, status } as const
  assert.deepEqual(decodeClientFrame(encodeClientFrame(frame)), {
    ...frame,
    to: maxInt,
    status: { tail: 0, head: maxInt },
  })
})

test('a reason that this version does not know is one not to come back at once', () => {
  const unknown = { kind: 'error', error: 'unavailable' }
  assert.deepEqual(decodeServerFrame(Uint8Array.of(20, refusals.length)), unknown)
  assert.deepEqual(decodeServerFrame(Uint8Array.of(20, 255)), unknown)
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

/** Frames whose length follows from their kind. */
const fixedFrames: readonly (ClientFrame | ServerFrame)[] = [
  { kind: 'request', from: 1, to: 2, windowBytes: 3, status: null },
  { kind: 'credit', bytes: 1 },
  { kind: 'status', status: { tail: 1, head: 2 } },
  { kind: 'end', blocks: 1 },
  { kind: 'error', error: 'busy' },
]

for (const frame of fixedFrames) {
  test(`a frame of kind "${frame.kind}" that is cut short or goes on is refused`, () => {
    const isClients = frame.kind === 'request' || frame.kind === 'credit'
    const whole = isClients ? encodeClientFrame(frame) : encodeServerFrame(frame)
    const decode = isClients ? decodeClientFrame : decodeServerFrame
    assert.equal(decode(whole).kind, frame.kind)
    for (let length = 0; length < whole.byteLength; length += 1)
      assert.throws(() => decode(whole.subarray(0, length)), { name: frameErrorName })
    assert.throws(() => decode(Uint8Array.of(...whole, 0)), { name: frameErrorName })
  })
}

test('a frame of a kind that a side does not send is refused, however it goes on', () => {
  const unknown = { name: frameErrorName, message: 'unknown frame' }
  for (const [frame] of golden) {
    const isClients = frame.kind === 'request' || frame.kind === 'credit'
    const bytes = isClients ? encodeClientFrame(frame) : encodeServerFrame(frame)
    assert.throws(() => (isClients ? decodeServerFrame(bytes) : decodeClientFrame(bytes)), unknown)
    const decode = isClients ? decodeClientFrame : decodeServerFrame
    assert.throws(() => decode(bytes.with(0, 99)), unknown)
  }
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

test('a range is there or not: any other word for that is refused', () => {
  const frame = Buffer.from(encodeServerFrame({ kind: 'status', status: { tail: 1, head: 2 } }))
  frame[1] = 2
  assert.throws(() => decodeServerFrame(frame), { name: frameErrorName })
})

test('where there is no range, its heights may be any', () => {
  const bytes = encodeServerFrame({ kind: 'status', status: null })
  const tail = 7
  assert.deepEqual(decodeServerFrame(Buffer.from(bytes.with(tail, 1))), {
    kind: 'status',
    status: null,
  })
})

test('a range whose tail lies above its head is refused', () => {
  const frame = Buffer.from(encodeServerFrame({ kind: 'status', status: { tail: 5, head: 5 } }))
  frame.writeUIntBE(6, 2, 6)
  assert.throws(() => decodeServerFrame(frame), { name: frameErrorName })
})
