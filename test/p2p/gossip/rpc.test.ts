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

/** So many fields that nobody knows, each a number in one byte. */
function unknownFields(count: number): Uint8Array {
  return new Uint8Array(2 * count).fill(0x38)
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
  'a tag of 33 bits, of which others read 32': Uint8Array.of(0x92, 0x80, 0x80, 0x80, 0x10, 0),
  'a length in six bytes': Uint8Array.of(0x3a, 0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 1),
  'a message whose data is a number': Uint8Array.of(0x12, 5, 0x10, 1, 0x22, 1, 0x74),
  'a subscription in a number of six bytes': Uint8Array.of(0x0a, 7, 8, 129, 128, 128, 128, 128, 0),
  'a list that ends before its last ID': Uint8Array.of(0x1a, 4, 0x12, 2, 0x0a, 32),
  'a record of a peer that ends before its ID': Uint8Array.of(0x1a, 6, 0x22, 4, 0x12, 2, 0x0a, 32),
  'a backoff that is a text': Uint8Array.of(0x1a, 5, 0x22, 3, 0x1a, 1, 0),
  'a topic of kilobytes': control({ graft: [{ topicID: 't'.repeat(4097) }] }),
  'a topic of kilobytes that is left': control({
    prune: [{ topicID: 't'.repeat(4097), peers: [], backoff: 60 }],
  }),
  'a topic of kilobytes that is subscribed to': RPC.encode({
    subscriptions: [{ subscribe: true, topic: 't'.repeat(4092) }],
    messages: [],
  }),
  'a message on a topic of kilobytes': RPC.encode({
    subscriptions: [],
    messages: [{ topic: 't'.repeat(4097), data: new Uint8Array(1) }],
  }),
  'a group in a field that nobody knows': Uint8Array.of(0x3b, 0x3c),
  'the lowest tag of 33 bits': Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x10, 0),
  'a number of nine bytes': Uint8Array.of(0x38, ...Array(8).fill(0x80), 0),
  'a number of eight bytes that is cut short': Uint8Array.of(0x39, ...Array(7).fill(0)),
  'a number of four bytes that is cut short': Uint8Array.of(0x3d, ...Array(3).fill(0)),
  'more fields than any list has': unknownFields(8193),
  'more IDs than any list has': control({ iwant: [{ messageIDs: ids(8191, 0) }] }),
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

test('numbers of 32 bits may have five bytes, and what nobody knows may be anything', () => {
  const subscription = [0x0a, 9, 0x12, 1, 0x74, 8, 129, 128, 128, 128, 0]
  const unknown = [0x3a, 0x81, 0x80, 0x80, 0x80, 0x00, 1]
  const inMessage = [0x1a, 7, 0x3a, 5, 0x12, 0xff, 0xff, 0xff, 0xff]
  const inList = [0x1a, 5, 0x0a, 3, 0x18, 0xe8, 0x07]
  const fixed = [0x39, ...Array(8).fill(0xff), 0x3d, ...Array(4).fill(0xff), ...subscription]
  const long = [0x38, ...Array(7).fill(0x80), 0]
  const read = RPC.decode(Uint8Array.from(subscription)).subscriptions
  assert.deepEqual(read, [{ topic: 't', subscribe: true }])
  for (const frame of [subscription, unknown, inMessage, inList, fixed, long])
    assert.deepEqual(readRpc(Uint8Array.from(frame)).fault, null)
})

test('what a frame may hold is read up to the last field, byte and second of it', () => {
  const topic = 't'.repeat(4096)
  const message = { topic, data: new Uint8Array(1) }
  // A subscription has as many bytes in all.
  const subscription = { subscribe: true, topic: 't'.repeat(4091) }
  const backoff = { topicID: topic, peers: [], backoff: 600 }
  const cost: readonly (readonly [Uint8Array, number])[] = [
    [unknownFields(8192), 1],
    [control({ iwant: [{ messageIDs: ids(8190) }] }), 8191],
    [RPC.encode({ subscriptions: [subscription], messages: [message] }), 2],
    [control({ graft: [{ topicID: topic }], prune: [backoff] }), 1],
  ]
  for (const [frame, work] of cost) assert.equal(workOf(frame), work)
})

test('control messages of one frame add up, and those of two lists in it', () => {
  const wanted = control({ iwant: [{ messageIDs: ids(10) }, { messageIDs: ids(5) }] })
  assert.equal(workOf(wanted), 16)
  assert.equal(workOf(Buffer.concat([wanted, wanted])), 31)
})

interface LooseField {
  readonly number: number
  readonly wire: number
  /** Bits above those that 32 bits hold, and zeros behind the tag, the length or the value. */
  readonly above: number
  readonly padding: number
  readonly content: Uint8Array
}

/** A varint as no honest writer encodes it. */
function looseVarint(value: number, padding: number): number[] {
  const octets: number[] = []
  let left = value
  for (; left >= 0x80; left = Math.floor(left / 0x80)) octets.push((left % 0x80) | 0x80)
  octets.push(left)
  for (let more = 0; more < padding; more++) {
    octets.push((octets.pop() ?? 0) | 0x80, 0)
  }
  return octets
}

function encodeLoosely({ number, wire, above, padding, content }: LooseField): Uint8Array {
  const tag = looseVarint(number * 8 + wire + above * 2 ** 32, above > 0 ? 0 : padding)
  if (wire === 0) return Uint8Array.of(...tag, ...looseVarint(content.length, padding))
  if (wire !== 2) return Uint8Array.of(...tag, ...content.subarray(0, wire === 1 ? 8 : 4))
  return Uint8Array.of(...tag, ...looseVarint(content.length, padding), ...content)
}

const rarely = (values: number[]): fc.Arbitrary<number> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.constantFrom(...values))

/** Messages in messages, most of them as gossipsub knows them. */
const { frame: looseFrame } = fc.letrec<{ frame: Uint8Array; content: Uint8Array }>((tie) => ({
  content: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array({ maxLength: 40 }),
    fc.constant(
      RPC.encode({ subscriptions: [], messages: [{ topic: '/t', data: new Uint8Array(32) }] }),
    ),
    tie('frame'),
  ),
  frame: fc
    .array(
      fc.record({
        number: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constantFrom(7, 16, 2 ** 28)),
        wire: fc.oneof({ weight: 6, arbitrary: fc.constant(2) }, fc.constantFrom(0, 1, 3, 5)),
        above: rarely([1, 2, 7]),
        padding: rarely([1, 3, 4, 5, 7]),
        content: tie('content'),
      }),
      { minLength: 1, maxLength: 4, size: 'max' },
    )
    .map((fields) => Buffer.concat(fields.map(encodeLoosely))),
}))

test('what is passed on is for gossipsub what it was here: no other message is in it', () => {
  let passed = 0
  const property = fc.property(looseFrame, (frame) => {
    const rpc = readRpc(frame)
    if (rpc.fault !== null) return
    passed += 1
    const rest = RPC.decode(rpc.rest)
    assert.deepEqual(rest.messages, [])
    for (const { messageIDs } of [
      ...(rest.control?.ihave ?? []),
      ...(rest.control?.iwant ?? []),
      ...(rest.control?.idontwant ?? []),
    ])
      assert.ok(messageIDs.every(({ length }) => length <= 32))
    assert.ok(rest.control?.prune.every(({ backoff = 0 }) => backoff <= 600) ?? true)
    // A topic that is not UTF-8 is none that anybody listens to.
    for (const { topic, data, field } of rpc.messages.filter((each) => !each.topic.includes('�'))) {
      const { messages: read, subscriptions: none, control: nothing } = RPC.decode(field)
      assert.deepEqual([none, nothing], [[], undefined])
      assert.deepEqual(
        read.map((message) => [message.topic, Buffer.from(message.data ?? [])]),
        [[topic, Buffer.from(data)]],
      )
    }
  })
  fc.assert(property, { numRuns: 5000 })
  assert.ok(passed > 500, `${passed} frames`)
})
