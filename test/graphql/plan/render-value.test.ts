import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'graphql'
import type { Attribute, AttributeKind } from '../../../src/graphql/catalog/entity.ts'
import { renderFor } from '../../../src/graphql/plan/render-value.ts'

const [node = assert.fail()] = parse('{ field }').definitions

function field(kind: AttributeKind): Attribute {
  return { name: 'field', kind, list: false, description: 'A test.', read: () => null }
}

test('a value without a format, or in hex, is shown as it is, of whatever kind', () => {
  for (const kind of ['quantity', 'address', 'int', 'text'] as const)
    for (const format of [undefined, null, 'HEX'])
      assert.equal(renderFor(field(kind), format, node), null)
})

test('quantities are written in decimal, addresses with their checksum, and null as null', () => {
  const decimal = renderFor(field('quantity'), 'DECIMAL', node)
  assert.equal(decimal?.(`0x${'f'.repeat(64)}`), `${2n ** 256n - 1n}`)
  assert.equal(decimal?.(null), null)
  const checksum = renderFor(field('address'), 'CHECKSUM', node)
  // The first example of EIP-55.
  const written = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  for (let time = 0; time < 2; time += 1) assert.equal(checksum?.(written.toLowerCase()), written)
  assert.equal(checksum?.(null), null)
})

test('a format that does not fit a field is refused with the one that does', () => {
  const cases = [
    ['quantity', 'CHECKSUM', 'HEX or DECIMAL'],
    ['address', 'DECIMAL', 'HEX or CHECKSUM'],
  ] as const
  for (const [kind, format, fitting] of cases)
    assert.throws(() => renderFor(field(kind), format, node), {
      message: `The format ${format} does not fit field, which is of kind ${kind}. Write ${fitting}.`,
      extensions: { code: 'GRAPHQL_CONDITION_INVALID' },
    })
})
