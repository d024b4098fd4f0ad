/** The frames of the protocol by which applications follow Views. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { followLimits } from '../../src/follow/follow-limits.ts'
import {
  decodeHostFrame,
  encodeHostFrame,
  followErrors,
  type HostFrame,
  type RowsFrame,
  type WelcomedView,
} from '../../src/follow/host-frames.ts'
import {
  type ApplicationFrame,
  decodeApplicationFrame,
  encodeApplicationFrame,
} from '../../src/follow/open-frames.ts'
import { major } from '../../src/primitives/cbor.ts'
import { viewLimits } from '../../src/views/view.ts'
import { opaqueSeal } from '../support/chain/opaque-blocks.ts'

const refusal = { code: 'PRIMITIVES_MESSAGE_MALFORMED' }
const plain = { noNullPrototype: true } as const
const hash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const height = fc.nat(2 ** 31 - 1)
const place = fc.record({ number: height, hash }, plain)
const bytes = fc.uint8Array({ maxLength: 300 })

const cursor = fc
  .uniqueArray(place, { selector: ({ number }) => number, maxLength: 6 })
  .map((places) => places.toSorted((a, b) => b.number - a.number))
const open = fc.record(
  {
    kind: fc.constant('open' as const),
    views: fc.uniqueArray(fc.record({ view: hash, cursor, withRows: fc.boolean() }, plain), {
      selector: ({ view }) => view,
      minLength: 1,
      maxLength: 4,
    }),
    from: height,
    windowBytes: fc.nat(followLimits.windowBytes),
  },
  plain,
)
const credit = fc.record(
  {
    kind: fc.constant('credit' as const),
    bytes: fc.integer({ min: 1, max: followLimits.windowBytes }),
  },
  plain,
)
const applicationFrame: fc.Arbitrary<ApplicationFrame> = fc.oneof(open, credit)

const seal = fc.record(
  {
    network: fc.string({ maxLength: 20 }),
    blockNumber: height,
    blockHash: hash,
    merkleRoot: hash.map((text) => text.slice(2)),
    cidCount: height,
    signatureType: fc.constant('Ed25519' as const),
    signatureIdentity: hash.map((text) => text.slice(2)),
    signatureValue: hash.map((text) => text.slice(2)),
    createdAt: fc.constant('2026-01-02T03:04:05Z'),
  },
  plain,
)
const viewPlace = { view: hash, number: height, hash, parent: hash }
const welcomed = fc.record(
  {
    view: hash,
    name: fc.string({ maxLength: 30 }),
    sdl: fc.string({ maxLength: 200 }),
    tail: fc.option(height),
    head: fc.option(height),
    state: fc.string({ maxLength: 16 }),
  },
  plain,
)
const kind = <K extends HostFrame['kind']>(name: K): fc.Arbitrary<K> => fc.constant(name)
const hostFrame: fc.Arbitrary<HostFrame> = fc.oneof(
  fc.record(
    {
      kind: kind('welcome'),
      proof: bytes,
      genesis: fc.option(hash),
      views: fc.array(welcomed, { maxLength: 4 }),
    },
    plain,
  ),
  fc.record(
    {
      kind: kind('rows'),
      ...viewPlace,
      count: fc.nat(2 ** 32 - 1),
      part: fc.nat(63),
      last: fc.boolean(),
      bytes,
    },
    plain,
  ),
  fc.record({ kind: kind('failed'), ...viewPlace }, plain),
  fc.record({ kind: kind('statement'), excerpt: bytes }, plain),
  fc.record({ kind: kind('votes'), excerpts: fc.array(bytes, { maxLength: 4 }) }, plain),
  fc.record(
    { kind: kind('seals'), number: height, hash, seals: fc.array(seal, { maxLength: 3 }) },
    plain,
  ),
  fc.record({ kind: kind('retract'), view: hash, place: fc.option(place) }, plain),
  fc.record({ kind: kind('head'), number: height, hash }, plain),
  fc.record(
    { kind: kind('error'), error: fc.constantFrom(...followErrors), tail: fc.option(height) },
    plain,
  ),
)

/** Parts of frames are memory of the frame; compared are their bytes. */
const copied = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, item) =>
      ArrayBuffer.isView(item) || item?.type === 'Buffer'
        ? Buffer.from(item.data ?? item).toString('hex')
        : item,
    ),
  )

test('frames are read as they were written', () => {
  fc.assert(
    fc.property(applicationFrame, (given) => {
      assert.deepEqual(decodeApplicationFrame(encodeApplicationFrame(given)), given)
    }),
  )
  fc.assert(
    fc.property(hostFrame, (given) => {
      assert.deepEqual(copied(decodeHostFrame(encodeHostFrame(given))), copied(given))
    }),
  )
})

test('frames are canonical DAG-CBOR', () => {
  fc.assert(
    fc.property(applicationFrame, (given) => {
      const bytes = encodeApplicationFrame(given)
      assert.deepEqual(Buffer.from(encode(decode(bytes))), Buffer.from(bytes))
    }),
  )
  fc.assert(
    fc.property(hostFrame, (given) => {
      const bytes = encodeHostFrame(given)
      assert.deepEqual(Buffer.from(encode(decode(bytes))), Buffer.from(bytes))
    }),
  )
})

test('bytes that are no frame are refused as malformed, whatever they are', () => {
  const decoders = [decodeApplicationFrame, decodeHostFrame]
  const altered = fc
    .tuple(
      fc.oneof(applicationFrame.map(encodeApplicationFrame), hostFrame.map(encodeHostFrame)),
      fc.nat(),
      fc.nat(255),
    )
    .map(([frame, at, byte]) => {
      const other = Uint8Array.from(frame)
      other[at % other.length] = byte
      return other
    })
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), altered), (bytes) => {
      for (const read of decoders) {
        try {
          read(bytes)
        } catch (error) {
          assert.equal((error as { code?: string }).code, refusal.code)
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

const view = `0x${'11'.repeat(32)}`
const block = (number: number) => ({ number, hash: `0x${'22'.repeat(32)}` })
const opening = (
  views: readonly { view: string; cursor: readonly { number: number; hash: string }[] }[],
) =>
  encodeApplicationFrame({
    kind: 'open',
    views: views.map((each) => ({ ...each, withRows: true })),
    from: 0,
    windowBytes: 1,
  })

test('a list that says another length than it has is refused, wherever it stands', () => {
  const place = { number: 1, hash: `0x${'ab'.repeat(32)}` }
  const view = place.hash
  const application: readonly ApplicationFrame[] = [
    { kind: 'open', views: [{ view, cursor: [place], withRows: true }], from: 0, windowBytes: 0 },
    { kind: 'credit', bytes: 1 },
  ]
  const shown = { view, name: 'T', sdl: 'type T', tail: 1, head: 2, state: 'live' }
  const host: readonly HostFrame[] = [
    { kind: 'welcome', proof: Uint8Array.of(1), genesis: null, views: [shown] },
    { kind: 'head', ...place },
    { kind: 'retract', view, place },
  ]
  /** The frame twice for each of its lists, which then names one item more or less. */
  const changed = (frame: Uint8Array): Uint8Array[] =>
    [...frame].flatMap((byte, at) => {
      const isList = (byte & 0xe0) === major.array
      return isList ? [frame.with(at, byte + 1), frame.with(at, byte - 1)] : []
    })
  const requests = application.map((frame) => changed(encodeApplicationFrame(frame)))
  const answers = host.map((frame) => changed(encodeHostFrame(frame)))
  const lists = [...requests, ...answers].map(({ length }) => length)
  assert.deepEqual(lists, [10, 2, 6, 2, 2])
  for (const bytes of requests.flat()) assert.throws(() => decodeApplicationFrame(bytes), refusal)
  for (const bytes of answers.flat()) assert.throws(() => decodeHostFrame(bytes), refusal)
})

test('a stream follows 64 Views by cursors of 64 blocks, and no more of either', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      view: `0x${index.toString(16).padStart(64, '0')}`,
      cursor: [],
    }))
  const blocks = (count: number) =>
    Array.from({ length: count }, (_, index) => block(count - index))
  assert.equal(decodeApplicationFrame(opening(many(64))).kind, 'open')
  assert.throws(() => decodeApplicationFrame(opening(many(65))), refusal)
  assert.equal(decodeApplicationFrame(opening([{ view, cursor: blocks(64) }])).kind, 'open')
  assert.throws(() => decodeApplicationFrame(opening([{ view, cursor: blocks(65) }])), refusal)
})

test('a stream follows each View once, at least one, and names its newest block first', () => {
  assert.throws(() => decodeApplicationFrame(opening([])), refusal)
  const twice = [
    { view, cursor: [] },
    { view, cursor: [] },
  ]
  assert.throws(() => decodeApplicationFrame(opening(twice)), refusal)
  for (const cursor of [
    [block(1), block(2)],
    [block(1), block(1)],
  ])
    assert.throws(() => decodeApplicationFrame(opening([{ view, cursor }])), refusal)
})

test('a frame of an application that is neither an opening nor credit is refused', () => {
  const views = [[Buffer.from(view.slice(2), 'hex'), [], true]]
  const read = (...items: unknown[]) => decodeApplicationFrame(encode(items))
  assert.equal(read('open', views, 0, 1).kind, 'open')
  assert.equal(read('credit', 1).kind, 'credit')
  const unknown = [
    ['close', 1],
    ['close', views, 0, 1],
    ['open', 1],
    ['credit', views, 0, 1],
  ]
  for (const items of unknown)
    assert.throws(() => read(...items), { ...refusal, message: /a frame is unknown/ })
})

test('credit is at least a byte and at most a window', () => {
  const frame = (bytes: number) => encodeApplicationFrame({ kind: 'credit', bytes })
  const { windowBytes } = followLimits
  assert.deepEqual(decodeApplicationFrame(frame(1)), { kind: 'credit', bytes: 1 })
  assert.equal(decodeApplicationFrame(frame(windowBytes)).kind, 'credit')
  assert.throws(() => decodeApplicationFrame(frame(0)), refusal)
  assert.throws(() => decodeApplicationFrame(frame(windowBytes + 1)), refusal)
})

test('the largest part of rows fits a frame of 1 MiB, and a longer frame is refused', () => {
  const rows = (length: number): HostFrame => ({
    kind: 'rows',
    view,
    ...block(2 ** 31 - 1),
    parent: block(1).hash,
    count: 2 ** 32 - 1,
    part: 63,
    last: true,
    bytes: new Uint8Array(length),
  })
  const largest = encodeHostFrame(rows(followLimits.partBytes))
  assert.ok(largest.length <= followLimits.frameBytes)
  assert.equal(decodeHostFrame(largest).kind, 'rows')
  assert.throws(() => decodeHostFrame(encodeHostFrame(rows(followLimits.frameBytes))), refusal)
})

test('a View has the longest name that its SDL and its ID give it, and none that is longer', () => {
  const named = (length: number): HostFrame => ({
    ...{ kind: 'welcome', proof: new Uint8Array(0), genesis: null },
    views: [
      {
        ...{ view: `0x${'ab'.repeat(32)}`, name: 'x'.repeat(length), sdl: '' },
        ...{ tail: null, head: null, state: '' },
      },
    ],
  })
  const longest = decodeHostFrame(encodeHostFrame(named(viewLimits.sdl + 65)))
  const [view] = longest.kind === 'welcome' ? longest.views : []
  assert.equal(view?.name.length, viewLimits.sdl + 65)
  assert.throws(() => decodeHostFrame(encodeHostFrame(named(viewLimits.sdl + 66))), refusal)
})

/** A welcome of one View with what a test changes of it. */
function welcomeOf(view: Partial<WelcomedView>, proofBytes = 0, count = 1): HostFrame {
  const one = { view: block(0).hash, name: '', sdl: '', tail: null, head: null, state: '', ...view }
  const views = Array.from({ length: count }, () => one)
  return { kind: 'welcome', proof: new Uint8Array(proofBytes), genesis: null, views }
}

const limits: Readonly<Record<string, readonly [number, (value: number) => HostFrame]>> = {
  'a proof of 512 bytes': [512, (value) => welcomeOf({}, value)],
  'a state of 32 characters': [32, (value) => welcomeOf({ state: 'x'.repeat(value) })],
  '64 Views': [64, (value) => welcomeOf({}, 0, value)],
  '64 votes': [
    64,
    (value) => ({ kind: 'votes', excerpts: Array.from({ length: value }, () => Buffer.of(1)) }),
  ],
  '64 seals': [
    64,
    (value) => ({
      kind: 'seals',
      ...block(1),
      seals: Array.from({ length: value }, () => opaqueSeal(1)),
    }),
  ],
  'a part with the number 63': [63, (value) => rowsOf({ part: value })],
  'as many rows as 32 bits count': [2 ** 32 - 1, (value) => rowsOf({ count: value })],
  'a block at the highest height': [2 ** 31 - 1, (value) => ({ kind: 'head', ...block(value) })],
}

function rowsOf(change: Partial<RowsFrame>): HostFrame {
  const place = { view, ...block(1), parent: block(0).hash }
  return { kind: 'rows', ...place, count: 0, part: 0, last: true, bytes: Buffer.of(), ...change }
}

for (const [what, [most, frame]] of Object.entries(limits))
  test(`a Host may send ${what}, and no more`, () => {
    assert.deepEqual(copied(decodeHostFrame(encodeHostFrame(frame(most)))), copied(frame(most)))
    assert.throws(() => decodeHostFrame(encodeHostFrame(frame(most + 1))), refusal)
  })

test('a block to go back to is named by number and hash, or not at all', () => {
  const hashBytes = new Uint8Array(32)
  const retract =
    (...place: unknown[]) =>
    () =>
      decodeHostFrame(encode(['retract', hashBytes, ...place]))
  assert.equal(retract(1, hashBytes)().kind, 'retract')
  assert.equal(retract(null, null)().kind, 'retract')
  for (const half of [retract(1, null), retract(null, hashBytes)])
    assert.throws(half, { ...refusal, message: /half a block is named/ })
})

test('a Host that ends a stream names the lowest height that it has, or none', () => {
  for (const tail of [null, 7])
    assert.deepEqual(decodeHostFrame(encode(['error', 'pruned', tail])), {
      ...{ kind: 'error', error: 'pruned', tail },
    })
})

test('an error that is not among those of the protocol is refused', () => {
  const failing = () => decodeHostFrame(encode(['error', 'tired', null]))
  assert.throws(failing, { ...refusal, message: /an error is unknown/ })
})

test('an application may ask for a window of 16 MiB, and no more', () => {
  const asking = (windowBytes: number) =>
    encodeApplicationFrame({
      ...{ kind: 'open', from: 0, windowBytes },
      views: [{ view, cursor: [], withRows: true }],
    })
  const largest = decodeApplicationFrame(asking(16 * 1024 * 1024))
  assert.equal(largest.kind === 'open' && largest.windowBytes, 16 * 1024 * 1024)
  assert.throws(() => decodeApplicationFrame(asking(16 * 1024 * 1024 + 1)), refusal)
})
