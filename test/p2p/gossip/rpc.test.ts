import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RPC } from '@libp2p/gossipsub/message'
import fc from 'fast-check'
import { readRpc } from '../../../src/p2p/gossip/rpc.ts'

const id = fc.uint8Array({ maxLength: 32, size: 'max' })
const topicID = fc.string({ maxLength: 40, size: 'max' })
const controls = fc.record({
  ihave: fc.array(
    fc.record({ topicID, messageIDs: fc.array(id, { maxLength: 70, size: 'max' }) }),
    {
      maxLength: 2,
    },
  ),
  iwant: fc.array(fc.record({ messageIDs: fc.array(id, { maxLength: 5 }) }), { maxLength: 2 }),
  graft: fc.array(fc.record({ topicID }), { maxLength: 2 }),
  prune: fc.array(
    fc.record({
      topicID,
      peers: fc.constant<never[]>([]),
      backoff: fc.integer({ min: 0, max: 600 }),
    }),
    {
      maxLength: 2,
    },
  ),
  idontwant: fc.array(fc.record({ messageIDs: fc.array(id, { maxLength: 5 }) }), { maxLength: 2 }),
})
const messages = fc.array(
  fc.record({
    topic: fc.string({ minLength: 1, maxLength: 20, size: 'max' }),
    data: fc.uint8Array({ maxLength: 500, size: 'max' }),
  }),
  { maxLength: 3 },
)
const subscriptions = fc.array(fc.record({ subscribe: fc.boolean(), topic: topicID }), {
  maxLength: 3,
})

type Controls = typeof controls extends fc.Arbitrary<infer T> ? T : never

function control(more: Partial<Controls>): Uint8Array {
  const none = { ihave: [], iwant: [], graft: [], prune: [], idontwant: [] }
  return RPC.encode({ subscriptions: [], messages: [], control: { ...none, ...more } })
}

function ids(count: number, bytes = 32): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: count }, () => new Uint8Array(bytes))
}

function workOf(frame: Uint8Array): number {
  const rpc = readRpc(frame)
  return rpc.fault === null ? rpc.cost : assert.fail(rpc.fault)
}

test('what gossipsub itself sends is read: the messages one by one, and the rest as it was', () => {
  fc.assert(
    fc.property(subscriptions, messages, fc.option(controls), (subscribed, sent, controlled) => {
      const rest = { subscriptions: subscribed, ...(controlled && { control: controlled }) }
      const rpc = readRpc(RPC.encode({ ...rest, messages: sent }))
      assert(rpc.fault === null)
      const plain = sent.map(({ topic, data }) => [topic, Buffer.from(data)])
      assert.deepEqual(
        rpc.messages.map(({ topic, data }) => [topic, Buffer.from(data)]),
        plain,
      )
      assert.deepEqual(Buffer.from(rpc.rest), Buffer.from(RPC.encode({ ...rest, messages: [] })))
      const alone = rpc.messages.flatMap(({ field }) => RPC.decode(field).messages)
      assert.deepEqual(
        alone.map(({ topic, data = new Uint8Array() }) => [topic, Buffer.from(data)]),
        plain,
      )
    }),
  )
})

test('each frame is work, each message and each wanted one, and every 32 IDs', () => {
  const message = { topic: '/t', data: new Uint8Array(1) }
  assert.equal(workOf(RPC.encode({ subscriptions: [], messages: [] })), 1)
  assert.equal(workOf(RPC.encode({ subscriptions: [], messages: [message, message] })), 3)
  assert.equal(workOf(control({ iwant: [{ messageIDs: ids(10) }] })), 11)
  assert.equal(workOf(control({ ihave: [{ topicID: '/t', messageIDs: ids(63) }] })), 3)
  assert.equal(workOf(control({ idontwant: [{ messageIDs: ids(31) }] })), 1)
})

const faulty: Readonly<Record<string, Uint8Array>> = {
  'a group': Uint8Array.of(0x0b, 1, 2, 3),
  'a field longer than the frame': Uint8Array.of(0x12, 0x7f, 1),
  'a field without a number': Uint8Array.of(0x00, 0x00),
  'a tag that is cut off': Uint8Array.of(0x92),
  'a message with a signature': RPC.encode({
    subscriptions: [],
    messages: [{ topic: '/t', data: new Uint8Array(1), signature: new Uint8Array(64) }],
  }),
  'a message without a topic': Uint8Array.of(0x12, 0x03, 0x12, 0x01, 0x00),
  'an ID that is no SHA-256': control({ ihave: [{ topicID: '/t', messageIDs: ids(1, 33) }] }),
  'a wanted ID that is no SHA-256': control({ iwant: [{ messageIDs: ids(1, 33) }] }),
  'an unwanted ID that is no SHA-256': control({ idontwant: [{ messageIDs: ids(1, 33) }] }),
  'a wish to be left alone for years': control({
    prune: [{ topicID: '/t', peers: [], backoff: 601 }],
  }),
  'a topic of kilobytes': control({ graft: [{ topicID: 't'.repeat(4097) }] }),
  'more fields than any list has': new Uint8Array(2 * 8193).fill(0x08),
}

for (const [name, frame] of Object.entries(faulty)) {
  test(`${name} is a malformed message`, () => {
    assert.deepEqual(readRpc(frame), { fault: 'malformed message' })
  })
}

test('any bytes whatever are met without an error', () => {
  const tagged = fc.tuple(
    fc.constantFrom(0x0a, 0x12, 0x1a),
    fc.uint8Array({ maxLength: 120, size: 'max' }),
  )
  const inputs = fc.oneof(
    fc.uint8Array({ maxLength: 300, size: 'max' }),
    tagged.map(([tag, content]) => Uint8Array.of(tag, content.length, ...content)),
  )
  fc.assert(
    fc.property(inputs, (bytes) => {
      const rpc = readRpc(bytes)
      assert(rpc.fault !== null || rpc.cost >= 1)
    }),
    { numRuns: 2000 },
  )
})
