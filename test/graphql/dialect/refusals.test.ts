import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDialectApi } from '../support/dialect.ts'

/** Queries of older versions that are refused, and their messages. */
const refused: readonly (readonly [name: string, query: string, messages: readonly string[]])[] = [
  [
    'a field that is gone and a variable of the wrong type: every mistake at once',
    `query Old($blockNumber: String!) {
      Block(filter: { number: { _eq: $blockNumber } }) {
        hash transactions { logs { address events { eventName } } }
      }
    }`,
    [
      'Variable "$blockNumber" of type "String!" used in position expecting type "Int".',
      'Cannot query field "events" on type "Ethereum__Mainnet__Log".',
    ],
  ],
  [
    'an unknown collection',
    '{ Ethereum__Mainnet__Event { name } }',
    ['Cannot query field "Ethereum__Mainnet__Event" on type "Query".'],
  ],
  ...[
    'mutation { upsert_AttestationRecord(create: {vote_count: 1}, update: {vote_count: 1}, filter: {attested_doc: {_eq: "block_1000"}}) { _docID } }',
    'mutation { add_Ethereum__Mainnet__Block(input: [{number: 1000001}]) { _docID } }',
    'mutation { create_Block(input: {number: 1000001}) { _docID } }',
    'mutation { delete_Block(filter: {}) { _docID } }',
  ].map(
    (query) =>
      [
        `a mutation: ${query.split('(', 1)[0]}`,
        query,
        [
          'Mutations are refused: documents only come from sealed blocks. Send a query or a subscription.',
        ],
      ] as const,
  ),
]

test('refused queries get status 200, data null and messages', async (t) => {
  const api = await openDialectApi(t)
  for (const [name, query, messages] of refused) {
    await t.test(name, async () => {
      const { status, body } = await api.ask(query, { blockNumber: '101' })
      assert.equal(status, 200)
      const { data, errors } = body as { data: unknown; errors: { message: string }[] }
      assert.equal(data, null)
      assert.deepEqual(
        errors.map(({ message }) => message.replace(/ Did you mean .*/, '')).toSorted(),
        messages.toSorted(),
      )
    })
  }
})
