import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkModule, moduleLimits } from '../../src/lens/module-check.ts'
import { countExports, countTableEntries, mostMemoryPages } from '../../src/lens/module-sizes.ts'
import { buildModule, leb } from './support/module.ts'

const sizesOf = (module: Uint8Array) => ({
  pages: mostMemoryPages(module),
  entries: countTableEntries(module),
  exports: countExports(module),
})

test('sizes are those that a checked module may grow to', () => {
  const tables = [
    [0x70, 1, 3, ...leb(65_536)],
    [0x6f, 0, ...leb(1_000)],
  ]
  const module = checkModule(buildModule({ memories: [[1, 2, ...leb(300)]], tables }))
  assert.deepEqual(sizesOf(module), { pages: 300, entries: 1_003, exports: 2 })
  const plain = checkModule(buildModule())
  assert.deepEqual(sizesOf(plain), { pages: moduleLimits.memoryPages, entries: 0, exports: 2 })
})

test('a module without sections takes nothing', () => {
  const empty = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
  assert.deepEqual(sizesOf(empty), { pages: 0, entries: 0, exports: 0 })
})
