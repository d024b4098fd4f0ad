import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { compressFrame, decompressFrame } from '../../../src/primitives/body/frame.ts'
import { flip } from './flip.ts'

setFlagsFromString('--expose-gc')
const collect: (options: { type: 'minor' | 'major' }) => void = runInNewContext('gc')
const mebibyte = 1024 * 1024

test('a frame unpacks to what was compressed, and to no byte more than is allowed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 2_000, size: 'max' }), (bytes) => {
      const frame = compressFrame(bytes)
      assert.deepEqual(decompressFrame(frame, bytes.length), Buffer.from(bytes))
      assert.throws(() => decompressFrame(frame, bytes.length - 1))
    }),
  )
})

test('what was compressed and unpacked is free again before everything is collected', () => {
  const bytes = Buffer.alloc(32 * 1024, 'chunk')
  collect({ type: 'major' })
  const before = process.memoryUsage().arrayBuffers
  for (let index = 0; index < 600; index++) decompressFrame(compressFrame(bytes), bytes.length)
  // Memory that the first one frees is counted out by the second.
  for (let times = 0; times < 2; times++) collect({ type: 'minor' })
  const held = process.memoryUsage().arrayBuffers - before
  assert.ok(held < 2 * mebibyte, `${Math.round(held / 1024)} KiB are still held`)
})

/** As Node alone unpacks it: bytes, or null for what is refused. */
function unpackedByNode(frame: Uint8Array, maxBytes: number): Buffer | null {
  const params = { [constants.ZSTD_d_windowLogMax]: 20 }
  return orNull(() => zstdDecompressSync(frame, { maxOutputLength: maxBytes, params }))
}

function orNull(unpack: () => Buffer): Buffer | null {
  try {
    return unpack()
  } catch {
    return null
  }
}

/** Bytes that may be a frame, and what is allowed for them. */
const anyFrame = fc
  .tuple(
    fc.uint8Array({ minLength: 1, maxLength: 3_000, size: 'max' }),
    fc.record({
      [constants.ZSTD_c_compressionLevel]: fc.constantFrom(1, 7),
      [constants.ZSTD_c_checksumFlag]: fc.constantFrom(0, 1),
      [constants.ZSTD_c_contentSizeFlag]: fc.constantFrom(0, 1),
    }),
    fc.constantFrom('whole', 'cut', 'changed', 'followed', 'noise'),
    fc.nat(),
    fc.integer({ min: -2, max: 2 }),
  )
  .map(([bytes, params, damage, number, more]) => {
    const frame = zstdCompressSync(bytes, { params })
    const maxBytes = Math.max(1, bytes.length + more)
    const at = number % frame.length
    if (damage === 'cut') return { frame: frame.subarray(0, at), maxBytes }
    if (damage === 'changed') flip(frame, at, number % 8)
    if (damage === 'followed') return { frame: Buffer.concat([frame, frame]), maxBytes }
    return { frame: damage === 'noise' ? Buffer.from(bytes) : frame, maxBytes }
  })

test('frames of a stranger, in any order, unpack to what Node makes of each alone', () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { minLength: 1, maxLength: 8 }), (frames) => {
      for (const { frame, maxBytes } of frames)
        assert.deepEqual(
          orNull(() => decompressFrame(frame, maxBytes)),
          unpackedByNode(frame, maxBytes),
        )
    }),
    { numRuns: 400 },
  )
})

test('a frame that is not whole leaves nothing behind for the next one', () => {
  const good = compressFrame(Buffer.alloc(500, 'good'))
  // Its second block, of as many bytes as the good frame has, is missing.
  const head = Buffer.alloc(3)
  head.writeUIntLE((good.length << 3) | 1, 0, 3)
  const first = Buffer.from([4 << 3, 0, 0, 1, 2, 3, 4])
  const open = Buffer.concat([Buffer.from('28b52ffd0050', 'hex'), first, head])
  assert.throws(() => decompressFrame(open, 4), { message: 'unexpected end of file' })
  assert.deepEqual(decompressFrame(good, 500), Buffer.alloc(500, 'good'))
})

test('what is larger than half a mebibyte is compressed and unpacked as everything else', () => {
  const bytes = Buffer.alloc(600 * 1024, 'large')
  const frame = compressFrame(bytes)
  assert.deepEqual(
    frame,
    zstdCompressSync(bytes, {
      params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
    }),
  )
  assert.deepEqual(decompressFrame(frame, bytes.length), bytes)
  assert.throws(() => decompressFrame(frame, bytes.length - 1))
})
