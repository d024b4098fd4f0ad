/** `decode_log` on logs of random events; viem encodes them, and its decoder says what is right. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, toEventSelector, toHex } from 'viem'
import { fedSingly, openSetLens, streamed, values } from './support/fed-lens.ts'
import { anyEvent, type FilledEvent } from './support/random-event.ts'

const runs = 2_500
const eventsAtMost = 8

/** Events of different signatures, at most one of them anonymous: what a log is then is never open. */
const anyAbi = fc
  .uniqueArray(anyEvent, {
    minLength: 1,
    maxLength: eventsAtMost,
    size: 'max',
    selector: ({ event, signature }) => (event.anonymous ? 'anonymous' : signature),
  })
  .filter((events) => events.length > 0)

test('decode_log makes of 10,000 logs of random events what viem decodes', () => {
  let events = 0
  fc.assert(
    fc.property(anyAbi, fc.boolean(), (abi, asText) => {
      events += abi.length
      const json = abi.map(({ event }) => event)
      const lens = openSetLens('decode_log', { abi: asText ? JSON.stringify(json) : json })
      const answers = (asText ? streamed : fedSingly)(lens, abi.map(toLog))
      assert.deepEqual(values(answers), abi.map(toRow))
    }),
    { numRuns: runs },
  )
  assert.ok(events >= 10_000, `${events} events`)
})

test('decode_log makes of a string that is no UTF-8 what the encoding standard says', () => {
  const event = { type: 'event', name: 'Said', inputs: [{ name: 'what', type: 'string' }] } as const
  const lens = openSetLens('decode_log', { abi: [event] })
  const topics = [toEventSelector('Said(string)')]
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  // Bytes that begin and continue characters, and those at the edges of what may follow them.
  const byte = fc.oneof(
    fc.constantFrom(0x00, 0x22, 0x5c, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf),
    fc.constantFrom(0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff),
    fc.nat({ max: 255 }),
  )
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40, size: 'max' }), (bytes) => {
      const data = encodeAbiParameters([{ type: 'bytes' }], [toHex(Uint8Array.from(bytes))])
      const [row] = values(streamed(lens, [{ topics, data }])) as { arguments: object[] }[]
      const value = decoder.decode(Uint8Array.from(bytes))
      assert.deepEqual(row?.arguments, [{ name: 'what', type: 'string', value }])
    }),
    { numRuns: 5_000 },
  )
})

function toLog({ topics, data }: FilledEvent): object {
  return { topics, data }
}

function toRow(filled: FilledEvent): object {
  const { event, signature, topics, data, expected } = filled
  return { topics, data, logAddress: null, event: event.name, signature, arguments: expected }
}
