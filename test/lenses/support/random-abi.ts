/** Parameters of random types with random values, for fast-check. */
import fc from 'fast-check'
import { type AbiParameter, type Hex, toHex } from 'viem'

/** A parameter and a value that viem encodes for it. */
export interface Filled {
  readonly parameter: AbiParameter
  readonly value: unknown
}

const bytes = (least: number, most: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: least, maxLength: most, size: 'max' }).map((each) => toHex(each))

/** viem cuts zero bytes off the front of texts when it decodes them, and drops a byte order mark; we keep both. */
const text = fc
  .string({ unit: 'binary', maxLength: 40, size: 'max' })
  .map((each) => each.toWellFormed().replace(/^[\0\ufeff]+/, ''))

const bits = fc.integer({ min: 1, max: 32 }).map((count) => count * 8)

const elementary: fc.Arbitrary<Filled> = fc.oneof(
  bits.chain((size) => filled(`uint${size}`, numbers(0n, 2n ** BigInt(size) - 1n, size))),
  bits.chain((size) =>
    filled(`int${size}`, numbers(-(2n ** BigInt(size - 1)), 2n ** BigInt(size - 1) - 1n, size)),
  ),
  fc.integer({ min: 1, max: 32 }).chain((size) => filled(`bytes${size}`, bytes(size, size))),
  filled('address', bytes(20, 20)),
  filled('bool', fc.boolean()),
  filled('bytes', bytes(0, 100)),
  filled('string', text),
)

/** viem takes numbers for what fits into 48 bits. */
function numbers(min: bigint, max: bigint, size: number): fc.Arbitrary<bigint | number> {
  const whole = fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max, 0n))
  return size > 48 ? whole : whole.map(Number)
}

function filled(type: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<Filled> {
  return values.map((value) => ({ parameter: { type, name: '' }, value }))
}

export const anyName: fc.Arbitrary<string> = fc.stringMatching(/^[a-zA-Z_$][a-zA-Z0-9_$]{0,9}$/)

/** A parameter of any type, without a name at times. */
export const anyParameter: fc.Arbitrary<Filled> = fc.letrec<{
  any: Filled
  tuple: Filled
  array: Filled
}>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    elementary,
    tie('tuple'),
    tie('array'),
  ),
  tuple: fc
    .uniqueArray(fc.tuple(fc.oneof(fc.constant(''), anyName), tie('any')), {
      minLength: 1,
      maxLength: 4,
      selector: ([each]) => (each === '' ? Symbol('unnamed') : each),
    })
    .map((parts) => toTuple(parts)),
  array: fc
    .tuple(tie('any'), fc.nat({ max: 3 }), fc.boolean())
    .map(([element, count, isCounted]) => toArray(element, count, isCounted)),
})).any

/** Components with names of their own. */
function toTuple(parts: readonly (readonly [string, Filled])[]): Filled {
  const components = parts.map(([name, { parameter }]) => ({ ...parameter, name }))
  const isNamed = components.every((component) => component.name !== '')
  const value = isNamed
    ? Object.fromEntries(parts.map(([name, part]) => [name, part.value]))
    : parts.map(([, part]) => part.value)
  return { parameter: { type: 'tuple', name: '', components }, value }
}

/** The same value several times; a fixed length is at least 1. */
function toArray({ parameter, value }: Filled, count: number, isCounted: boolean): Filled {
  const length = isCounted ? count : count + 1
  return {
    parameter: { ...parameter, type: `${parameter.type}[${isCounted ? '' : length}]` },
    value: Array.from({ length }, () => value),
  }
}
