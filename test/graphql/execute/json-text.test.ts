import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Attribute } from '../../../src/graphql/catalog/entity.ts'
import { itemPieces, listText, writerFor } from '../../../src/graphql/execute/json-text.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'
import { createTestBudget } from '../support/graphql-room.ts'

const length = fc.oneof(fc.nat(20), fc.constantFrom(65_535, 65_536, 40_000, 200_000))
const texts = fc
  .array(length, { maxLength: 12, size: 'max' })
  .map((lengths) => lengths.map((each, index) => `${index % 10}`.repeat(each)))

test('items in pieces are all items with commas between, in pieces of 64 KiB and what goes over', () => {
  fc.assert(
    fc.property(texts, (items) => {
      const pieces = itemPieces(items)
      assert.equal(pieces.join(''), items.join(','))
      const whole = pieces.filter((piece) => piece !== ',')
      for (const piece of whole.slice(0, -1)) assert.ok(piece.length >= 65_536)
      for (const piece of whole) {
        const last = piece.slice(piece.lastIndexOf(',') + 1)
        assert.ok(piece.length - last.length < 65_536 + items.length)
      }
    }),
  )
})

test('a piece ends with the item that fills it, to the last character', () => {
  const [full, nearly] = ['a'.repeat(65_536), 'a'.repeat(65_535)]
  assert.deepEqual(itemPieces([full, 'b']), [full, ',', 'b'])
  assert.deepEqual(itemPieces([nearly, 'b', 'c']), [`${nearly},b`, ',', 'c'])
  assert.deepEqual(itemPieces(['b', full]), [`b,${full}`])
})

test('a list is its items in brackets, with commas between', async () => {
  for (const items of [[], ['1'], ['1', '"a"', '{}']])
    assert.equal(await listText(createTestBudget(), items), `[${items.join()}]`)
})

test('values are written as JSON, stored ones without looking for what has to be escaped', () => {
  const cases: readonly [Pick<Attribute, 'kind' | 'list'>, readonly JsonValue[]][] = [
    [{ kind: 'int', list: false }, [0, 7, null]],
    [{ kind: 'boolean', list: false }, [true, false, null]],
    [{ kind: 'hash', list: false }, ['0xab', null]],
    [{ kind: 'hash', list: true }, [['0xab', '0xcd'], ['0xab'], [], null]],
    [{ kind: 'text', list: false }, ['a "word"', null]],
  ]
  for (const [attribute, values] of cases)
    for (const isStored of [true, false])
      for (const value of values)
        assert.equal(writerFor(attribute as Attribute, isStored)(value), JSON.stringify(value))
  const computed = writerFor({ kind: 'string', list: false } as Attribute, false)
  assert.equal(computed('a "word"'), '"a \\"word\\""')
})
