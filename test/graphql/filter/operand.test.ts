import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxPatternLength } from '../../../src/graphql/budget/limits.ts'
import type { Attribute, AttributeKind } from '../../../src/graphql/catalog/entity.ts'
import {
  elementFilterTest,
  elementTest,
  singleOperand,
  toOperators,
} from '../../../src/graphql/filter/operand.ts'

const field = (kind: AttributeKind) => ({ name: 'field', kind }) as unknown as Attribute

test('an operand is written as values of its kind are', () => {
  const cases: readonly [AttributeKind, unknown, unknown][] = [
    ['hash', '0xAB', '0xab'],
    ['address', '', ''],
    ['data', '0x', '0x'],
    ['quantity', '1000', '0x3e8'],
    ['quantity', 7, '0x7'],
    ['bigint', '0x10', '16'],
    ['int', '12', 12],
    ['float', 0.5, 0.5],
    ['boolean', true, true],
    ['boolean', 'true', false],
    ['string', '0xAB', '0xab'],
    ['name', 'Word', 'Word'],
    ['text', '0xAB', '0xAB'],
    ['id', 'Log-0xAB-1', 'log-0xab-1'],
    ['hash', null, null],
    ['json', undefined, null],
  ]
  for (const [kind, value, expected] of cases)
    assert.equal(singleOperand(field(kind), value), expected, `${kind} ${value}`)
})

test('an operand that no value of the kind can be is refused, with what to write', () => {
  const refused: readonly [AttributeKind, unknown, string][] = [
    [
      'hash',
      'x"y',
      'The field field is hex and cannot be compared with "x\\"y". Write 0x and hex digits ("0xa0b86991"), or a part of them with _like ("%b86991%").',
    ],
    [
      'quantity',
      -1,
      'The field field is a quantity and cannot be compared with -1. Write decimal text ("1000"), 0x hex ("0x3e8") or a whole number.',
    ],
    [
      'bigint',
      '1.5',
      'The field field is a whole number and cannot be compared with "1.5". Write decimal text ("-1000"), 0x hex ("0x3e8") or a whole number.',
    ],
    [
      'json',
      'x',
      'The field field is JSON, of which a filter knows only whether it has a value. Write {_eq: null} or {_neq: null}.',
    ],
  ]
  for (const [kind, value, message] of refused)
    assert.throws(() => singleOperand(field(kind), value), {
      message,
      extensions: { code: 'GRAPHQL_CONDITION_INVALID' },
    })
})

test('operators are read in any spelling, lists with each value once', () => {
  assert.deepEqual(toOperators(field('hash'), { _ne: '0xA', _ge: null }), [
    { operator: '_neq', operand: '0xa' },
    { operator: '_geq', operand: null },
  ])
  assert.deepEqual(toOperators(field('quantity'), { _in: ['7', '0x7', 7, '8'] }), [
    { operator: '_in', operand: ['0x7', '0x8'] },
  ])
  assert.deepEqual(toOperators(field('int'), { _in: 3, _nin: null }), [
    { operator: '_in', operand: [3] },
    { operator: '_nin', operand: [null] },
  ])
  assert.deepEqual(toOperators(field('int'), null), [{ operator: '_eq', operand: null }])
  assert.deepEqual(toOperators(field('int'), undefined), [])
})

test('patterns of hex are looked for in lower case, and of text as they are', () => {
  const pattern = (kind: AttributeKind, value: unknown) =>
    toOperators(field(kind), { _like: value })[0]?.operand
  for (const kind of ['hash', 'address', 'data', 'quantity', 'id'] as const)
    assert.equal(pattern(kind, '%AB%'), '%ab%')
  for (const kind of ['text', 'string', 'name'] as const)
    assert.equal(pattern(kind, '%AB%'), '%AB%')
  assert.equal(pattern('hash', null), null)
})

test('a pattern within a text may have 200 characters, one at an end any number', () => {
  const zeros = '0'.repeat(maxPatternLength)
  const read = (operator: string, pattern: string) =>
    toOperators(field('data'), { [operator]: pattern })
  for (const operator of ['_like', '_nlike', '_ilike', '_nilike']) {
    for (const pattern of [`%${zeros}%`, `%${zeros}00`, `${zeros}00%`, `%${zeros}%0`, `${zeros}00`])
      assert.equal(read(operator, pattern)[0]?.operand, pattern)
    assert.throws(() => read(operator, `%${zeros}0%`), {
      message:
        'A pattern has more than 200 characters between two %. Leave out the % at one end, or look for a part of the text.',
    })
  }
})

const among = (filter: unknown) => [1, 2, 3, null].filter(elementFilterTest(field('int'), filter))

test('elements of a list are tested by all operators, and by alternatives', () => {
  assert.deepEqual(among({ _gt: 1, _lt: 3 }), [2])
  assert.deepEqual(among({ _or: [{ _eq: 1 }, { _eq: 3 }] }), [1, 3])
  assert.deepEqual(among({ _or: { _eq: 1 } }), [1])
  assert.deepEqual(among({ _or: [] }), [])
  assert.deepEqual(among({ _and: [{ _gt: 1 }, { _lt: 3 }] }), [2])
  assert.deepEqual(among({ _and: [], _eq: 2 }), [2])
  assert.deepEqual(among({ _or: [{ _and: [{ _gt: 1 }, { _lt: 3 }] }, { _eq: null }] }), [2, null])
  for (const nothing of [null, undefined, {}, { _or: null }, { _and: null }])
    assert.deepEqual(among(nothing), [1, 2, 3, null])
  const part = toOperators(field('int'), { _gt: 1, _neq: 3 })
  assert.deepEqual([1, 2, 3].filter(elementTest(field('int'), part)), [2])
})
