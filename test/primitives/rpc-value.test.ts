/** Single values of a node's answer, in every form in which they may and may not come. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  malformedRpcValue,
  type RpcLocation,
  required,
  rpcAddress,
  rpcData,
  rpcHash,
  rpcHashes,
  rpcInteger,
  rpcList,
  rpcQuantity,
} from '../../src/primitives/rpc-value.ts'

const at: RpcLocation = { part: 'block', index: -1 }
const refusal = { code: 'PRIMITIVES_BLOCK_MALFORMED', facts: { field: 'block.field' } }

type Read = (value: unknown, location: RpcLocation, field: string) => unknown

function assertRefused(read: Read, values: readonly unknown[]): void {
  for (const value of values)
    assert.throws(
      () => read(value, at, 'field'),
      (error: { code?: unknown; facts?: Readonly<Record<string, unknown>> }) =>
        error.code === refusal.code && error.facts?.['field'] === refusal.facts.field,
      String(value),
    )
}

test('a hash has 32 bytes and an address 20, in small letters, and null where there is none', () => {
  for (const [read, bytes] of [
    [rpcHash, 32],
    [rpcAddress, 20],
  ] as const) {
    assert.equal(read(`0x${'aB'.repeat(bytes)}`, at, 'field'), `0x${'ab'.repeat(bytes)}`)
    for (const none of [null, undefined]) assert.equal(read(none, at, 'field'), null)
    const whole = 'ab'.repeat(bytes)
    const wrong = [`0x${whole.slice(1)}`, `0x${whole}0`, `0X${whole}`, `1x${whole}`, `0y${whole}`]
    assertRefused(read, [...wrong, '', '0x', 7, [], {}, true])
  }
})

test('data is whole bytes of any number, in small letters', () => {
  assert.equal(rpcData('0xAb', at, 'field'), '0xab')
  assert.equal(rpcData('0x', at, 'field'), '0x')
  for (const none of [null, undefined]) assert.equal(rpcData(none, at, 'field'), null)
  assertRefused(rpcData, ['0xabc', 'ab', '', '0', 7, ['0xab']])
})

test('a quantity is minimal however it was padded, and has up to 64 digits', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 256n - 1n), fc.nat(70), fc.boolean(), (value, zeros, upper) => {
      const digits = value.toString(16)
      const padded = `${'0'.repeat(zeros)}${upper ? digits.toUpperCase() : digits}`
      assert.equal(rpcQuantity(`0x${padded}`, at, 'field'), `0x${digits}`)
    }),
  )
  assert.equal(rpcQuantity(`0x${'f'.repeat(64)}`, at, 'field'), `0x${'f'.repeat(64)}`)
  for (const zero of ['0x', '0x0', '0x000']) assert.equal(rpcQuantity(zero, at, 'field'), '0x0')
  for (const none of [null, undefined]) assert.equal(rpcQuantity(none, at, 'field'), null)
  assertRefused(rpcQuantity, [`0x1${'0'.repeat(64)}`, '12', '', 7, [], true])
})

test('an integer is read from any hex up to its bound, and refused above it', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.boolean(), (value, upper) => {
      const digits = value.toString(16)
      const text = `0x${upper ? digits.toUpperCase() : digits}`
      assert.equal(rpcInteger(text, at, 'field', value), value)
      const bounded: Read = (given) => rpcInteger(given, at, 'field', value - 1)
      assertRefused(bounded, value === 0 ? [] : [text])
    }),
  )
  assert.equal(rpcInteger('0x00', at, 'field'), 0)
  assert.equal(rpcInteger('0x0123456789', at, 'field', 2 ** 40), 0x123456789)
  assert.equal(rpcInteger('0xabcdef', at, 'field'), 0xabcdef)
  assert.equal(rpcInteger('0x7fffffff', at, 'field'), 2 ** 31 - 1)
  const noDigits = ['/', ':', '@', 'G', '`', 'g', ' ', '\u0010'].map((each) => `0x${each}`)
  assertRefused(rpcInteger, [...noDigits, '0x80000000', '0x', '', '1', 7, null, undefined])
})

test('lists are read item by item, are empty where there are none, and hold nothing else', () => {
  const [hash, small] = [`0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`]
  assert.deepEqual(rpcHashes([hash, small], at, 'field'), [small, small])
  const objects = [{ a: 1 }, {}]
  assert.deepEqual(rpcList(objects, at, 'field'), objects)
  for (const none of [null, undefined, []])
    for (const read of [rpcHashes, rpcList]) assert.deepEqual(read(none, at, 'field'), [])
  assertRefused(rpcHashes, [hash, {}, 7, [hash, null], [[hash]], ['0x']])
  assertRefused(rpcList, ['text', {}, 7, [{}, null], [7], ['text']])
})

test('what has to be there is refused where it is null, and nothing else is', () => {
  for (const value of ['', 0, false]) assert.equal(required(value, at, 'field'), value)
  assertRefused(required, [null])
})

test('a value that cannot be read is shown with its place, in its first 80 characters', () => {
  const messageOf = (location: RpcLocation, found: unknown): string =>
    malformedRpcValue(location, 'field', found).message
  assert.equal(messageOf(at, undefined), 'The node answered block.field = nothing')
  assert.equal(messageOf(at, null), 'The node answered block.field = null')
  const receipt: RpcLocation = { part: 'receipt', index: 0 }
  assert.equal(messageOf(receipt, '0x'), 'The node answered receipt[0].field = "0x"')
  const start = 'The node answered transaction[12].field = '
  const long = messageOf({ part: 'transaction', index: 12 }, 'x'.repeat(200))
  assert.equal(long, `${start}"${'x'.repeat(79)}…`)
})
