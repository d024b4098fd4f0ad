import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { createMemory, type Hold } from '../../src/graphql/memory.ts'

/** The code with which so many bytes are refused; undefined where they are taken. */
function refusalOf(hold: Hold, bytes: number): unknown {
  try {
    hold.take(bytes)
    return undefined
  } catch (error) {
    assert.ok(error instanceof GraphQLError)
    return error.extensions['code']
  }
}

test('one request gets half of all memory and not a byte more', () => {
  const memory = createMemory(1_000)
  const hold = memory.open()
  hold.take(400)
  hold.take(100)
  assert.throws(() => hold.take(1), {
    message:
      'The request, what is kept to answer it and its answer take more than 500 bytes. Narrow the range of blocks, select or group by fewer fields, or set a smaller `limit`; this is half of GRAPHQL_MAX_HELD_BYTES, which the operator sets.',
    extensions: { code: 'GRAPHQL_SIZE_LIMIT' },
  })
  assert.equal(memory.heldBytes(), 500)
})

test('beside others it gets as much as it leaves free, so that there is room for small ones', () => {
  let busy = 0
  const memory = createMemory(1_000, () => busy++)
  memory.open().take(500)
  const second = memory.open()
  second.take(250)
  assert.throws(() => second.take(1), {
    message:
      'Requests hold 750 of 1000 bytes, and this one asks for more than it would leave free. Ask again in a moment, or for less at once, and read answers without pausing; the operator sets GRAPHQL_MAX_HELD_BYTES.',
    extensions: { code: 'GRAPHQL_BUSY' },
  })
  assert.equal(busy, 1)
  assert.deepEqual(
    [refusalOf(memory.open(), 125), refusalOf(memory.open(), 62)],
    [undefined, undefined],
  )
  assert.equal(memory.heldBytes(), 937)
})

test('what is given back is free for others; a closed account takes and gives nothing more', () => {
  const memory = createMemory(1_000)
  const [first, second] = [memory.open(), memory.open()]
  first.take(500)
  assert.equal(refusalOf(second, 400), 'GRAPHQL_BUSY')
  first.give(200)
  assert.equal(refusalOf(second, 350), undefined)
  first.give(5_000)
  assert.equal(memory.heldBytes(), 350)
  second.close()
  second.close()
  second.take(100)
  second.give(100)
  assert.equal(memory.heldBytes(), 0)
})

test('whatever requests take and give, no more is held than there is, and in the end nothing', () => {
  const step = fc.record({
    account: fc.nat(4),
    what: fc.constantFrom('take', 'give', 'close'),
    bytes: fc.nat(700),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const memory = createMemory(1_000)
      const holds = Array.from({ length: 5 }, () => memory.open())
      for (const { account, what, bytes } of steps) {
        const hold = holds[account]
        if (hold === undefined) continue
        if (what === 'take') refusalOf(hold, bytes)
        else if (what === 'give') hold.give(bytes)
        else hold.close()
        assert.ok(memory.heldBytes() >= 0 && memory.heldBytes() <= 1_000)
      }
      for (const hold of holds) hold.close()
      assert.equal(memory.heldBytes(), 0)
    }),
  )
})
