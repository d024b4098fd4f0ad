import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  constants,
  createZstdCompress,
  createZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import { createFrameContext } from '../../../src/primitives/body/frame-context.ts'
import { flip } from './flip.ts'

const bytes = Buffer.alloc(1_000, 'bytes')

/** Counts the contexts that were made. */
function countingContext() {
  let made = 0
  const context = createFrameContext(() => {
    made += 1
    return createZstdDecompress()
  })
  return { context, made: () => made }
}

describe('one context for many frames', () => {
  it('makes the frames that a context of their own makes', () => {
    const context = createFrameContext(() => createZstdCompress())
    const output = Buffer.alloc(2_000)
    for (const input of [bytes, bytes.subarray(7, 300), Buffer.alloc(0), bytes]) {
      const length = context.run(input, output)
      assert.deepEqual(output.subarray(0, length), zstdCompressSync(input))
    }
  })

  it('is made with the first frame and serves those after it', () => {
    const { context, made } = countingContext()
    assert.equal(made(), 0)
    const output = Buffer.alloc(bytes.length + 1)
    for (let times = 0; times < 3; times++)
      assert.equal(context.run(zstdCompressSync(bytes), output), bytes.length)
    assert.equal(made(), 1)
  })

  it('is made again after a frame that failed, and after one that did not fit', () => {
    const frame = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
    const damaged = Buffer.from(frame)
    flip(damaged, damaged.length - 1)
    const { context, made } = countingContext()
    const output = Buffer.alloc(bytes.length + 1)
    const failing: [Uint8Array, Buffer][] = [
      [damaged, output],
      [Buffer.alloc(20), output],
      [frame, output.subarray(1)],
      [frame, output.subarray(500)],
    ]
    for (const [index, [input, room]] of failing.entries()) {
      assert.equal(context.run(input, room), -1)
      assert.equal(context.run(frame, output), bytes.length)
      assert.deepEqual(output.subarray(0, bytes.length), zstdDecompressSync(frame))
      assert.equal(made(), index + 2)
    }
  })

  it('does nothing where Node has no such context', () => {
    const context = createFrameContext(() => Object.assign(createZstdCompress(), { _handle: null }))
    assert.equal(context.run(bytes, Buffer.alloc(2_000)), -1)
  })
})
