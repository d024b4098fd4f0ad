import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { compressFrame, decompressFrame } from '../../../src/primitives/body/frame.ts'

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
