/** Commas and brackets of a JSON text, counted without parsing it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasMoreParts, isNestedDeeper } from '../src/json-parts.ts'

test('what stands outside of strings is counted, of any JSON', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
      const parts = outside.match(/[,{[]/g)?.length ?? 0
      const many = `[${text},${' '.repeat(parts)}"${' '.repeat(16 * (parts + 2))}"]`
      // Of a string only its quotes are looked at.
      const looked = many.replaceAll(/"(?:[^"\\]|\\.)*"/g, (string) =>
        string.replaceAll(/[^"]/g, ''),
      )
      assert.equal(hasMoreParts(many, parts + 2), looked.length > 16 * (parts + 2))
      assert.ok(hasMoreParts(many, parts + 1))
    }),
  )
})

test('strings do not count, however long they are and whatever is escaped in them', () => {
  const strings = [',[{'.repeat(1_000), '\\,'.repeat(1_000), '\\\\', '\n'.repeat(1_000), '']
  const text = JSON.stringify(strings)
  assert.equal(hasMoreParts(text, 5), false)
  assert.equal(hasMoreParts(text, 4), true)
  assert.equal(hasMoreParts(`"${',"'.repeat(100)}`, 49), true)
  assert.equal(hasMoreParts(`"${','.repeat(100)}`, 1), false, 'a text that does not end')
})

test('what takes as long to look through as many values is taken for as many', () => {
  for (const [before, filling, after] of [
    ['[', ' ', ']'],
    ['', '1', ''],
    ['"', '\\"', '"'],
  ] as const) {
    const of = (count: number): string => `${before}${filling.repeat(count)}${after}`
    const most = 16 * 100 - before.length - after.length
    assert.equal(hasMoreParts(of(most), 100), false)
    assert.equal(hasMoreParts(of(most + 1), 100), true)
  }
})

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0

test('any JSON is nested as deep as its value is', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      const depth = depthOf(JSON.parse(text))
      assert.equal(isNestedDeeper(text, depth), false)
      assert.equal(isNestedDeeper(text, depth - 1), true)
    }),
  )
})

test('brackets in strings do not nest, and what does not end is nested too', () => {
  assert.equal(
    isNestedDeeper(JSON.stringify(['[{'.repeat(100), '\\"[['.repeat(100), '\\']), 1),
    false,
  )
  assert.equal(isNestedDeeper(JSON.stringify(['"', []]), 1), true)
  assert.equal(isNestedDeeper(`["]]]",${'['.repeat(3)}`, 4), false)
  assert.equal(isNestedDeeper(`["]]]",${'['.repeat(3)}`, 3), true)
  assert.equal(isNestedDeeper(`"${'['.repeat(100)}`, 0), false)
})
