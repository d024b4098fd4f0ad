import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RPC } from '@libp2p/gossipsub/message'
import fc from 'fast-check'
import { createRpcMeter } from '../../../src/p2p/gossip/rpc-meter.ts'
import type { Fault } from '../../../src/p2p/limits/fault.ts'
import { lengthPrefixed } from '../../support/raw-peer.ts'

const options = { maxFrameBytes: 4096, maxMessageBytes: 1024 }

function message(bytes: number): Uint8Array {
  return RPC.encode({
    subscriptions: [],
    messages: [{ topic: '/t', data: new Uint8Array(bytes) }],
  })
}

/** Feeds the bytes cut at the given places. */
function meterOf(bytes: Uint8Array, cuts: readonly number[]): Fault[] {
  const meter = createRpcMeter(options)
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]
  let from = 0
  return places
    .sort((a, b) => a - b)
    .flatMap((to) => {
      const faults = meter.push(bytes.subarray(from, to))
      from = to
      return faults
    })
}

const rpcs = fc
  .record({
    subscriptions: fc.array(fc.record({ subscribe: fc.boolean(), topic: fc.string() }), {
      maxLength: 3,
    }),
    messages: fc.array(
      fc.record({ topic: fc.string({ maxLength: 20 }), data: fc.uint8Array({ maxLength: 500 }) }),
      { maxLength: 3 },
    ),
    control: fc.option(
      fc.record({
        ihave: fc.array(
          fc.record({
            topicID: fc.string(),
            messageIDs: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 3 }),
          }),
          { maxLength: 2 },
        ),
        iwant: fc.array(fc.record({ messageIDs: fc.constant<Uint8Array[]>([]) }), { maxLength: 1 }),
        graft: fc.array(fc.record({ topicID: fc.string() }), { maxLength: 2 }),
        prune: fc.array(fc.record({ topicID: fc.string(), peers: fc.constant<never[]>([]) }), {
          maxLength: 1,
        }),
        idontwant: fc.array(fc.record({ messageIDs: fc.constant<Uint8Array[]>([]) }), {
          maxLength: 1,
        }),
      }),
    ),
  })
  .map(({ control, ...rpc }) => RPC.encode(control === null ? rpc : { ...rpc, control }))

const cuts = fc.array(fc.nat(5000), { maxLength: 6 })

test('what gossipsub itself sends shows no fault, however the bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(rpcs, { maxLength: 4 }), cuts, (frames, places) => {
      const bytes = Buffer.concat(frames.map(lengthPrefixed))
      assert.deepEqual(meterOf(bytes, places), [])
    }),
  )
})

test('a message above the limit is a fault as soon as its length is known', () => {
  const bytes = lengthPrefixed(message(2000))
  assert.deepEqual(meterOf(bytes.subarray(0, 10), []), ['oversize message'])
  assert.deepEqual(meterOf(lengthPrefixed(message(1000)), []), [])
})

test('a frame above the limit is a fault, and nothing after it is looked at', () => {
  const bytes = Buffer.concat([
    lengthPrefixed(new Uint8Array(5000)),
    lengthPrefixed(new Uint8Array(9)),
  ])
  assert.deepEqual(meterOf(bytes, []), ['oversize message'])
})

test('a length that is not in its shortest form is a fault: gossipsub would read on elsewhere', () => {
  assert.deepEqual(meterOf(Uint8Array.of(0x82, 0x00, 0x12, 0x00), []), ['malformed message'])
})

test('each frame that is no protobuf message is one fault, and the next frame is read again', () => {
  const groups = Uint8Array.of(0x0b, 1, 2, 3)
  const tooLong = Uint8Array.of(0x12, 0x7f, 1)
  const noField = Uint8Array.of(0x00, 0x00)
  const cutTag = Uint8Array.of(0x92)
  const bad = [groups, tooLong, noField, cutTag]
  const bytes = Buffer.concat([...bad, message(10), groups].map(lengthPrefixed))
  assert.deepEqual(meterOf(bytes, []), Array(5).fill('malformed message'))
})

test('any bytes whatever are met without an error, and with the same faults however they are cut', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (bytes, places) => {
      assert.deepEqual(meterOf(bytes, places), meterOf(bytes, []))
    }),
  )
})
