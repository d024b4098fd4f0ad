import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { createViewSchemaCheck } from '../../../src/graphql/schema/view-schema-check.ts'
import { parseRowType, type RowType } from '../../../src/views/rows/row-type.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'

const checkSchema = createViewSchemaCheck(testNetwork)

/** Names that GraphQL, JavaScript or our own schema may take for something else. */
const names = fc.oneof(
  fc.constantFrom(
    ...['null', 'true', 'false', 'type', 'enum', 'input', 'on', 'fragment', 'query'],
    ...['constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf', 'then', 'toJSON'],
    ...['COUNT', 'count', 'sum', 'number', 'alias', 'ASC', 'filter', 'limit', 'Log', 'Block'],
    ...['LogField', 'NumericSelector', 'CountSelector', 'Field', 'OperatorBlock', 'Subscription'],
  ),
  fc.stringMatching(/^[A-Za-z_]\w{0,12}$/),
)
const type = fc.constantFrom('String', 'Int', '[Float]', 'Boolean', 'ID', '[BigInt]', 'JSON')

function accepted(sdl: string): RowType | null {
  try {
    return parseRowType(sdl)
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'VIEWS_SDL_INVALID')
    return null
  }
}

test('with every SDL that is accepted a schema can be built', () => {
  const fields = fc.uniqueArray(fc.tuple(names, type), {
    ...{ minLength: 1, maxLength: 6 },
    selector: ([name]) => name,
  })
  let checked = 0
  fc.assert(
    fc.property(names, fields, (name, each) => {
      const body = each.map(([field, of]) => `${field}: ${of}`).join(' ')
      const rowType = accepted(`type ${name} { ${body} }`)
      if (rowType === null) return
      checkSchema(rowType)
      checked += 1
    }),
    { numRuns: 1_000 },
  )
  assert.ok(checked > 100, `${checked} of 1,000 were accepted`)
})

test('fields that GraphQL takes for a literal are refused by name', () => {
  for (const name of ['null', 'true', 'false'])
    assert.throws(() => parseRowType(`type Transfer { ${name}: String }`), {
      code: 'VIEWS_SDL_INVALID',
      message: new RegExp(`the name ${name} has a meaning of its own`),
    })
})

test('a View with which no schema can be built is refused with what GraphQL says', () => {
  const rowType = parseRowType('type Transfer { from: String }')
  const withField = (name: string): RowType => ({
    ...rowType,
    fields: rowType.fields.map((field) => ({ ...field, name })),
  })
  const problems = { null: /Enum values cannot be named: null/, 'a b': /a b/ }
  for (const [name, message] of Object.entries(problems))
    assert.throws(() => checkSchema(withField(name)), { code: 'VIEWS_SDL_INVALID', message })
})
