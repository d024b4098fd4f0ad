import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fingerprint, halfSipHash, rowFingerprint } from '../../../src/store/disk/fingerprint.ts'

describe('fingerprints', () => {
  it('are HalfSipHash-1-3, with the vectors of the Linux kernel’s own test of it', () => {
    const message = Uint8Array.from({ length: 8 }, (_, index) => index)
    const found = [...message.keys()].map((length) =>
      halfSipHash(0x03020100, 0x07060504, message.subarray(0, length)),
    )
    assert.deepEqual(
      found,
      [
        0x5814c896, 0xe7e864ca, 0xbc4b0e30, 0x01539939, 0x7e059ea6, 0x88e3d89b, 0xa0080b65,
        0x9d38d9d6,
      ],
    )
  })

  it('of one value differ between kinds, fields and stores', () => {
    const value = Buffer.alloc(20, 7)
    const found = [
      fingerprint([1, 2], 'from', value),
      fingerprint([1, 2], 'to', value),
      fingerprint([1, 3], 'from', value),
      fingerprint([4, 2], 'from', value),
      rowFingerprint([1, 2], 0, value),
      rowFingerprint([1, 2], 8, value),
      rowFingerprint([1, 3], 0, value),
      rowFingerprint([4, 2], 0, value),
    ]
    assert.equal(new Set(found).size, found.length)
  })
})
