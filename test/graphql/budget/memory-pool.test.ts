import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { createMemoryPool, type MemoryAccount } from '../../../src/graphql/budget/memory-pool.ts'
import { operatorLimits } from '../support/graphql-room.ts'

const operated = { ...operatorLimits, maxHeldBytes: 1_000 }

/** The code with which so many bytes are refused; undefined where they are taken. */
function refusalOf(account: MemoryAccount, bytes: number): unknown {
  try {
    account.reserve(bytes)
    return undefined
  } catch (error) {
    assert.ok(error instanceof GraphQLError)
    return error.extensions['code']
  }
}

test('one request gets half of all memory, and not a byte more', () => {
  const memory = createMemoryPool(operated)
  const account = memory.openAccount()
  account.reserve(400)
  account.reserve(100)
  assert.throws(() => account.reserve(1), {
    message:
      'The request, what is kept to answer it and its answer take more than 500 bytes. Narrow the range of blocks, select or group by fewer fields, or set a smaller `limit`; this is half of GRAPHQL_MAX_HELD_BYTES, which the operator sets.',
    extensions: { code: 'GRAPHQL_SIZE_LIMIT' },
  })
  assert.equal(memory.heldBytes(), 500)
})

test('a request beside others gets as much as it leaves free', () => {
  let busy = 0
  const memory = createMemoryPool(operated, () => busy++)
  memory.openAccount().reserve(500)
  const second = memory.openAccount()
  second.reserve(250)
  assert.throws(() => second.reserve(1), {
    message:
      'Requests hold 750 of 1000 bytes, and this one asks for more than it would leave free. Ask again in a moment, or for less at once, and read answers without pausing; the operator sets GRAPHQL_MAX_HELD_BYTES.',
    extensions: { code: 'GRAPHQL_BUSY' },
  })
  assert.equal(busy, 1)
  assert.deepEqual(
    [refusalOf(memory.openAccount(), 125), refusalOf(memory.openAccount(), 62)],
    [undefined, undefined],
  )
  assert.equal(memory.heldBytes(), 937)
})

test('memory of which nobody can set more is asked for in smaller requests', () => {
  const memory = createMemoryPool({ maxHeldBytes: 1_000 })
  const account = memory.openAccount()
  assert.throws(() => account.reserve(501), {
    message:
      'The request, what is kept to answer it and its answer take more than 500 bytes. Narrow the range of blocks, select or group by fewer fields, or set a smaller `limit`.',
  })
  account.reserve(500)
  assert.throws(() => memory.openAccount().reserve(251), {
    message:
      'Requests hold 500 of 1000 bytes, and this one asks for more than it would leave free. Ask again in a moment, or for less at once, and read answers without pausing.',
  })
})

test('released bytes are free for others, and a closed account does nothing more', () => {
  const memory = createMemoryPool({ maxHeldBytes: 1_000 })
  const [first, second] = [memory.openAccount(), memory.openAccount()]
  first.reserve(500)
  assert.equal(refusalOf(second, 400), 'GRAPHQL_BUSY')
  first.release(200)
  assert.equal(refusalOf(second, 350), undefined)
  first.release(5_000)
  assert.equal(memory.heldBytes(), 350)
  second.close()
  second.close()
  second.reserve(100)
  assert.equal(memory.heldBytes(), 0)
  second.release(100)
  assert.equal(memory.heldBytes(), 0)
})

test('requests never hold more than the pool has, and nothing in the end', () => {
  const step = fc.record({
    index: fc.nat(4),
    what: fc.constantFrom('reserve', 'release', 'close'),
    bytes: fc.nat(700),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const memory = createMemoryPool({ maxHeldBytes: 1_000 })
      const accounts = Array.from({ length: 5 }, () => memory.openAccount())
      for (const { index, what, bytes } of steps) {
        const account = accounts[index]
        if (account === undefined) continue
        if (what === 'reserve') refusalOf(account, bytes)
        else if (what === 'release') account.release(bytes)
        else account.close()
        assert.ok(memory.heldBytes() >= 0 && memory.heldBytes() <= 1_000)
      }
      for (const account of accounts) account.close()
      assert.equal(memory.heldBytes(), 0)
    }),
  )
})
