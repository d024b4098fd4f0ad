import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { constants, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { isOneFrame } from '../../../src/primitives/body/one-frame.ts'
import { flip } from './flip.ts'

/** Compressible and not, up to several blocks. */
const anyContent = fc
  .tuple(
    fc.uint8Array({ maxLength: 2_000, size: 'max' }),
    fc.constantFrom(0, 1, 255, 256, 300_000),
    fc.constantFrom(0, 65_800),
  )
  .map(([head, run, noise]) =>
    Buffer.concat([head, Buffer.alloc(run, 'run'), Buffer.from(noiseOf(noise))]),
  )

function noiseOf(length: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647
    return state
  })
}

const anyParams = fc.record({
  [constants.ZSTD_c_compressionLevel]: fc.constantFrom(-5, 1, 9),
  [constants.ZSTD_c_checksumFlag]: fc.constantFrom(0, 1),
  [constants.ZSTD_c_contentSizeFlag]: fc.constantFrom(0, 1),
})

const anyFrame = fc
  .tuple(anyContent, anyParams)
  .map(([content, params]) => zstdCompressSync(content, { params }))

describe('the end of a Zstandard frame', () => {
  it('is where the bytes end, with or without checksum, size and several blocks', () => {
    fc.assert(fc.property(anyFrame, (frame) => assert.ok(isOneFrame(frame))))
  })

  it('is missing in a frame that is cut off anywhere', () => {
    fc.assert(
      fc.property(anyFrame, fc.nat(), (frame, number) =>
        assert.ok(!isOneFrame(frame.subarray(0, number % frame.length))),
      ),
    )
  })

  it('is not where something follows the frame', () => {
    fc.assert(
      fc.property(anyFrame, fc.uint8Array({ minLength: 1, maxLength: 9 }), (frame, more) =>
        assert.ok(!isOneFrame(Buffer.concat([frame, more]))),
      ),
    )
  })

  it('is nowhere in bytes that are no frame: another magic number, a reserved type of block', () => {
    const frame = zstdCompressSync(Buffer.alloc(100))
    const skippable = Buffer.from('502a4d1800000000', 'hex')
    assert.ok(!isOneFrame(skippable))
    flip(frame, 0)
    assert.ok(!isOneFrame(frame))
    const reserved = Buffer.from('28b52ffd2000070000', 'hex')
    assert.ok(!isOneFrame(reserved))
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void isOneFrame(Buffer.from(bytes))))
  })

  it('counts the ID of a dictionary into the head', () => {
    const head = (descriptor: number, more: string): Buffer =>
      Buffer.from(`28b52ffd${descriptor.toString(16).padStart(2, '0')}${more}010000`, 'hex')
    for (const [flag, id] of ['', 'aa', 'aaaa', 'aaaaaaaa'].entries()) {
      assert.ok(isOneFrame(head(flag, `58${id}`)))
      assert.ok(!isOneFrame(head(flag, `58${id}00`)))
    }
  })
})
