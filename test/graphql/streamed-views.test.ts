/** Views that are computed for each query, with rows that a test makes. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import type { QueryLimits } from '../../src/graphql/budget/limits.ts'
import type { ServedView } from '../../src/graphql/catalog/view-entity.ts'
import type { StreamRequest, ViewStream } from '../../src/graphql/rows/view-stream.ts'
import { hasHeight } from '../../src/primitives/height-ranges.ts'
import {
  createStreamPacker,
  decodeStreamPiece,
  type StreamBlock,
  type StreamedRows,
} from '../../src/views/rows/streamed-rows.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { servedView } from './support/served-views.ts'

const sdl = 'type Sums @materialized(if: false) { account: String amount: BigInt n: Int }'

type RowDocument = Readonly<Record<string, unknown>>

interface Made {
  readonly block: StreamBlock | null
  readonly row: RowDocument
}

interface Room extends GraphqlRoom {
  /** What was asked of the View. */
  readonly asked: StreamRequest[]
  /** How many pieces were asked for, and how many streams were closed. */
  readonly count: { pieces: number; closed: number }
}

/** A View with a row for each block and one of the end, each in a piece of its own. */
async function openRoom(
  t: TestContext,
  made: (blocks: readonly StreamBlock[]) => readonly (Made | Error)[] = ofEachBlock,
  limits: Partial<QueryLimits> = {},
): Promise<Room> {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 6 }), limits })
  const asked: StreamRequest[] = []
  const count = { pieces: 0, closed: 0 }
  const blocks = room.chain.map(({ number, hash }) => ({ height: number, blockHash: hash }))
  const view: ServedView = {
    ...servedView(sdl),
    stream(request) {
      asked.push(request)
      const selected = blocks.filter(({ height }) => hasHeight(request.heights, height))
      return streamOf(made(selected), request, count)
    },
  }
  room.graphql.setViews([view])
  return { ...room, asked, count }
}

function streamOf(
  made: readonly (Made | Error)[],
  { withSource }: StreamRequest,
  count: Room['count'],
): ViewStream {
  const packer = createStreamPacker(servedView(sdl).rowType)
  let at = 0
  return {
    async next(): Promise<readonly StreamedRows[] | null> {
      const next = made[at]
      if (next === undefined) return null
      if (next instanceof Error) throw next
      count.pieces += 1
      packer.add(next.row, next.block, withSource ? JSON.stringify(next.row) : null)
      return decodeStreamPiece(packer.take(), at++)
    },
    close: () => {
      count.closed += 1
    },
  }
}

function ofEachBlock(blocks: readonly StreamBlock[]): Made[] {
  const rows = blocks.map((block, index) => ({
    block,
    row: { account: `0x0${index % 2}`, amount: String(block.height * 10), n: block.height },
  }))
  const total = { block: null, row: { account: 'all', n: blocks.length } }
  return [...rows, total]
}

describe('a View that is computed for each query', () => {
  test('has rows in the order in which they are made, and those of the end are in no block', async (t) => {
    const room = await openRoom(t)
    const [first] = room.chain
    const { Sums } = await room.query(
      '{ Sums { n amount _blockNumber _attestations _docID _source } }',
    )
    assert.equal(Sums.length, 7)
    assert.deepEqual(Sums[0], {
      n: first?.number,
      amount: String((first?.number ?? 0) * 10),
      _blockNumber: first?.number,
      _attestations: 1,
      _docID: null,
      _source: { account: '0x00', amount: String((first?.number ?? 0) * 10), n: first?.number },
    })
    assert.deepEqual(Sums[6], {
      n: 6,
      amount: null,
      _blockNumber: null,
      _attestations: null,
      _docID: null,
      _source: null,
    })
    assert.equal(room.count.closed, 1)
  })

  test('is asked for sources only where a query shows them', async (t) => {
    const room = await openRoom(t)
    await room.query('{ Sums { n } }')
    await room.query('{ Sums(groupBy: [account]) { account GROUP { n _source } } }')
    assert.deepEqual(
      room.asked.map(({ withSource }) => withSource),
      [false, true],
    )
  })

  test('has sources that count towards the size of an answer', async (t) => {
    const query = '{ Sums { _source } }'
    const { Sums } = await (await openRoom(t)).query(query)
    const bytes = Sums.reduce(
      (sum: number, row: object) => sum + Buffer.byteLength(JSON.stringify(row)) + 1,
      0,
    )
    const codeWithin = async (maxResultBytes: number) => {
      const { graphql } = await openRoom(t, ofEachBlock, { maxResultBytes })
      return (await graphql.execute({ query })).errors?.[0]?.extensions['code']
    }
    assert.equal(await codeWithin(bytes), undefined)
    assert.equal(await codeWithin(bytes - 1), 'GRAPHQL_SIZE_LIMIT')
  })

  test('has to end a quarter of a second before the time of its request is over', async (t) => {
    const msOf = async (maxMs: number) => {
      const room = await openRoom(t, ofEachBlock, { maxMs })
      t.mock.method(performance, 'now', () => 0)
      await room.query('{ Sums { n } }')
      t.mock.restoreAll()
      return room.asked.map((request) => request.maxMs)
    }
    assert.deepEqual(await msOf(10_000), [9_750])
    assert.deepEqual(await msOf(200), [1])
  })

  test('has rows that are held until the request is answered', async (t) => {
    const large = (blocks: readonly StreamBlock[]): Made[] =>
      blocks.map((block) => ({ block, row: { account: 'x'.repeat(100_000) } }))
    const within = async (maxHeldBytes: number) => {
      const { graphql } = await openRoom(t, large, { maxHeldBytes })
      const { errors } = await graphql.execute({ query: '{ COUNT(Sums: {}) }' })
      return [errors?.[0]?.extensions['code'], graphql.memory.heldBytes()]
    }
    assert.deepEqual(await within(1_400_000), [undefined, 0])
    assert.deepEqual(await within(1_100_000), ['GRAPHQL_SIZE_LIMIT', 0])
  })

  test('stops when a query has its rows', async (t) => {
    const room = await openRoom(t)
    const { Sums } = await room.query('{ Sums(limit: 2, offset: 1) { n } }')
    assert.equal(Sums.length, 2)
    assert.deepEqual(room.count, { pieces: 3, closed: 1 })
  })

  test('filters, orders, groups and counts the rows that come out', async (t) => {
    const room = await openRoom(t)
    const [first] = room.chain
    const from = first?.number ?? 0
    const data = await room.query(`{
      filtered: Sums(filter: {account: {_eq: "0x01"}}) { n }
      sorted: Sums(order: {account: DESC}, limit: 2) { n }
      byBlock: Sums(order: {_blockNumber: DESC}, limit: 1) { n }
      groups: Sums(groupBy: [account], order: {account: ASC}) { account COUNT(GROUP: {}) SUM(GROUP: {field: n}) }
      COUNT(Sums: {})
      SUM(Sums: {field: amount})
    }`)
    const each = (places: readonly number[]) => places.map((place) => ({ n: from + place }))
    assert.deepEqual(data.filtered, each([1, 3, 5]))
    assert.deepEqual(data.sorted, [{ n: 6 }, ...each([5])])
    assert.deepEqual(data.byBlock, each([5]))
    assert.deepEqual(data.groups, [
      { account: '0x00', COUNT: 3, SUM: 3 * from + 6 },
      { account: '0x01', COUNT: 3, SUM: 3 * from + 9 },
      { account: 'all', COUNT: 1, SUM: 6 },
    ])
    assert.equal(data.COUNT, 7)
    assert.equal(data.SUM, 10 * (6 * from + 15))
    assert.equal(room.count.closed, 6)
  })
})

describe('conditions on the number of the block decide what is computed', () => {
  const cases: readonly [string, readonly (readonly [number, number])[], number][] = [
    ['{_blockNumber: {_geq: 2, _lt: 4}}', [[2, 3]], 3],
    ['{_and: [{_blockNumber: {_gt: 1}}, {_blockNumber: {_leq: 3}}]}', [[2, 3]], 3],
    [
      '{_or: [{_blockNumber: {_eq: 1}}, {_blockNumber: {_in: [3, 4]}}]}',
      [
        [1, 1],
        [3, 4],
      ],
      4,
    ],
    // A lens may change any field, and what is not asked of all rows is asked of those that come out.
    ['{n: {_eq: 3}}', [[1, 6]], 1],
    ['{_or: [{_blockNumber: {_eq: 2}}, {n: {_eq: 3}}]}', [[1, 6]], 2],
    [
      '{_not: {_blockNumber: {_eq: 2}}}',
      [
        [1, 1],
        [3, 6],
      ],
      6,
    ],
    ['{_blockNumber: {_neq: 1}}', [[2, 6]], 6],
    ['{_blockNumber: {_nin: [1, 5, 6]}}', [[2, 4]], 4],
    ['{_blockNumber: {_eq: null}}', [[1, 6]], 1],
    ['{_blockNumber: {_in: [2, null]}}', [[1, 6]], 2],
    ['{_blockNumber: {_geq: 5}, n: {_leq: 2}}', [[5, 6]], 1],
    ['{_blockNumber: {_gt: 90}}', [], 1],
  ]
  for (const [filter, heights, rows] of cases)
    test(`${filter} selects ${JSON.stringify(heights)}`, async (t) => {
      const room = await openRoom(t)
      assert.equal(room.chain[0]?.number, 1)
      const { Sums } = await room.query(`{ Sums(filter: ${filter}) { n _blockNumber } }`)
      assert.deepEqual(room.asked[0]?.heights, heights)
      assert.equal(Sums.length, rows, JSON.stringify(Sums))
    })

  test('a filter that no row can match computes nothing', async (t) => {
    const room = await openRoom(t)
    assert.deepEqual(await room.query('{ Sums(filter: {_not: {}}) { n } }'), { Sums: [] })
    assert.deepEqual(room.asked, [])
  })

  test('rows of the end of the stream pass them, as they are made of these blocks', async (t) => {
    const room = await openRoom(t)
    const { Sums } = await room.query(
      '{ Sums(filter: {_blockNumber: {_geq: 5}, account: {_eq: "all"}}) { n } }',
    )
    assert.deepEqual(Sums, [{ n: 2 }])
  })
})

describe('what goes wrong while it is computed', () => {
  const failing =
    (error: Error) =>
    (blocks: readonly StreamBlock[]): (Made | Error)[] => [
      ...ofEachBlock(blocks).slice(0, 2),
      error,
    ]
  const cases: readonly [ServiceError, string, RegExp][] = [
    [
      new ServiceError('LENS_TRAPPED', 'lens 2 trapped in transform: unreachable', {
        facts: { block: 3 },
        remedy: 'Mend the lens.',
      }),
      'GRAPHQL_VIEW_FAILED',
      /^The View Sums failed at block 3: lens 2 trapped in transform: unreachable\. Mend the lens\.$/,
    ],
    [
      new ServiceError('LENS_OUTPUT_LIMIT', 'lens 1 returns too much', { remedy: 'Ask for less.' }),
      'GRAPHQL_VIEW_LIMIT',
      /^The View Sums was stopped: lens 1 returns too much\. Ask for less\.$/,
    ],
    [
      new ServiceError('VIEWS_SELECTION_TOO_LARGE', 'the documents take too much', {
        facts: { block: 'none' },
      }),
      'GRAPHQL_VIEW_LIMIT',
      /^The View Sums was stopped: the documents take too much\. Try again later\.$/,
    ],
    [
      new ServiceError('VIEWS_ROW_MALFORMED', 'a row cannot be read', { remedy: 'Report this.' }),
      'GRAPHQL_VIEW_FAILED',
      /^The View Sums failed: a row cannot be read\. Report this\.$/,
    ],
    [
      new ServiceError('HOST_VIEW_BUSY', '2 queries compute Views', { remedy: 'Ask again.' }),
      'GRAPHQL_VIEW_BUSY',
      /^The View Sums: 2 queries compute Views\. Ask again\.$/,
    ],
  ]
  for (const [error, code, message] of cases)
    test(`${error.code} is said as ${code}, and no row is`, async (t) => {
      const room = await openRoom(t, failing(error))
      const { data, errors = [] } = await room.graphql.execute({ query: '{ Sums { n } }' })
      assert.equal(data, null)
      assert.equal(errors[0]?.extensions['code'], code)
      assert.match(errors[0]?.message ?? '', message)
      assert.deepEqual(errors[0]?.path, ['Sums'])
      assert.equal(room.count.closed, 1)
    })

  test('what is wrong with the program is not said to be a failure of the View', async (t) => {
    const fault = new ServiceError('STORE_DAMAGED', 'a page is gone', { remedy: 'Empty it.' })
    const room = await openRoom(t, failing(fault))
    const { errors = [] } = await room.graphql.execute({ query: '{ Sums { n } }' })
    assert.equal(errors[0]?.extensions['code'], 'STORE_DAMAGED')
    assert.doesNotMatch(errors[0]?.message ?? '', /Sums/)
  })

  test('a client that goes away is not said to be a failure of the View', async (t) => {
    const controller = new AbortController()
    const room = await openRoom(t, () => [
      Object.assign(new Error('aborted'), { name: 'AbortError' }),
    ])
    controller.abort()
    const { errors = [] } = await room.graphql.execute(
      { query: '{ Sums { n } }' },
      controller.signal,
    )
    assert.equal(errors[0]?.extensions['code'], 'GRAPHQL_ABORTED')
    assert.equal(room.count.closed, room.asked.length)
  })
})

test('who subscribes to a View that is computed for each query hears that it sends nothing', async (t) => {
  const room = await openRoom(t)
  const { errors = [] } = await room.graphql.executeAt(
    { query: 'subscription { Sums { n } }' },
    { from: -1, to: -1 },
  )
  assert.equal(errors[0]?.extensions['code'], 'GRAPHQL_VIEW_NOT_STORED')
  assert.match(errors[0]?.message ?? '', /Sums.*no new ones to send.*@materialized\(if: true\)/)
  assert.deepEqual(room.asked, [])
})
