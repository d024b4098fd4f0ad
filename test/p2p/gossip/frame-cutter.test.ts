import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createFrameCutter, type FrameCutter } from '../../../src/p2p/gossip/frame-cutter.ts'
import { lengthOf, lengthPrefixed } from '../../support/raw-peer.ts'

const maxFrameBytes = 100_000

interface Cut {
  readonly cutter: FrameCutter
  /** Bytes that are held for frames in pieces. */
  held(): number
  dropped(): number
}

function openCutter({
  admit = () => true,
  maxHeld = Number.POSITIVE_INFINITY,
}: {
  admit?: (size: number) => boolean
  maxHeld?: number
} = {}): Cut {
  let held = 0
  let dropped = 0
  const cutter = createFrameCutter(maxFrameBytes, {
    admit,
    reservation: () => {
      let own = 0
      return {
        add: (bytes) => {
          if (held + bytes > maxHeld) return false
          own += bytes
          held += bytes
          return true
        },
        release: () => {
          held -= own
          own = 0
        },
      }
    },
    onDropped: () => {
      dropped += 1
    },
  })
  return { cutter, held: () => held, dropped: () => dropped }
}

/** The frames of these bytes, cut at the given places. */
function framesOf(cutter: FrameCutter, bytes: Uint8Array, cuts: readonly number[] = []): Buffer[] {
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]
  let from = 0
  return places
    .sort((a, b) => a - b)
    .flatMap((to) => {
      const frames = cutter.cut(bytes.subarray(from, to)).map((frame) => Buffer.from(frame))
      from = to
      return frames
    })
}

const frames = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40_000, size: 'max' }), {
  maxLength: 4,
})
const cuts = fc.array(fc.nat(120_000), { maxLength: 12, size: 'max' })

test('frames come out as they went in, however the bytes are cut, and no memory is kept', () => {
  fc.assert(
    fc.property(frames, cuts, (sent, places) => {
      const { cutter, held } = openCutter()
      const bytes = Buffer.concat(sent.map(lengthPrefixed))
      assert.deepEqual(framesOf(cutter, bytes, places), sent.map(Buffer.from))
      assert.deepEqual([held(), cutter.isInFrame(), cutter.lost()], [0, false, null])
    }),
    { numRuns: 50 },
  )
})

test('a frame has begun with the first byte of its length', () => {
  const { cutter } = openCutter()
  assert.equal(cutter.isInFrame(), false)
  cutter.cut(lengthOf(1_000).subarray(0, 1))
  assert.equal(cutter.isInFrame(), true)
})

test('a frame of no bytes is passed over, and nobody is asked about it', () => {
  const { cutter, dropped } = openCutter({ admit: (size) => size > 0 })
  assert.deepEqual(cutter.cut(lengthOf(0)), [])
  assert.equal(cutter.isInFrame(), false)
  const next = Buffer.concat([lengthOf(0), lengthPrefixed(Uint8Array.of(7))])
  assert.deepEqual(framesOf(cutter, next), [Buffer.of(7)])
  assert.equal(dropped(), 0)
})

test('memory grows with what has arrived, whatever length a frame claims', () => {
  const { cutter, held } = openCutter()
  cutter.cut(lengthOf(maxFrameBytes))
  const heldAfter = [10, 16 * 1024 - 10, 30_000, 1, 50_000].map((bytes) => {
    cutter.cut(new Uint8Array(bytes))
    return held()
  })
  const arrived = 16 * 1024 + 30_000
  assert.deepEqual(heldAfter, [16 * 1024, 16 * 1024, arrived, 2 * arrived, maxFrameBytes])
  assert(cutter.isInFrame())
  cutter.end()
  assert.equal(held(), 0)
})

test('a frame for which there is no memory is skipped, and the next one is read', () => {
  const { cutter, held, dropped } = openCutter({ maxHeld: 20_000 })
  const [long, short] = [new Uint8Array(50_000), new Uint8Array(10)]
  const bytes = Buffer.concat([long, short].map(lengthPrefixed))
  assert.deepEqual(framesOf(cutter, bytes.subarray(0, 30_000), [100, 15_000]), [])
  assert.deepEqual([held(), dropped()], [0, 1])
  assert.deepEqual(framesOf(cutter, bytes.subarray(30_000)), [Buffer.from(short)])
  assert.deepEqual([held(), dropped()], [0, 1])
})

test('a frame that is not admitted is skipped without being kept', () => {
  const { cutter, held, dropped } = openCutter({ admit: (size) => size < 100 })
  cutter.cut(Buffer.concat([lengthOf(5000), new Uint8Array(4000)]))
  assert.equal(held(), 0)
  const whole = lengthPrefixed(new Uint8Array(100))
  const rest = Buffer.concat([new Uint8Array(1000), whole, lengthPrefixed(Uint8Array.of(7))])
  assert.deepEqual(framesOf(cutter, rest), [Buffer.of(7)])
  assert.equal(dropped(), 2)
})

test('a frame above the limit, or a length without end, is where it ends', () => {
  const long = openCutter().cutter
  assert.deepEqual(long.cut(lengthOf(maxFrameBytes + 1)), [])
  assert.equal(long.lost(), 'oversize message')
  assert.deepEqual(long.cut(lengthPrefixed(Uint8Array.of(1))), [])
  const endless = openCutter().cutter
  endless.cut(new Uint8Array(5).fill(0x80))
  assert.equal(endless.lost(), 'malformed message')
})

test('any bytes whatever are met without an error, and with the same frames however they are cut', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300, size: 'max' }), cuts, (bytes, places) => {
      assert.deepEqual(
        framesOf(openCutter().cutter, bytes, places),
        framesOf(openCutter().cutter, bytes),
      )
    }),
  )
})
