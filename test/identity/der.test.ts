import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { isStrictDer } from '../../src/identity/der.ts'

const order = secp256k1.Point.CURVE().n
const half = order / 2n
const isStrict = (hex: string): boolean => isStrictDer(Buffer.from(hex, 'hex'))
const lengthOf = (hex: string): string => (hex.length / 2).toString(16).padStart(2, '0')

/** An integer with the bytes that its hex has, whether or not they are minimal. */
const integer = (hex: string): string => `02${lengthOf(hex)}${hex}`
const sequence = (body: string): string => `30${lengthOf(body)}${body}`
const signature = (r: string, s: string): string => sequence(integer(r) + integer(s))

/** The minimal bytes of a positive number, with a zero before those that would be negative. */
function minimal(number: bigint): string {
  const hex = number.toString(16)
  const even = hex.padStart(hex.length + (hex.length % 2), '0')
  return /^[89a-f]/.test(even) ? `00${even}` : even
}

test('R goes up to one below the order, and S up to half of it', () => {
  const isValid = (r: bigint, s: bigint): boolean => isStrict(signature(minimal(r), minimal(s)))
  assert.ok(isValid(1n, 1n))
  assert.ok(isValid(order - 1n, half))
  assert.ok(!isValid(order, half))
  assert.ok(!isValid(order + 1n, half))
  assert.ok(!isValid(order - 1n, half + 1n))
  assert.ok(!isValid(0n, 1n))
  assert.ok(!isValid(1n, 0n))
})

test('numbers of fewer bytes are below those of more, whatever they begin with', () => {
  assert.ok(isStrict(signature('7f', '7f')))
  assert.ok(isStrict(signature('0080', '0080')))
  assert.ok(isStrict(signature('00ffffff', '00ffffff')))
  assert.ok(!isStrict(signature('01'.repeat(33), '01')))
  assert.ok(!isStrict(signature('01', '01'.repeat(33))))
  assert.ok(!isStrict(signature(`00${'80'.repeat(33)}`, '01')))
})

test('an integer is neither negative, nor empty, nor longer than it has to be', () => {
  for (const odd of ['80', 'ff', '', '00', '0001', '007f', '000080']) {
    assert.ok(!isStrict(signature(odd, '01')), `R ${odd}`)
    assert.ok(!isStrict(signature('01', odd)), `S ${odd}`)
  }
})

test('the bytes are one sequence of two integers, without more and without less', () => {
  const good = signature('01', '01')
  assert.equal(good, '3006020101020101')
  for (const odd of [
    ...[`31${good.slice(2)}`, `${good}00`, good.slice(0, -2), '', '30', '3000', '3001', '300102'],
    ...['3005020101020101', '3007020101020101', '3006030101020101', '3006020101030101'],
    ...['3003020101', '3009020101020101020101', '3006020101020201', '3006020401020101'],
    ...['30050201010201', '3004020102', '3005020101', '300502010102', '3006020101020100'],
  ])
    assert.ok(!isStrict(odd), odd)
})

test('what is strict is what another library reads as a signature with S in the lower half', () => {
  const isRead = (bytes: Uint8Array): boolean => {
    try {
      return !secp256k1.Signature.fromBytes(bytes, 'der').hasHighS()
    } catch {
      return false
    }
  }
  const numbers = fc.oneof(
    fc.bigInt({ min: 0n, max: order + 1n }),
    fc.bigInt({ min: half - 1n, max: half + 1n }),
    fc.bigInt({ min: 0n, max: 300n }),
  )
  const at = fc.nat({ max: 71 })
  const by = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 255 }))
  fc.assert(
    fc.property(numbers, numbers, at, by, (r, s, index, change) => {
      const bytes = Buffer.from(signature(minimal(r), minimal(s)), 'hex')
      const place = index % bytes.length
      bytes[place] = (bytes[place] ?? 0) ^ change
      assert.equal(isStrictDer(bytes), isRead(bytes), bytes.toString('hex'))
    }),
    { numRuns: 500 },
  )
})
