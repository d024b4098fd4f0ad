import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareValues, valueTest } from '../../../src/graphql/filter/value-test.ts'
import { compareQuantities, parseHexQuantity } from '../../../src/graphql/rows/quantity.ts'

const big = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })
const hex = (value: bigint): string => `0x${value.toString(16)}`

test('quantities are read from decimal, hex and numbers, and compare as numbers', () => {
  fc.assert(
    fc.property(big, big, (a, b) => {
      assert.equal(parseHexQuantity(a.toString()), hex(a))
      assert.equal(
        parseHexQuantity(`0X000${a.toString(16).slice(0, 61)}`),
        hex(BigInt(`0x${a.toString(16).slice(0, 61)}`)),
      )
      assert.equal(Math.sign(compareQuantities(hex(a), hex(b))), Number(a > b) - Number(a < b))
      assert.equal(compareQuantities(hex(a), hex(a)), 0)
    }),
  )
  assert.equal(parseHexQuantity(42), '0x2a')
  assert.equal(parseHexQuantity(' 42 '), '0x2a')
  assert.equal(parseHexQuantity(Number.MAX_SAFE_INTEGER), '0x1fffffffffffff')
  for (const bad of [
    (1n << 256n).toString(),
    '4 2',
    Number.MAX_SAFE_INTEGER + 1,
    '',
    '0x',
    '-1',
    '1.5',
    'x',
    `0x${'f'.repeat(65)}`,
    `1${'0'.repeat(78)}`,
    -1,
    1.5,
    2 ** 60,
    null,
    true,
  ]) {
    assert.equal(parseHexQuantity(bad), undefined, String(bad))
  }
})

test('null is the smallest value and false is smaller than true', () => {
  const values = ['b', null, 'a', 'B']
  assert.deepEqual(
    [...values].sort((a, b) => compareValues('text', a, b)),
    [null, 'B', 'a', 'b'],
  )
  const least = [
    ['int', -1],
    ['float', -0.5],
    ['bigint', '-1'],
    ['quantity', '0x0'],
    ['boolean', false],
    ['text', ''],
  ] as const
  for (const [kind, value] of least) {
    assert.ok(compareValues(kind, value, null) > 0, kind)
    assert.ok(compareValues(kind, null, value) < 0, kind)
    assert.equal(compareValues(kind, null, null), 0)
  }
  assert.equal(compareValues('boolean', false, true), -1)
  assert.equal(compareValues('quantity', '0x9', '0x10'), -1)
})

test('with null as a bound, only null is at most null, and every value is at least null', () => {
  const holds = (operator: '_gt' | '_geq' | '_lt' | '_leq'): boolean[] =>
    [null, 'a'].map(valueTest('text', operator, null))
  assert.deepEqual(holds('_gt'), [false, true])
  assert.deepEqual(holds('_geq'), [true, true])
  assert.deepEqual(holds('_lt'), [false, false])
  assert.deepEqual(holds('_leq'), [true, false])
})

test('patterns outside the dialect mean equality', () => {
  const like = (pattern: string, text: string) => valueTest('text', '_like', pattern)(text)
  assert.ok(like('a%c', 'abc'))
  assert.ok(!like('ab%bc', 'abc'), 'head and tail do not overlap')
  assert.ok(like('%', '%') && !like('%', 'abc'))
  assert.ok(like('a%b%c', 'a%b%c') && !like('a%b%c', 'axbxc'))
  assert.ok(like('a%b%', 'a%b%') && !like('a%b%', 'axb') && !like('a%b%', 'x%bx'))
  assert.ok(like('%a%b', '%a%b') && !like('%a%b', 'axb') && !like('%a%b', 'xa%x'))
  assert.ok(
    like('a%c', 'ac') && like('%c', 'abc') && like('a%', 'abc') && like('%%', 'abc'),
    'however short',
  )
  assert.ok(like('%b%', 'abc') && like('a_c', 'a_c') && !like('a_c', 'abc'))
  assert.ok(valueTest('text', '_ilike', '%BC')('aBc'))
  assert.ok(!like('%BC', 'abc'))
})

test('patterns go by case unless the operator ignores it, and may be negated either way', () => {
  const matching = (operator: '_like' | '_ilike' | '_nlike' | '_nilike') =>
    ['abc', 'aBC', 'x', null].filter(valueTest('text', operator, '%bc'))
  assert.deepEqual(matching('_like'), ['abc'])
  assert.deepEqual(matching('_nlike'), ['aBC', 'x', null])
  assert.deepEqual(matching('_ilike'), ['abc', 'aBC'])
  assert.deepEqual(matching('_nilike'), ['x', null])
  for (const operator of ['_like', '_ilike'] as const)
    assert.deepEqual(['', 'null', null].filter(valueTest('text', operator, null)), [null])
})

test('hex in the text of Views is equal in any case, other text as it is written', () => {
  for (const kind of ['string', 'name'] as const) {
    const values = ['0xAB', '0xab', 'AB', 'ab']
    assert.deepEqual(values.filter(valueTest(kind, '_eq', '0xab')), ['0xAB', '0xab'], kind)
    assert.deepEqual(values.filter(valueTest(kind, '_neq', 'ab')), ['0xAB', '0xab', 'AB'], kind)
    assert.deepEqual(values.filter(valueTest(kind, '_in', ['0xab', 'AB'])), ['0xAB', '0xab', 'AB'])
    assert.deepEqual(values.filter(valueTest(kind, '_ilike', 'ab')), ['AB', 'ab'], kind)
  }
})

test('a pattern matches by a start, an end, both or a part, and is plain text otherwise', () => {
  const texts = ['', '%', 'a', 'ab', 'aab', 'bab', 'abx', 'xabx', 'a%b%']
  const cases: Readonly<Record<string, readonly string[]>> = {
    ab: ['ab'],
    'a%': ['a', 'ab', 'aab', 'abx', 'a%b%'],
    '%b': ['ab', 'aab', 'bab'],
    'a%b': ['ab', 'aab'],
    'ab%b': [],
    '%ab%': ['ab', 'aab', 'bab', 'abx', 'xabx'],
    '%': ['%'],
    '%%': texts,
    'a%b%': ['a%b%'],
  }
  for (const [pattern, expected] of Object.entries(cases))
    assert.deepEqual(texts.filter(valueTest('text', '_like', pattern)), expected, pattern)
})

test('a range has its bound where it says so, and no rows without a value', () => {
  const values = [null, 1, 2, 3]
  for (const [operator, beside, besideNull] of [
    ['_gt', [3], [1, 2, 3]],
    ['_geq', [2, 3], values],
    ['_lt', [1], []],
    ['_leq', [1, 2], [null]],
  ] as const) {
    assert.deepEqual(values.filter(valueTest('int', operator, 2)), beside)
    assert.deepEqual(values.filter(valueTest('int', operator, null)), besideNull)
  }
})
