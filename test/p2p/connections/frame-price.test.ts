import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createFramePrice, framePrices } from '../../../src/p2p/connections/frame-price.ts'
import { yamuxFrame } from '../support/yamux-frame.ts'

const maxContent = 1000
const { any, ping, newStream } = framePrices

interface Case {
  readonly bytes: Uint8Array
  readonly price: number
}

const dataFrame = fc
  .tuple(fc.boolean(), fc.uint8Array({ maxLength: 300, size: 'max' }))
  .map(([isNew, content]): Case => {
    const flags = isNew ? 1 : 0
    const bytes = yamuxFrame({ type: 'data', flags, stream: 1, length: content.length }, content)
    return { bytes, price: isNew ? newStream : any }
  })
const otherFrame = fc.constantFrom<Case>(
  { bytes: yamuxFrame({ type: 'window update', flags: 0, stream: 1, length: 9 }), price: any },
  {
    bytes: yamuxFrame({ type: 'window update', flags: 1, stream: 3, length: 0 }),
    price: newStream,
  },
  { bytes: yamuxFrame({ type: 'ping', flags: 1, stream: 0, length: 7 }), price: ping },
  { bytes: yamuxFrame({ type: 'go away', flags: 0, stream: 0, length: 0 }), price: any },
)

test('the price is that of the bytes and of each frame, however they arrive', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(dataFrame, otherFrame), { maxLength: 20, size: 'max' }),
      fc.array(fc.nat(60), { minLength: 1, maxLength: 100, size: 'max' }),
      (frames, cuts) => {
        const bytes = Buffer.concat(frames.map((frame) => frame.bytes))
        const priceOf = createFramePrice(maxContent)
        let cost = 0
        for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
          const end = at + (cuts[cut % cuts.length] ?? 0) + 1
          cost += priceOf(bytes.subarray(at, end)) ?? assert.fail('a frame seemed too long')
          at = end
        }
        assert.equal(cost, bytes.length + frames.reduce((sum, { price }) => sum + price, 0))
      },
    ),
  )
})

test('a frame that says that it holds more than any window is found before its content comes', () => {
  const header = (length: number): Uint8Array =>
    yamuxFrame({ type: 'data', flags: 0, stream: 1, length })
  assert.equal(createFramePrice(maxContent)(header(maxContent)), 12 + any)
  assert.equal(createFramePrice(maxContent)(header(maxContent + 1)), null)
  assert.equal(createFramePrice(maxContent)(header(2 ** 32 - 1)), null)
})
