import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkModules } from '../../src/lens/view-modules.ts'
import { buildLens } from './support/lens.ts'
import { leb } from './support/module.ts'

const functions = 0x70
const values = 0x6f

/** A lens with such tables, as any compiler writes it and with the functions of the ABI. */
const withTables = (...tables: readonly (readonly [number, number])[]) => ({
  wasm: buildLens({ tables: tables.map(([type, entries]) => [type, 0, ...leb(entries)]) }),
})
/** A lens with so many exports, of which most are of no use. */
const withExports = (count: number) => ({
  wasm: buildLens({ exports: Array.from({ length: count - 4 }, (_, index) => `f${index}`) }),
})
const full = withTables([functions, 65_536], [values, 65_536])

test("tables of a View's lenses have 262,144 entries together, and one more is refused", () => {
  assert.equal(checkModules([full, full]).length, 2)
  assert.equal(
    checkModules([full, full, withTables([functions, 0]), { wasm: buildLens() }]).length,
    4,
  )
  assert.throws(() => checkModules([full, full, withTables([functions, 1])]), {
    code: 'LENS_MODULE_REFUSED',
    message:
      'the modules of the lenses are refused: they have 262145 entries of tables together, and 262144 are accepted',
    remedy: 'Use fewer lenses, or let the compiler leave out what they do not use.',
  })
})

test('the tables that one lens has count together too', () => {
  const eight = Array.from({ length: 8 }, () => [functions, 65_536] as const)
  assert.throws(() => checkModules([withTables(...eight)]), {
    code: 'LENS_MODULE_REFUSED',
    message: /524288 entries of tables together/,
  })
})

test('256 lenses with tables as compilers make them are accepted', () => {
  const usual = withTables([functions, 1_000])
  assert.equal(checkModules(Array.from({ length: 256 }, () => usual)).length, 256)
})

test("a View's lenses have 65,536 exports together, and one more is refused", () => {
  const many = Array.from({ length: 8 }, () => withExports(8_192))
  assert.equal(checkModules(many).length, 8)
  assert.throws(() => checkModules([...many.slice(1), withExports(8_193)]), {
    code: 'LENS_MODULE_REFUSED',
    message:
      'the modules of the lenses are refused: they have 65537 exports together, and 65536 are accepted',
  })
})

test('a lens keeps what it has beside its module', () => {
  const [lens] = checkModules([{ ...full, args: '{"a":1}' }])
  assert.equal(lens?.args, '{"a":1}')
})
