/** `decode_log` on logs of random events; viem encodes them, and its decoder says what is right. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fedSingly, openSetLens, streamed, values } from './support/fed-lens.ts'
import { anyEvent, type FilledEvent } from './support/random-event.ts'

const runs = 2_500
const eventsAtMost = 8

/** Events of different signatures, at most one of them anonymous: what a log is then is never open. */
const anyAbi = fc
  .uniqueArray(anyEvent, {
    minLength: 1,
    maxLength: eventsAtMost,
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

function toLog({ topics, data }: FilledEvent): object {
  return { topics, data }
}

function toRow(filled: FilledEvent): object {
  const { event, signature, topics, data, expected } = filled
  return { topics, data, logAddress: null, event: event.name, signature, arguments: expected }
}
