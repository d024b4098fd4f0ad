import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FragmentDefinitionNode, Kind, parse, print } from 'graphql'
import { maxSelections } from '../../../src/graphql/budget/limits.ts'
import { type Collector, collectFields } from '../../../src/graphql/plan/collect-fields.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'
import { repeat } from '../support/repeat.ts'

/** What is collected of all operations of a text together: fields by key, as written. */
function collected(text: string, shape: Collector['shape'] = {}, count = 0) {
  const { definitions } = parse(text)
  const isFragment = (one: unknown): one is FragmentDefinitionNode =>
    (one as FragmentDefinitionNode).kind === Kind.FRAGMENT_DEFINITION
  const fragments = new Map(definitions.filter(isFragment).map((one) => [one.name.value, one]))
  const sets = definitions.flatMap((one) =>
    one.kind === Kind.OPERATION_DEFINITION ? [one.selectionSet] : [],
  )
  const collector: Collector = { fragments, shape, count }
  const fields = collectFields(collector, [undefined, ...sets])
  return {
    count: collector.count,
    fields: [...fields].map(([key, nodes]) => [key, ...nodes.map(print)]),
  }
}

test('fields of one key come together, where the first of them stands', () => {
  const { fields, count } = collected(
    'query A { a(x: 1) b: a ...f ... { c } } query B { b: a ...f a(x: 2) } fragment f on T { c d ...f }',
    {},
    5,
  )
  assert.deepEqual(fields, [
    ['a', 'a(x: 1)', 'a(x: 2)'],
    ['b', 'b: a', 'b: a'],
    ['c', 'c', 'c'],
    ['d', 'd'],
  ])
  assert.equal(count, 5 + 4)
})

test('a field or fragment is left out where it is to be skipped, or not to be included', () => {
  const { fields } = collected(
    `query {
      a @skip(if: true) b @skip(if: false) c @include(if: true) d @include(if: false)
      e @skip(if: $yes) f @include(if: $no) g @skip(if: $no) @include(if: $yes)
      h @skip(if: $yes) @include(if: $yes) i @skip(if: $no) @include(if: $no)
      ... @include(if: $no) { j } ...k @skip(if: $yes) ...l @skip(if: $no) }
      fragment k on T { k } fragment l on T { l }`,
    { yes: true, no: false },
  )
  assert.deepEqual(
    fields.map(([key]) => key),
    ['b', 'c', 'g', 'l'],
  )
})

test('an operation may have as many fields as the limit, counted by their keys', () => {
  const many = (count: number) => `{ ${repeat(count, (index) => `a${index} a${index}`)} }`
  assert.equal(collected(many(maxSelections - 3), {}, 3).count, maxSelections)
  assert.throws(() => collected(many(maxSelections - 2), {}, 3), {
    message: /^The query selects more than 1000 fields\. Ask for several documents/,
  })
})

test('an alias that means something else in objects is refused', () => {
  assert.throws(() => collected('{ __proto__: a }'), {
    message: 'The alias __proto__ is reserved. Choose another alias.',
  })
})

test('an answer of which every field is skipped is an empty object', async (t) => {
  const { query } = await openGraphqlRoom(t)
  assert.deepEqual(await query('{ Block @skip(if: true) { number } }'), {})
})
