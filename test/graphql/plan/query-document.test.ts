import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { chooseOperation, firstField } from '../../../src/graphql/plan/query-document.ts'

/** The operations of a text with its fragments, as a document that was read has them. */
function documentOf(text: string) {
  const { definitions } = parse(text)
  const fragments = new Map(
    definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
      .map((one) => [one.name.value, one]),
  )
  const operations = definitions
    .filter((one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION)
    .map((node) => [node.name?.value ?? '', { node, fragments }] as const)
  return { operations: new Map(operations) } as never
}

const chosen = (text: string, name?: string | null) =>
  firstField(chooseOperation(documentOf(text), name))

test('the only operation is chosen without its name, which may also be empty', () => {
  for (const name of [undefined, null, '', 'one'])
    assert.equal(chosen('query one { Block { number } }', name), 'Block')
  const two = 'query one { Block { number } } query two { Log { data } }'
  assert.equal(chosen(two, 'two'), 'Log')
  for (const name of [undefined, null, ''])
    assert.throws(() => chosen(two, name), {
      message:
        'Must provide operation name if query contains multiple operations. Set operationName to one of one, two.',
    })
  assert.throws(() => chosen(two, 'three'), {
    message: 'Unknown operation named "three". Set operationName to one of one, two.',
  })
  assert.throws(() => chosen('{ Block { number } }', 'three'), {
    message:
      'Unknown operation named "three". The query has one without a name: leave operationName out.',
  })
  assert.throws(() => chosen('fragment f on Block { number }'), {
    message: 'Must provide an operation.',
  })
})

test('the first field of an operation is found in fragments as well', () => {
  const fragment = 'fragment f on Subscription { ... { Log { data } Block { number } } }'
  assert.equal(chosen(`subscription { ...f } ${fragment}`), 'Log')
  assert.equal(chosen('subscription { ... on Subscription { Block { number } } }'), 'Block')
  assert.equal(chosen('{ Log { data } Block { number } }'), 'Log')
})
