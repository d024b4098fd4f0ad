/**
 * The pages for those who query: docs/graphql.md, docs/proofs.md, docs/reference/aggregates.md,
 * docs/reference/collections.md and docs/reference/filters.md. When they differ from the code,
 * `npm run generate` writes their tables and answers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEnumType, isInputObjectType } from 'graphql'
import { errorCodes } from '../../src/errors.ts'
import { proofSelection } from '../../src/verify/proof.ts'
import { examplesIn, isMarkedNotRun, renderAnswers } from '../generate/graphql-answers.ts'
import { graphqlPagePaths } from '../generate/graphql-pages.ts'
import { fieldsOf, graphqlSections, hostSchema, servedTypes } from '../generate/graphql-sections.ts'
import { readSection } from '../generate/section-text.ts'
import { formatJson } from './support/json-format.ts'
import { blocksIn, readPage } from './support/page.ts'

const textOf = (paths: readonly string[]): string => paths.map(readPage).join('\n')
const schema = hostSchema()
const queries = graphqlPagePaths
  .flatMap((path) => examplesIn(readPage(path)))
  .map(({ asked }) => asked.text)
  .join('\n')

for (const path of graphqlPagePaths) {
  test(`${path} shows the answers that a Host gives`, async () => {
    const page = readPage(path)
    const given = examplesIn(await renderAnswers(page)).map(({ shown }) => shown.text)
    const shown = examplesIn(page).map((example) => example.shown.text)
    assert.deepEqual(shown, given)
  })

  test(`${path} has no query, command or JSON that nothing runs`, () => {
    const page = readPage(path)
    const run = new Set(examplesIn(page).flatMap(({ asked, shown }) => [asked.line, shown.line]))
    const others = blocksIn(page).filter(
      (block) =>
        ['graphql', 'sh', 'json'].includes(block.language) &&
        block.info !== 'variables' &&
        !isMarkedNotRun(block) &&
        !run.has(block.line),
    )
    assert.deepEqual(others, [])
  })
}

for (const [path, sections] of Object.entries(graphqlSections())) {
  for (const [name, section] of Object.entries(sections)) {
    test(`${path} has the ${name} as the code has them`, () => {
      assert.equal(readSection(readPage(path), name), section)
    })
  }
}

test('docs/reference/collections.md asks every collection for every field', () => {
  const examples = examplesIn(readPage('docs/reference/collections.md'))
  for (const name of servedTypes) {
    const short = name.replace(/^.*__/, '')
    const asked = examples.filter((one) => one.asked.text.startsWith(`{\n  ${short}(`))
    const words = new Set(asked.flatMap((one) => one.asked.text.match(/\w+/g)))
    const unasked = fieldsOf(schema, name).filter((field) => !words.has(field.name))
    assert.deepEqual(
      unasked.map((field) => field.name),
      [],
      short,
    )
  }
})

test('each operator of filters stands in a query, and each spelling on its page', () => {
  const page = readPage('docs/reference/filters.md')
  const filters = Object.values(schema.getTypeMap()).filter(
    (type) => isInputObjectType(type) && /(?:OperatorBlock|FilterArg)$/.test(type.name),
  )
  const fields = filters.flatMap((type) =>
    isInputObjectType(type) ? Object.values(type.getFields()) : [],
  )
  const values = new Set(
    servedTypes.flatMap((type) => fieldsOf(schema, type).map(({ name }) => name)),
  )
  const operators = fields.filter(({ name }) => /^_[a-z]+$/.test(name) && !values.has(name))
  assert.ok(operators.length > 0)
  const first = operators.filter(({ deprecationReason }) => deprecationReason == null)
  const namesOf = (those: typeof fields) => [...new Set(those.map(({ name }) => name))]
  assert.deepEqual(
    {
      unasked: namesOf(first).filter((name) => !queries.includes(`${name}:`)),
      unnamed: namesOf(operators).filter((name) => !page.includes(`\`${name}\``)),
    },
    { unasked: [], unnamed: [] },
  )
})

test('each argument, aggregate and format stands on a page', () => {
  const query = schema.getQueryType()?.getFields() ?? {}
  const format = schema.getType('ValueFormat')
  const names = [
    ...Object.values(query).flatMap(({ args }) => args.map(({ name }) => name)),
    ...Object.keys(query),
    ...(isEnumType(format) ? format.getValues().map(({ name }) => name) : []),
  ].filter((name) => !name.includes('__'))
  const text = textOf(graphqlPagePaths)
  assert.deepEqual(
    names.filter((name) => !text.includes(`\`${name}\``)),
    [],
  )
})

test('each code of an error in a query stands in docs/graphql.md', () => {
  const codes = Object.keys(errorCodes).filter((code) => code.startsWith('GRAPHQL_'))
  const page = readPage('docs/graphql.md')
  assert.ok(codes.length > 0)
  assert.deepEqual(
    codes.filter((code) => !page.includes(`\`${code}\``)),
    [],
  )
})

test('docs/proofs.md asks for what a proof takes', () => {
  const [selection] = blocksIn(readPage('docs/proofs.md'))
  assert.equal(selection?.text, `${proofSelection}\n`)
  assert.ok(queries.includes(proofSelection))
})

test('a query without an answer below it is refused', () => {
  assert.throws(
    () => examplesIn('```graphql\n{ a }\n```\n\n```sh\nls\n```\n'),
    /line 1 is followed/,
  )
})

test('JSON stands in one line where it fits, and keeps its meaning', () => {
  const long = { text: 'x'.repeat(90), list: [1, { a: null }], none: [], empty: {} }
  assert.equal(formatJson({ a: [1, 'b'] }), '{ "a": [1, "b"] }\n')
  assert.equal(formatJson(long).split('\n').length, 7)
  assert.deepEqual(JSON.parse(formatJson(long)), long)
})
