/** Requests for rows of blocks for which enough Generators vouch. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { GraphqlResult } from '../../src/graphql/graphql.ts'
import { attestationsAt } from '../../src/graphql/rows/block-seals.ts'
import { type ChainBlock, createChain, forkChain } from '../support/chain/block-factory.ts'
import { testSigner } from '../support/chain/sealed-blocks.ts'
import { metricValue } from '../support/metric-value.ts'
import { signedLeaves } from '../support/signed-statements.ts'
import {
  type GraphqlRoom,
  openGraphqlRoom,
  type Rows,
  readData,
  signedBlock,
} from './support/graphql-room.ts'
import { putRows, servedView } from './support/served-views.ts'

const view = servedView('type Paid { n: Int @index even: Boolean }', 'Log { address }', 5)

/** Signers of blocks 1 to 6: one, two, three, one, two, three. */
const signers = ({ number }: ChainBlock) => ['one', 'two', 'three'].slice(0, 1 + ((number - 1) % 3))

/** Blocks 1 to 6 with a row each, but of 3, which has none. */
async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 6 }), signers })
  for (const block of room.chain) {
    const n = block.number
    await putRows(room, view, block, n === 3 ? [] : [{ n, even: n % 2 === 0 }])
  }
  room.graphql.setViews([view])
  return room
}

const ask = (
  { graphql }: Pick<GraphqlRoom, 'graphql'>,
  query: string,
  minimumAttestations?: number,
): Promise<GraphqlResult> =>
  graphql.execute({ query, ...(minimumAttestations === undefined ? {} : { minimumAttestations }) })

/** The data of an answer without errors. */
const dataOf = (result: GraphqlResult): Rows => {
  assert.equal(result.errors, undefined)
  return readData(result)
}

describe('rows of blocks with fewer attestations than a request asks for', () => {
  const cases: readonly [string, string, unknown][] = [
    ['are in no list', '{ Paid { n } }', { Paid: [{ n: 2 }, { n: 5 }, { n: 6 }] }],
    [
      'are in no list against the chain, counted from its offset',
      '{ Paid(order: {_blockNumber: DESC}, offset: 1, limit: 2) { n } }',
      { Paid: [{ n: 5 }, { n: 2 }] },
    ],
    ['are in no sorted list', '{ Paid(order: {n: DESC}, limit: 1) { n } }', { Paid: [{ n: 6 }] }],
    [
      'are not found by number',
      '{ Paid(filter: {_blockNumber: {_in: [1, 2]}}) { n } }',
      { Paid: [{ n: 2 }] },
    ],
    [
      'are not found by a value',
      '{ Paid(filter: {n: {_in: [4, 5]}}) { n } }',
      { Paid: [{ n: 5 }] },
    ],
    [
      'are not found by a condition on the block',
      '{ Paid(filter: {_attestations: {_leq: 2}}) { n } }',
      { Paid: [{ n: 2 }, { n: 5 }] },
    ],
    [
      'are in no counts, of all and of some',
      '{ all: COUNT(Paid: {}) even: COUNT(Paid: {filter: {even: true}}) }',
      { all: 3, even: 2 },
    ],
    [
      'are in no other aggregates',
      '{ SUM(Paid: {field: n}) MIN(Paid: {field: n}) AVG(Paid: {field: n, filter: {n: {_lt: 5}}}) }',
      { SUM: 13, MIN: 2, AVG: 2 },
    ],
    [
      'are in no groups',
      '{ Paid(groupBy: [even], order: {even: ASC}) { even COUNT(GROUP: {}) GROUP { n } } }',
      {
        Paid: [
          { even: false, COUNT: 1, GROUP: [{ n: 5 }] },
          { even: true, COUNT: 2, GROUP: [{ n: 2 }, { n: 6 }] },
        ],
      },
    ],
  ]
  for (const [how, query, expected] of cases)
    test(how, async (t) => {
      assert.deepEqual(dataOf(await ask(await openRoom(t), query, 2)), expected)
    })

  test('are not found by the docID of a row', async (t) => {
    const room = await openRoom(t)
    const { Paid } = dataOf(await ask(room, '{ Paid { n _docID } }'))
    const found = []
    for (const { _docID } of Paid) {
      const result = await ask(room, `{ Paid(filter: {_docID: {_eq: "${_docID}"}}) { n } }`, 3)
      found.push(...dataOf(result).Paid)
    }
    assert.deepEqual(found, [{ n: 6 }])
  })

  test('send no event', async (t) => {
    const { graphql } = await openRoom(t)
    const request = { query: 'subscription { Paid { n } }', minimumAttestations: 3 }
    const events = []
    for (const height of [5, 6])
      events.push(readData(await graphql.executeAt(request, { from: height, to: height })))
    assert.deepEqual(events, [{ Paid: [] }, { Paid: [{ n: 6 }] }])
  })

  test('are there once the missing signatures came', async (t) => {
    const room = await openRoom(t)
    const [first] = room.chain
    assert.ok(first !== undefined)
    const count = async () => dataOf(await ask(room, '{ COUNT(Paid: {}) }', 2)).COUNT
    assert.equal(await count(), 3)
    const { seals } = signedBlock(first, ['other'])
    await room.store.putSeals(first.number, seals)
    assert.equal(await count(), 4)
  })
})

describe('a minimum of attestations', () => {
  test('of 0 is none, and more than there are Generators leaves no row', async (t) => {
    const room = await openRoom(t)
    const counts = []
    for (const minimum of [undefined, 0, 1, 2, 3, 4])
      counts.push(dataOf(await ask(room, '{ COUNT(Paid: {}) }', minimum)).COUNT)
    assert.deepEqual(counts, [5, 5, 5, 3, 1, 0])
  })

  test('leaves blocks and their documents as they are, and what Hosts signed of rows', async (t) => {
    const room = await openRoom(t)
    const block = room.chain[0] ?? assert.fail()
    const signer = testSigner('host')
    const rowsRoot = room.store.reader.read((snapshot) => snapshot.viewRows(5, 1))?.root ?? ''
    const leaves = [{ view: view.id, rowsRoot, count: 1 }]
    await room.store.putRowStatements(1, [
      signedLeaves(1, block.hash, leaves, { signer, runtime: 1 }),
    ])
    room.store.reader.countRowVotesOf({ hosts: new Set([signer.identity]), runtime: 1 })
    const query = `{
      Block { number _attestations } COUNT(Transaction: {}, Log: {}) AttestationRecord { vote_count }
      BlockSignature { blockNumber } AttestationRecord_Paid { vote_count blockNumber }
    }`
    const [all, some] = [await ask(room, query), await ask(room, query, 9)]
    assert.deepEqual(some, all)
    assert.deepEqual(dataOf(all).AttestationRecord_Paid, [{ vote_count: 1, blockNumber: 1 }])
  })

  test('is no part of a plan: one text has one plan, whatever the minimum', async (t) => {
    const room = await openRoom(t)
    const planned = (from: string) =>
      metricValue(room.registry, 'viewmesh_graphql_plans_total', { from })
    for (const minimum of [2, 0, 3, 2]) await ask(room, '{ COUNT(Paid: {}) }', minimum)
    assert.deepEqual([await planned('text'), await planned('cache')], [1, 3])
  })

  test('reads the seals of a block once for a request, and none where no row may match', async (t) => {
    const room = await openRoom(t)
    const heights: number[] = []
    const { reader } = room.store
    const snapshot = reader.snapshot()
    t.after(() => snapshot.release())
    t.mock.method(reader, 'snapshot', () => ({
      ...snapshot,
      release: () => undefined,
      seals(height: number) {
        heights.push(height)
        return snapshot.seals(height)
      },
    }))
    const query = '{ a: COUNT(Paid: {}) b: Paid(filter: {_blockNumber: {_leq: 4}}) { n } }'
    for (const [minimum, expected] of [
      [2, [1, 2, 4, 5, 6]],
      [0, []],
    ] as const) {
      heights.length = 0
      await ask(room, query, minimum)
      assert.deepEqual(heights, expected)
    }
  })
})

describe('an answer that rows were left out of for want of attestations', () => {
  const none = { blocksLeft: 0, blocksFailed: 0, blocksLost: 0, left: [], failed: [], lost: [] }
  const at = (...heights: number[]) => heights.map((height) => ({ from: height, to: height }))
  const cases: readonly [string, string, unknown][] = [
    [
      'says of which blocks',
      '{ COUNT(Paid: {}) }',
      [{ name: 'Paid', ...none, blocksUnattested: 2, unattested: at(1, 4) }],
    ],
    [
      'says so once for all fields',
      '{ COUNT(Paid: {}) Paid(filter: {n: {_leq: 2}}) { n } }',
      [{ name: 'Paid', ...none, blocksUnattested: 2, unattested: at(1, 4) }],
    ],
    [
      'names none outside of what was asked for',
      '{ Paid(filter: {_blockNumber: {_geq: 2, _leq: 5}}) { n } }',
      [{ name: 'Paid', ...none, blocksUnattested: 1, unattested: at(4) }],
    ],
    [
      'names one that the query names, which is not refused',
      '{ Paid(filter: {_blockNumber: 4}) { n } }',
      [{ name: 'Paid', ...none, blocksUnattested: 1, unattested: at(4) }],
    ],
    ['says nothing where all are there', '{ Paid(filter: {_blockNumber: 5}) { n } }', undefined],
    [
      'says nothing of blocks beyond a limit',
      '{ Paid(filter: {_blockNumber: {_gt: 1}}, limit: 1) { n } }',
      undefined,
    ],
    ['says nothing of blocks without rows', '{ Paid(filter: {_blockNumber: 3}) { n } }', undefined],
  ]
  for (const [what, query, expected] of cases)
    test(what, async (t) => {
      const { extensions } = await ask(await openRoom(t), query, 2)
      assert.deepEqual(extensions?.views, expected)
    })

  test('names them beside blocks that are not computed', async (t) => {
    const room = await openRoom(t)
    const next = createChain({ count: 1, parent: room.chain[5] as ChainBlock })[0]
    assert.ok(next !== undefined)
    await room.store.putSealedBlock(signedBlock(next, ['one']))
    const { extensions } = await ask(room, '{ Paid { n } }', 3)
    assert.deepEqual(extensions?.views, [
      {
        name: 'Paid',
        ...none,
        blocksLeft: 1,
        left: at(7),
        blocksUnattested: 4,
        unattested: [
          { from: 1, to: 2 },
          { from: 4, to: 5 },
        ],
      },
    ])
  })
})

test('attestationsAt counts who signed exactly the block that is stored at a height', async (t) => {
  const room = await openRoom(t)
  const counts = (): number[] =>
    room.store.reader.read((snapshot) =>
      [0, 1, 2, 3, 6, 7].map((height) => attestationsAt(snapshot, height)),
    )
  assert.deepEqual(counts(), [0, 1, 2, 3, 3, 0])
  const other = forkChain(room.chain, 5)[5] ?? assert.fail()
  await room.store.replaceBlocks(6, 6, [signedBlock(other, ['one'])])
  assert.deepEqual(counts(), [0, 1, 2, 3, 1, 0])
})

test('a View that is computed for each query refuses a minimum', async (t) => {
  const room = await openGraphqlRoom(t)
  const stream = () => assert.fail('nothing is computed')
  room.graphql.setViews([{ ...view, stream }])
  const { errors } = await ask(room, '{ Paid { n } }', 1)
  assert.deepEqual(
    errors?.map(({ message, extensions }) => [message, extensions['code']]),
    [
      [
        'The rows of the View Paid are computed for each query and not stored, so that no minimum of attestations can be asked for. Query it without one, and filter by _attestations.',
        'GRAPHQL_VIEW_NOT_STORED',
      ],
    ],
  )
})
