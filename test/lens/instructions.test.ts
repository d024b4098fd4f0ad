/** Which instructions a lens may have: those that the engine knows, but for the families that are left out. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { checkInstructions } from '../../src/lens/instructions.ts'
import { checkModule } from '../../src/lens/module-check.ts'
import { body, leb, list, next, section, sized } from './support/module.ts'

const i32 = 0x7f
const mutable = 1
const firstOfTypes = [0x60, 0, 1, i32]

/** A module with one of everything that an instruction can name by its index, 0. */
function moduleWith(code: readonly number[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, list(...Array.from({ length: 65 }, () => firstOfTypes))),
    ...section(2, list(next)),
    ...section(3, list([0])),
    ...section(4, list([0x70, 0, 1])),
    ...section(5, list([0, 1])),
    ...section(6, list([i32, mutable, 0x41, 0, 0x0b])),
    ...section(7, list([...sized('memory'), 2, 0], [...sized('transform'), 0, 1])),
    ...section(9, list([1, 0, ...list([0])])),
    ...section(12, leb(1)),
    ...section(10, list(body([...code, 0x41, 0], [[1, i32]]))),
    ...section(11, list([1, ...sized([7])])),
  ])
}

/** In a place that is never reached, where values of all types are taken to be there. */
const unreached = (code: readonly number[]): number[] => [0x02, 0x40, 0x00, ...code, 0x1a, 0x0b]

/** Why it is refused; null where it is accepted. */
function refusal(code: readonly number[]): string | null {
  try {
    checkModule(moduleWith(code))
    return null
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'LENS_MODULE_REFUSED', String(error))
    return error.message
  }
}

const repeated = (count: number, byte: number): number[] =>
  Array.from({ length: count }, () => byte)

/**
 * What may follow an opcode. Read as less or more than they are, most go on with bytes that are no instructions
 * a lens may have.
 */
const indices = [[], [0], [0, 0], [6]]
const memoryArguments = [
  [0, 0xfe, 0x01],
  [0, 0xfe, 0x01, 0],
  [0, 0xfe, 0x01, 7],
]
const constants = [
  repeated(4, 0xfe),
  repeated(8, 0xfe),
  [0xff, 0xff, 0xff, 0xff, 0x07],
  [...repeated(9, 0xff), 0x00],
]
const lanes = [repeated(16, 0x1f), repeated(16, 0xfe)]

const single = Array.from({ length: 256 }, (_, opcode) => [opcode]).filter(
  ([opcode = 0]) => opcode !== 0xfc && opcode !== 0xfd,
)
const bulk = Array.from({ length: 64 }, (_, opcode) => [0xfc, ...leb(opcode)])
const vector = Array.from({ length: 0x120 }, (_, opcode) => [0xfd, ...leb(opcode)])

/** Opcodes with which the engine takes a module that is refused here. */
function refusedOf(
  opcodes: readonly (readonly number[])[],
  immediates: readonly (readonly number[])[],
): number[][] {
  const refused = opcodes.filter((opcode) =>
    immediates.some((after) => {
      const code = unreached([...opcode, ...after])
      return WebAssembly.validate(moduleWith(code)) && refusal(code) !== null
    }),
  )
  return refused.map((opcode) => [...opcode])
}

describe('all instructions that the engine knows are accepted', () => {
  test('of one byte, but for exceptions and references to functions of a type', () => {
    const exceptions = [0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f]
    const left = [...exceptions, 0x14, 0x15, 0xd0, 0xd3, 0xd4, 0xd5, 0xd6]
    const refused = refusedOf(single, [...indices, ...memoryArguments, ...constants]).flat()
    assert.deepEqual(
      refused.filter((opcode) => !left.includes(opcode)),
      [],
    )
  })

  test('of whole memories and tables, and conversions', () => {
    assert.deepEqual(refusedOf(bulk, indices), [])
  })

  test('of vectors, but for those whose results differ between machines', () => {
    const refused = refusedOf(vector, [...indices, ...memoryArguments, ...lanes])
    const relaxed = vector.slice(0x100)
    assert.deepEqual(
      refused.filter((opcode) => !relaxed.some((each) => `${each}` === `${opcode}`)),
      [],
    )
  })

  const others: readonly [string, readonly (readonly number[])[]][] = [
    ['a table of branches', [[0x02, 0x40, 0x02, 0x40, 0x41, 0, 0x0e, 2, 0, 1, 0, 0x0b, 0x0b]]],
    ['a choice of a type', [unreached([0x1c, 1, i32])]],
    [
      'no reference to a function or another value',
      [unreached([0xd0, 0x70]), unreached([0xd0, 0x6f])],
    ],
    [
      'blocks of nothing, of a value and of a type by its number',
      [0x02, 0x03, 0x04].flatMap((opcode) =>
        [[0x40], [i32], [0x3f], [0xc0, 0x00]].map((blockType) =>
          unreached([opcode, ...blockType, 0x00, ...(opcode === 0x04 ? [0x05, 0x00] : []), 0x0b]),
        ),
      ),
    ],
  ]
  for (const [what, codes] of others)
    test(`${what} too`, () => {
      for (const code of codes) {
        assert.ok(WebAssembly.validate(moduleWith(code)), `${code}`)
        assert.equal(refusal(code), null)
      }
    })
})

describe('an instruction that is left out is refused with what it belongs to', () => {
  const families: readonly [string, readonly (readonly number[])[]][] = [
    ['exceptions', [[6], [7], [8], [9], [10], [0x18], [0x19], [0x1f]]],
    ['garbage collection', [[0xfb]]],
    ['atomics', [[0xfe]]],
    [
      'no part of WebAssembly 2.0',
      [[0x14], [0x15], [0x16], [0x1d], [0x27], [0xc5], [0xcf], [0xd3]],
    ],
  ]
  /** Where the code of the one function begins. */
  const place = moduleWith([]).indexOf(0x41, moduleWith([]).length - 12)
  for (const [family, opcodes] of families)
    test(family, () => {
      for (const [opcode = 0] of opcodes)
        assert.equal(
          refusal([opcode]),
          `the module of a lens is refused: the instruction 0x${opcode.toString(16).padStart(2, '0')} at byte ${place} is not accepted (${family})`,
        )
    })

  test('those of more than one byte too', () => {
    assert.match(String(refusal([0xfc, 18])), /0xfc 18 at byte \d+ .*no part of WebAssembly 2.0/)
    assert.match(String(refusal([0xfd, ...leb(0x100)])), /0xfd 256 at byte \d+ .*relaxed SIMD/)
  })
})

test('numbers have as many bytes as their bits need at most', () => {
  const long = (count: number, last: number): number[] => [
    ...Array.from({ length: count - 1 }, () => 0x80),
    last,
  ]
  const accepted = [
    [0x41, ...long(5, 0), 0x1a],
    [0x42, ...long(10, 0), 0x1a],
    [0x0c, ...long(5, 0)],
  ]
  for (const code of accepted) assert.equal(refusal(code), null)
  const refused = [
    [0x41, ...long(6, 0), 0x1a],
    [0x42, ...long(11, 0), 0x1a],
    [0x0c, ...long(5, 0x10)],
  ]
  assert.deepEqual(
    refused.map((code) => refusal(code)?.replace(/byte \d+/, 'byte N')),
    [32, 64, 32].map(
      (bits) => `the module of a lens is refused: a number at byte N has more than ${bits} bits`,
    ),
  )
})

test('types that a value cannot have are refused wherever one is named', () => {
  assert.match(String(refusal([0xd0, 0x6e])), /the heap type 0x6e is not accepted/)
  assert.match(String(refusal([0x02, 0x6e, 0x0b])), /the value type 0x6e is not accepted/)
  assert.match(String(refusal([0x1c, 1, 0x6e])), /the value type 0x6e is not accepted/)
})

test('a second memory is refused in every instruction that could name one', () => {
  for (const code of [
    [0x28, 0x40, 0, 0],
    [0x3f, 1],
    [0x40, 1],
    [0xfc, 8, 0, 1],
    [0xfc, 10, 0, 1],
    [0xfc, 10, 1, 0],
    [0xfc, 11, 1],
    [0xfd, 0, 0x40, 0, 0],
    [0xfd, 84, 0x40, 0, 0, 0],
  ])
    assert.match(String(refusal(unreached(code))), /of another memory at byte \d+ .*more than one/)
})

test('blocks, and what leaves one or begins another, are counted, and how deep blocks are', () => {
  const flowOf = (...code: readonly number[]) =>
    checkInstructions({ bytes: Uint8Array.from(code), at: 0, end: code.length })
  const [begin, end] = [[0x02, 0x40], 0x0b]
  for (const block of [0x02, 0x03, 0x04])
    assert.deepEqual(flowOf(block, 0x40, end), { depth: 1, branches: 1 })
  for (const leaving of [[0x05], [0x0c, 0], [0x0d, 0], [0x0f]])
    assert.deepEqual(flowOf(...leaving), { depth: 0, branches: 1 })
  for (const other of [[0x00], [0x01], [0x10, 0], [0x1a], [0x41, 2]])
    assert.deepEqual(flowOf(...other), { depth: 0, branches: 0 })
  assert.deepEqual(flowOf(0x0e, 2, 0, 1, 0), { depth: 0, branches: 3 })
  const nested = [...begin, ...begin, end, end]
  assert.deepEqual(flowOf(...nested, ...begin, end), { depth: 2, branches: 3 })
  assert.deepEqual(flowOf(...begin, end, ...begin, end), { depth: 1, branches: 2 })
  assert.deepEqual(flowOf(...begin, end, ...nested), { depth: 2, branches: 3 })
})
