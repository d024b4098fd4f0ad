import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'
import { checkModule, moduleLimits } from '../../src/lens/module-check.ts'
import { body, buildModule, leb, list, next, section, sized } from './support/module.ts'

const imports = { lens: { next: () => 0 } }

/** What a checked module exports once it runs. */
function started(wasm: Uint8Array): WebAssembly.Exports {
  return new WebAssembly.Instance(new WebAssembly.Module(checkModule(wasm)), imports).exports
}

test('a module of a lens is accepted, and runs', () => {
  const { transform } = started(buildModule({ code: [0x41, 7] }))
  assert.ok(transform instanceof Function)
  assert.equal(transform(), 7)
})

test('a choice between two values of a named type is accepted, and runs', () => {
  const choice = [0x41, 7, 0x41, 8, 0x41, 0, 0x1c, 1, 0x7f]
  const { transform } = started(buildModule({ code: choice }))
  assert.ok(transform instanceof Function)
  assert.equal(transform(), 8)
})

const nops = (count: number): number[] => Array.from({ length: count }, () => 0x01)

/** A type with so many parameters. */
const many = (count: number): number[] => [
  0x60,
  ...list(...Array.from({ length: count }, () => [0x7f])),
  0,
]

/** A type with so many results. */
const results = (count: number): number[] => [0x60, 0, ...many(count).slice(1, -1)]

/** So many blocks within each other, and a result. */
const nested = (depth: number): number[] => [
  ...Array.from({ length: depth }, () => [0x02, 0x40]).flat(),
  ...Array.from({ length: depth }, () => 0x0b),
  ...[0x41, 0],
]

/** A block with so many branches out of it. */
const branches = (count: number): number[] => [
  ...[0x02, 0x40],
  ...Array.from({ length: count }, () => [0x41, 0, 0x0d, 0]).flat(),
  0x0b,
]

/** Two blocks, and a table of so many branches out of them with one more by default. */
const targets = (count: number): number[] => [
  ...[0x02, 0x40, 0x41, 0, 0x0e],
  ...list(...Array.from({ length: count }, () => [0])),
  ...[0, 0x0b, 0x41, 0, 0x0f],
]

/** The function `transform` with so many local variables. */
function withFunction(variables: number, code: readonly number[]): Uint8Array<ArrayBuffer> {
  const locals = [
    [...leb(variables - 1), 0x7f],
    [1, 0x7e],
  ]
  return replaced(buildModule(), 10, section(10, list(body(code, locals))))
}

const repeated = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

const withTypes = (count: number): Uint8Array =>
  buildModule({ types: repeated(count, [0x60, 0, 1, 0x7f]) })

function withFunctions(count: number): Uint8Array {
  const wasm = replaced(buildModule(), 10, section(10, list(...repeated(count, body([0x41, 0])))))
  return replaced(wasm, 3, section(3, list(...repeated(count, [0]))))
}

function withExports(count: number): Uint8Array {
  const names = Array.from({ length: count }, (_, index) => [...sized(`f${index}`), 0, 1])
  return replaced(buildModule(), 7, section(7, list(...names)))
}

const withNotes = (count: number): Uint8Array =>
  buildModule({ after: repeated(count, section(0, sized('n'))).flat() })

describe('what a module may grow to is bounded before it is compiled', () => {
  const grown = (memory: readonly number[]): number => {
    const { memory: exported } = started(buildModule({ memories: [memory] }))
    assert.ok(exported instanceof WebAssembly.Memory)
    for (;;) {
      try {
        exported.grow(1)
      } catch {
        return exported.buffer.byteLength / 65_536
      }
    }
  }

  test('its memory, where it names no greatest size', () => {
    assert.equal(grown([0, 1]), moduleLimits.memoryPages)
  })

  test('its memory, where it names a greater one', () => {
    assert.equal(grown([1, 1, ...leb(65_536)]), moduleLimits.memoryPages)
  })

  test('but a smaller size of its own stays', () => {
    for (const most of [5, 200]) assert.equal(grown([1, 1, ...leb(most)]), most)
  })

  /** `table.grow` by one reference to nothing. */
  const growTable = (type: number) => [0xd0, type, 0x41, 1, 0xfc, 15, 0]
  const tables: readonly [string, number, readonly number[]][] = [
    ['no greatest size', 0x70, [0, 3]],
    ['a greater one', 0x70, [1, 3, ...leb(65_536)]],
    ['no greatest size for any values', 0x6f, [0, 3]],
  ]
  for (const [what, type, sizes] of tables)
    test(`a table, which stays as large as it begins, where it names ${what}`, () => {
      const wasm = buildModule({ tables: [[type, ...sizes]], code: growTable(type) })
      const { transform } = started(wasm)
      assert.ok(transform instanceof Function)
      assert.equal(transform(), -1)
    })

  const atEdge: readonly [string, Uint8Array, Uint8Array][] = [
    [
      '1,024 pages to begin with',
      buildModule({ memories: [[0, ...leb(1_024)]] }),
      buildModule({ memories: [[0, ...leb(1_025)]] }),
    ],
    [
      'a table of 65,536 entries',
      buildModule({ tables: [[0x70, 0, ...leb(65_536)]] }),
      buildModule({ tables: [[0x70, 0, ...leb(65_537)]] }),
    ],
    [
      'eight tables',
      buildModule({ tables: Array.from({ length: 8 }, () => [0x70, 0, 1]) }),
      buildModule({ tables: Array.from({ length: 9 }, () => [0x70, 0, 1]) }),
    ],
    [
      'a function of 65,536 bytes',
      buildModule({ code: [...nops(65_536 - 4), 0x41, 0] }),
      buildModule({ code: [...nops(65_536 - 3), 0x41, 0] }),
    ],
    [
      'a function of 100 parameters',
      buildModule({ types: [[0x60, 0, 1, 0x7f], many(100)] }),
      buildModule({ types: [[0x60, 0, 1, 0x7f], many(101)] }),
    ],
    [
      'a function of 100 results',
      buildModule({ types: [[0x60, 0, 1, 0x7f], results(100)] }),
      buildModule({ types: [[0x60, 0, 1, 0x7f], results(101)] }),
    ],
    ['10,000 types', withTypes(10_000), withTypes(10_001)],
    ['10,000 functions', withFunctions(10_000), withFunctions(10_001)],
    ['10,000 exports', withExports(10_000), withExports(10_001)],
    ['10,000 custom sections', withNotes(10_000), withNotes(10_001)],
    [
      'a function of 1,000 variables in 1,000 blocks within each other',
      withFunction(1_000, nested(1_000)),
      withFunction(1_000, nested(1_001)),
    ],
    [
      'a function of 16,000 variables with 1,000 branches',
      withFunction(16_000, [...branches(999), 0x41, 0]),
      withFunction(16_000, [...branches(1_000), 0x41, 0]),
    ],
    [
      'a function of 40,000 variables with 400 targets of a branch',
      withFunction(40_000, targets(397)),
      withFunction(40_000, targets(398)),
    ],
  ]
  for (const [what, accepted, refused] of atEdge) {
    test(`${what} is accepted, and one more refused`, () => {
      assert.ok(WebAssembly.validate(checkModule(accepted)))
      assert.ok(WebAssembly.validate(Uint8Array.from(refused)), 'nothing else is wrong with it')
      assert.throws(
        () => checkModule(refused),
        isRefused(/\d+ (are )?accepted|, and|too much memory/),
      )
    })
  }
})

/** The module with another section of a number. */
function replaced(
  wasm: Uint8Array,
  number: number,
  by: readonly number[],
): Uint8Array<ArrayBuffer> {
  const bytes = [...wasm]
  let at = 8
  while (bytes[at] !== number) at += 2 + (bytes[at + 1] ?? 0)
  return Uint8Array.from([
    ...bytes.slice(0, at),
    ...by,
    ...bytes.slice(at + 2 + (bytes[at + 1] ?? 0)),
  ])
}

describe('more than 10,000 of a kind are refused by their number, before they are listed', () => {
  const kinds: readonly [number, string][] = [
    [1, 'types'],
    [3, 'functions'],
    [6, 'globals'],
    [7, 'exports'],
    [9, 'segments of elements'],
    [10, 'bodies of functions'],
    [11, 'segments of data'],
  ]
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]
  for (const [number, what] of kinds) {
    test(`${what}, of which the module has none`, () => {
      const claimed = Uint8Array.from([...header, ...section(number, leb(10_001))])
      assert.throws(
        () => checkModule(claimed),
        isRefused(new RegExp(`it has 10001 ${what}, and 10000 are accepted`)),
      )
    })
  }
})

const isRefused = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ServiceError)
  assert.equal(error.code, 'LENS_MODULE_REFUSED')
  assert.match(error.message, message)
  assert.notEqual(error.remedy, undefined)
  return true
}

describe('a module is refused with the reason', () => {
  const wasi = [...sized('wasi_snapshot_preview1'), ...sized('fd_write'), 0x00, 0x00]
  const importedMemory = [...sized('env'), ...sized('memory'), 0x02, 0x00, 0x01]
  const cases: readonly [string, Uint8Array, RegExp][] = [
    [
      'no WebAssembly',
      Uint8Array.from([...Buffer.from('#!/bin/sh')]),
      /does not begin as WebAssembly/,
    ],
    [
      'a component',
      Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]),
      /does not begin as WebAssembly/,
    ],
    [
      'another import',
      buildModule({ imports: [next, wasi] }),
      /imports "wasi_snapshot_preview1.fd_write"/,
    ],
    [
      'a memory by the name of its import',
      buildModule({ imports: [[...sized('lens'), ...sized('next'), 0x02, 0x00, 0x01]] }),
      /imports "lens.next", and a lens has nothing but the function lens.next/,
    ],
    [
      'an import of a long name',
      buildModule({ imports: [[...sized('lens'), ...sized('x'.repeat(100)), 0x00, 0x00]] }),
      /imports "lens.x{75}", and/,
    ],
    ['an imported memory', buildModule({ imports: [importedMemory] }), /imports "env.memory"/],
    ['no import', buildModule({ imports: null }), /does not import lens.next/],
    ['an empty list of imports', buildModule({ imports: [] }), /does not import lens.next/],
    [
      'its import twice',
      buildModule({ imports: [next, next] }),
      /imports lens.next more than once/,
    ],
    [
      'its import as often as there is room for nothing else',
      replaced(buildModule(), 2, section(2, [...leb(1_000_000), ...next, ...next])),
      /imports lens.next more than once/,
    ],
    ['no memory', buildModule({ memories: null }), /has no memory/],
    [
      'two memories',
      buildModule({
        memories: [
          [0, 1],
          [0, 1],
        ],
      }),
      /has 2 memories/,
    ],
    ['a shared memory', buildModule({ memories: [[3, 1, 2]] }), /shared or of 64 bits/],
    ['a shared memory without an end', buildModule({ memories: [[2, 1]] }), /\(flags 2\)/],
    ['a table of numbers', buildModule({ tables: [[0x7f, 0, 1]] }), /a table of type 127/],
    [
      'more in a section than it says',
      replaced(buildModule(), 10, section(10, [...list(body([0x41, 0])), 0])),
      /section 10 is longer than what is in it/,
    ],
    ['a memory of 64 bits', buildModule({ memories: [[4, 1]] }), /shared or of 64 bits/],
    ['tags', buildModule({ after: section(13, list([0, 0])) }), /section 13 \(tags\)/],
    ['an unknown section', buildModule({ after: section(14, []) }), /it has a section 14$/],
    [
      'a section twice',
      buildModule({ after: section(10, list(body([0x41, 0]))) }),
      /section 10 is in the wrong/,
    ],
    [
      'a structure',
      buildModule({
        types: [
          [0x60, 0, 1, 0x7f],
          [0x5f, 0],
        ],
      }),
      /a type of form 95/,
    ],
    ['atomics', buildModule({ code: [0x41, 0, 0xfe, 0x10, 2, 0] }), /0xfe at byte \d+ .*atomics/],
    [
      'relaxed SIMD',
      buildModule({ code: [0xfd, ...leb(0x100), 0x41, 0] }),
      /0xfd 256 .*relaxed SIMD/,
    ],
    ['exceptions', buildModule({ code: [0x06, 0x40, 0x0b, 0x41, 0] }), /0x06 .*exceptions/],
    ['objects', buildModule({ code: [0xfb, 0x1c, 0x41, 0] }), /0xfb .*garbage collection/],
    [
      'a reference as a block’s type',
      buildModule({ code: [0x02, 0x64, 0x70, 0x0b] }),
      /value type 0x64/,
    ],
    [
      'a reference as the second type of a choice',
      buildModule({ code: [0x41, 0, 0x41, 0, 0x41, 0, 0x1c, 2, 0x7f, 0x64] }),
      /value type 0x64/,
    ],
    [
      'an access to another memory',
      buildModule({ code: [0x41, 0, 0x28, 0x42, 1, 0] }),
      /more than one memory/,
    ],
    ['growth of another memory', buildModule({ code: [0x41, 0, 0x40, 1] }), /more than one memory/],
    [
      'a number without end',
      buildModule({ code: [0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0] }),
      /more than 32 bits/,
    ],
  ]
  for (const [what, wasm, message] of cases) {
    test(`one with ${what}`, () => {
      assert.throws(() => checkModule(wasm), isRefused(message))
    })
  }

  test('one that ends anywhere before its end', () => {
    const wasm = buildModule({ tables: [[0x70, 0, 1]] })
    for (let length = 0; length < wasm.length; length += 1)
      assert.throws(() => started(wasm.subarray(0, length)), Error)
  })
})

test('names and other notes of a compiler are left out', () => {
  const noted = buildModule({ after: section(0, sized('name')) })
  assert.deepEqual(checkModule(noted), checkModule(buildModule()))
})

test('whatever a stranger sends, a module with sizes that are bounded is all that gets through', () => {
  const wasm = buildModule({ tables: [[0x70, 0, 1]], code: [0x41, 0, 0x28, 2, 0] })
  const changed = fc
    .array(fc.tuple(fc.integer({ min: 8, max: wasm.length - 1 }), fc.nat(255)), {
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => {
      const bytes = Uint8Array.from(wasm)
      for (const [place, value] of changes) bytes[place] = value
      return bytes
    })
  fc.assert(
    fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 100, size: 'max' })), (bytes) => {
      let checked: Uint8Array<ArrayBuffer>
      try {
        checked = checkModule(bytes)
      } catch (error) {
        assert.ok(
          error instanceof ServiceError && error.code === 'LENS_MODULE_REFUSED',
          String(error),
        )
        return
      }
      if (!WebAssembly.validate(checked)) return
      assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(checked)), [
        { module: 'lens', name: 'next', kind: 'function' },
      ])
    }),
    { numRuns: 10_000 },
  )
})
