import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkAbi } from '../../src/lens/abi-check.ts'
import { checkModule } from '../../src/lens/module-check.ts'
import { body, list, next, section, sized } from './support/module.ts'

const start = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]
const i32 = 0x7f
const i64 = 0x7e
const type = (parameters: readonly number[], results: readonly number[]): number[] => [
  0x60,
  ...sized(parameters),
  ...sized(results),
]

/** Types of the functions of a lens, and a name with which one more than those is exported. */
interface Types {
  readonly next?: readonly number[]
  readonly alloc?: readonly number[]
  readonly transform?: readonly number[]
  readonly set_param?: readonly number[]
  readonly more?: string
}

/** The functions trap, so that any type will do; function 4 takes and returns nothing. */
function check(types: Types): string | null {
  const names = ['alloc', 'transform', 'set_param'] as const
  const one = type([i32], [i32])
  const all = [
    types.next ?? type([], [i32]),
    types.alloc ?? one,
    types.transform ?? type([], [i32]),
    types.set_param ?? one,
    type([], []),
  ]
  const exported = [
    [...sized('memory'), 2, 0],
    ...names.map((name, index) => [...sized(name), 0, index + 1]),
    ...(types.more === undefined ? [] : [[...sized(types.more), 0, 4]]),
  ]
  const wasm = Uint8Array.from([
    ...start,
    ...section(1, list(...all)),
    ...section(2, list(next)),
    ...section(3, list([1], [2], [3], [4])),
    ...section(5, list([0, 1])),
    ...section(7, list(...exported)),
    ...section(10, list(...Array.from({ length: 4 }, () => body([0x00])))),
  ])
  assert.ok(WebAssembly.validate(wasm), 'nothing else is wrong with it')
  try {
    checkAbi(checkModule(wasm))
    return null
  } catch (error) {
    assert.ok(error instanceof Error)
    return error.message
  }
}

test('functions of the types of the ABI are accepted, whatever else is exported', () => {
  assert.equal(check({}), null)
  for (const more of ['toString', 'constructor', 'next', 'Alloc', ''])
    assert.equal(check({ more }), null)
})

test('only functions are compared, by the types that they name, and none has to be there', () => {
  const types = section(1, list(type([i32], [i32]), type([], [i32])))
  const imported = section(2, list([...next.slice(0, -1), 1]))
  checkAbi(
    checkModule(Uint8Array.from([...start, ...types, ...imported, ...section(5, list([0, 1]))])),
  )
  const exported = section(7, list([...sized('alloc'), 2, 0], [...sized('set_param'), 0, 1]))
  const functions = [...section(3, list([0])), ...section(5, list([0, 1])), ...exported]
  const code = section(10, list(body([0x41, 0])))
  const wasm = Uint8Array.from([...start, ...types, ...imported, ...functions, ...code])
  assert.ok(WebAssembly.validate(wasm))
  checkAbi(checkModule(wasm))
})

test('what names no function, or no type, is of another one', () => {
  const types = section(1, list(type([], [i32]), type([i32], [i32])))
  const exported = section(7, list([...sized('alloc'), 0, 9]))
  const noFunction = Uint8Array.from([...start, ...types, ...section(2, list(next)), ...exported])
  assert.throws(() => checkAbi(noFunction), / its function alloc has another type /)
  const other = section(1, list(type([i32], [i32]), type([], [i32])))
  const noImport = Uint8Array.from([...start, ...other])
  assert.throws(() => checkAbi(noImport), / its function lens\.next has another type /)
})

describe('a function of another type is refused', () => {
  const wrong: Readonly<Record<'next' | 'transform' | 'alloc', readonly (readonly number[])[]>> = {
    next: [type([], []), type([], [i64]), type([i32], [i32]), type([], [i32, i32])],
    transform: [type([], []), type([], [i64]), type([i32], [i32]), type([], [i32, i32])],
    alloc: [type([], [i32]), type([i32], []), type([i32, i32], [i32]), type([i64], [i32])],
  }
  const cases = [
    ['lens.next', 'next', wrong.next],
    ['transform', 'transform', wrong.transform],
    ['alloc', 'alloc', wrong.alloc],
    ['set_param', 'set_param', wrong.alloc],
  ] as const
  for (const [shown, name, types] of cases)
    test(shown, () => {
      for (const each of types)
        assert.equal(
          check({ [name]: each }),
          `the module of a lens is refused: its function ${shown} has another type than that of the lens ABI`,
        )
    })
})
