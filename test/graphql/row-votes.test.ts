/** What Hosts signed of rows, as queries show it: a stranger, a liar and one who contradicts himself among them. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { RowStatement } from '../../src/row-votes/row-statement.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'
import { testSigner } from '../support/chain/sealed-blocks.ts'
import { signedLeaves } from '../support/signed-statements.ts'
import { type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { putRows, servedView } from './support/served-views.ts'

const view = servedView('type Transfer { n: Int }', 'Log { address }', 3)
const runtime = 1
const other = namedHash('other rows').slice(2)

const identityOf = (host: string): string => testSigner(host).identity

/** Six blocks with two rows each, and nobody's statements. */
async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 6, from: 1 }) })
  for (const block of room.chain) await putRows(room, view, block, [{ n: block.number }, { n: 0 }])
  room.graphql.setViews([view])
  room.store.reader.countRowVotesOf({
    hosts: new Set(['own', 'first', 'second', 'liar', 'torn'].map(identityOf)),
    runtime,
  })
  return room
}

/** What a Host says of the View at a height: what is stored, but for what is given. */
function statementOf(
  { store, chain }: GraphqlRoom,
  host: string,
  height: number,
  said: Partial<{ rowsRoot: string; count: number; runtime: number; blockHash: string }> = {},
): RowStatement {
  const rows = store.reader.read((snapshot) => snapshot.viewRows(view.slot, height))
  const { hash } = chain[height - 1] ?? assert.fail()
  const { rowsRoot = rows?.root ?? assert.fail(), count = 2 } = said
  const leaves = [{ view: view.id, rowsRoot, count }]
  return signedLeaves(height, said.blockHash ?? hash, leaves, {
    signer: testSigner(host),
    runtime: said.runtime ?? runtime,
  })
}

async function sign(room: GraphqlRoom, statements: readonly RowStatement[]): Promise<void> {
  for (const statement of statements)
    assert.ok(await room.store.putRowStatements(statement.blockNumber, [statement]))
}

async function hostsBy(room: GraphqlRoom): Promise<number[]> {
  const { Transfer } = await room.query('{ Transfer(filter: {n: {_neq: 0}}) { _hosts } }')
  return Transfer.map(({ _hosts }: { _hosts: number }) => _hosts)
}

describe('“Applications can filter query results by attestation count”', () => {
  test('_hosts counts the accepted Hosts that signed exactly the stored rows, each once', async (t) => {
    const room = await openRoom(t)
    assert.deepEqual(await hostsBy(room), [0, 0, 0, 0, 0, 0])
    await sign(room, [
      ...[2, 3, 4].map((height) => statementOf(room, 'own', height)),
      ...[3, 4].map((height) => statementOf(room, 'first', height)),
      statementOf(room, 'second', 4),
    ])
    assert.deepEqual(await hostsBy(room), [0, 1, 2, 3, 0, 0])
    const { Transfer, rows } = await room.query(`{
      Transfer(filter: {_hosts: {_geq: 2}}, order: [{_hosts: DESC}, {n: DESC}]) { n _hosts _blockNumber }
      rows: COUNT(Transfer: {filter: {_hosts: {_eq: 0}}})
    }`)
    assert.deepEqual(Transfer, [
      { n: 4, _hosts: 3, _blockNumber: 4 },
      { n: 0, _hosts: 3, _blockNumber: 4 },
      { n: 3, _hosts: 2, _blockNumber: 3 },
      { n: 0, _hosts: 2, _blockNumber: 3 },
    ])
    assert.equal(rows, 6)
  })

  const uncounted: readonly [string, (room: GraphqlRoom) => RowStatement[]][] = [
    ['a Host that is not accepted', (room) => [statementOf(room, 'stranger', 1)]],
    ['one that signed other rows', (room) => [statementOf(room, 'liar', 1, { rowsRoot: other })]],
    ['one that signed another number', (room) => [statementOf(room, 'liar', 1, { count: 3 })]],
    [
      'one that signed these rows and others',
      (room) => [statementOf(room, 'torn', 1), statementOf(room, 'torn', 1, { rowsRoot: other })],
    ],
    ['another version of the runtime', (room) => [statementOf(room, 'first', 1, { runtime: 2 })]],
    [
      'a block of another branch',
      (room) => [statementOf(room, 'first', 1, { blockHash: namedHash('elsewhere') })],
    ],
  ]
  for (const [what, statements] of uncounted)
    test(`_hosts leaves out ${what}`, async (t) => {
      const room = await openRoom(t)
      await sign(room, [statementOf(room, 'own', 1), ...statements(room)])
      assert.deepEqual(await hostsBy(room), [1, 0, 0, 0, 0, 0])
    })
})

describe('“Each View has its own attestation collection”, AttestationRecord_<ViewName>,', () => {
  test('with a record for all rows that were signed of a block, the stored ones first', async (t) => {
    const room = await openRoom(t)
    await sign(room, [
      ...['own', 'first'].map((host) => statementOf(room, host, 2)),
      statementOf(room, 'liar', 2, { rowsRoot: other, count: 7 }),
      statementOf(room, 'own', 3),
      statementOf(room, 'stranger', 4),
    ])
    const root = statementOf(room, 'own', 2).leaves[0]?.rowsRoot
    const stored = `view:${view.id}:2:${root}:2`
    const { atTwo, named, one, like, voted, count } = await room.query(
      `query ($stored: String!, $id: ID!, $like: String!) {
        atTwo: AttestationRecord_Transfer(filter: {blockNumber: 2}) {
          _docID attested_doc source_doc doc_type vote_count blockNumber blockHash rowsRoot rowCount
        }
        named: AttestationRecord_Transfer(filter: {attested_doc: {_eq: $stored}}) { vote_count }
        one: AttestationRecord_Transfer(filter: {_docID: {_eq: $id}}) { vote_count }
        like: AttestationRecord_Transfer(filter: {attested_doc: {_like: $like}}) { rowCount }
        voted: AttestationRecord_Transfer(filter: {vote_count: {_geq: 2}}) { blockNumber }
        count: COUNT(AttestationRecord_Transfer: {})
      }`,
      { stored, id: `attestation-${stored}`, like: `view:${view.id}:2:%` },
    )
    assert.deepEqual(atTwo[0], {
      _docID: `attestation-${stored}`,
      attested_doc: stored,
      source_doc: ['own', 'first'].map(identityOf).sort(),
      doc_type: 'View',
      vote_count: 2,
      blockNumber: 2,
      blockHash: room.chain[1]?.hash,
      rowsRoot: root,
      rowCount: 2,
    })
    assert.deepEqual(
      [atTwo[1].source_doc, atTwo[1].rowsRoot, atTwo[1].rowCount, atTwo.length],
      [[identityOf('liar')], other, 7, 2],
    )
    assert.deepEqual([named, one], [[{ vote_count: 2 }], [{ vote_count: 2 }]])
    assert.deepEqual(like, [{ rowCount: 2 }, { rowCount: 7 }])
    assert.deepEqual([voted, count], [[{ blockNumber: 2 }], 3])
  })

  test('that comes and goes with the View, and is no subscription', async (t) => {
    const room = await openRoom(t)
    await sign(room, [statementOf(room, 'own', 1)])
    const query = '{ AttestationRecord_Transfer { vote_count } }'
    assert.deepEqual(await room.query(query), { AttestationRecord_Transfer: [{ vote_count: 1 }] })
    const request = { query: `subscription ${query}` }
    assert.equal(room.graphql.operationKind(request), null)
    const changed = new Promise<void>((resolve) => void room.graphql.onViews(resolve))
    room.graphql.setViews([])
    await changed
    assert.match(String(await room.errors(query)), /AttestationRecord_Transfer/)
  })
})
