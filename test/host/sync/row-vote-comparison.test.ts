/** What is asked of one peer about statements of Hosts, and what becomes of its answers. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { StatementsTaken } from '../../../src/host/apply/outcome.ts'
import {
  compareRowVotes,
  type RowVoteComparisonParts,
} from '../../../src/host/sync/row-vote-comparison.ts'
import { encodeDigestsAnswer, type GroupDigest } from '../../../src/primitives/vote-exchange.ts'
import {
  decodeRowVoteRequest,
  type RowVoteRequest,
} from '../../../src/row-votes/row-vote-exchange.ts'
import { createShareOfTime } from '../../../src/share-of-time.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const accepted = Array.from(
  { length: 65 },
  (_, index) => `02${index.toString(16).padStart(64, '0')}`,
)
const [alice = ''] = accepted

interface Scene {
  readonly hosts: readonly string[]
  /** Lowest and highest stored block; none by default. */
  readonly blocks?: readonly [number, number]
  readonly digests?: readonly GroupDigest[]
  /** By the height at which the page begins. */
  readonly taken?: (from: number) => StatementsTaken | null
}

interface Compared {
  readonly asked: readonly RowVoteRequest[]
  readonly blamed: readonly string[]
  /** New statements, as they were counted. */
  readonly statements: readonly number[]
}

async function compare(
  t: TestContext,
  { hosts, blocks = [1, 0], digests = [], taken }: Scene,
): Promise<Compared> {
  const store = await openTestStore(t, null)
  const length = blocks[1] - blocks[0] + 1
  const heights = Array.from({ length }, (_, index) => blocks[0] + index)
  await Promise.all(heights.map((height) => store.putBlock(opaqueBlock(height, 50))))
  const asked: RowVoteRequest[] = []
  const blamed: string[] = []
  const statements: number[] = []
  const parts: RowVoteComparisonParts = {
    metrics: { rowVoteExchange: (count) => void statements.push(count) },
    p2p: {
      request: async (peer, protocol, question) => {
        assert.deepEqual([peer, protocol], ['the peer', 'row-votes'])
        const request = decodeRowVoteRequest(question)
        asked.push(request)
        if (request.kind === 'digests') return encodeDigestsAnswer(digests)
        return Uint8Array.of(request.from)
      },
      penalise: (peer, detail) => void blamed.push(`${peer}: ${detail}`),
    },
    reader: store.reader,
    writer: {
      receiveRowStatements: async ([from = assert.fail()]) =>
        (taken ?? assert.fail('statements are not asked for'))(from),
    },
    hosts: () => hosts,
  }
  const { signal } = new AbortController()
  const comparison = { parts, peer: 'the peer', time: createShareOfTime(), signal }
  await compareRowVotes(comparison, { first: 0, count: 1 })
  return { asked, blamed, statements }
}

/** Where the pages began that were asked for. */
const pages = ({ asked }: Compared): number[] =>
  asked.flatMap((request) => (request.kind === 'statements' ? [request.from] : []))

test('accepted Hosts are asked for by 64 over the stored blocks, and nobody without blocks', async (t) => {
  const { asked } = await compare(t, { hosts: accepted, blocks: [5, 70] })
  const heights = { kind: 'digests', from: 5, to: 70 } as const
  assert.deepEqual(asked, [
    { ...heights, identities: accepted.slice(0, 64) },
    { ...heights, identities: accepted.slice(64) },
  ])
  assert.deepEqual((await compare(t, { hosts: accepted })).asked, [])
  assert.deepEqual((await compare(t, { hosts: [], blocks: [5, 6] })).asked, [])
})

/** One group of one Host, from height 5 to 63. */
const differing: Scene = {
  hosts: [alice],
  blocks: [5, 70],
  digests: [{ identity: alice, group: 0, digest: '00'.repeat(16) }],
}

test('statements are fetched page after page, up to the last height of the group', async (t) => {
  const next = new Map([
    [5, 20],
    [20, 63],
  ])
  const compared = await compare(t, {
    ...differing,
    taken: (from) => ({ statements: from, next: next.get(from) ?? null }),
  })
  assert.deepEqual(compared.asked.slice(1), [
    { kind: 'statements', identity: alice, from: 5, to: 63 },
    { kind: 'statements', identity: alice, from: 20, to: 63 },
    { kind: 'statements', identity: alice, from: 63, to: 63 },
  ])
  assert.deepEqual(compared.statements, [5, 20, 63])
  assert.deepEqual(compared.blamed, [])
})

test('a peer whose next page is no further, or outside of the group, is not asked for it', async (t) => {
  const askedWith = async (next: number): Promise<number[]> =>
    pages(await compare(t, { ...differing, taken: () => ({ statements: 0, next }) }))
  assert.deepEqual(await askedWith(4), [5])
  assert.deepEqual(await askedWith(5), [5])
  assert.deepEqual(await askedWith(64), [5])
})

test('a peer is asked for 16 pages of a group and no more', async (t) => {
  const taken = (from: number): StatementsTaken => ({ statements: 0, next: from + 1 })
  const compared = await compare(t, { ...differing, taken })
  assert.deepEqual(
    pages(compared),
    Array.from({ length: 16 }, (_, page) => 5 + page),
  )
})

test('a peer whose statements do not fit is blamed, and asked for no further page', async (t) => {
  const compared = await compare(t, { ...differing, taken: () => null })
  assert.deepEqual(pages(compared), [5])
  assert.deepEqual(compared.blamed, ['the peer: statements about rows that do not fit'])
  assert.deepEqual(compared.statements, [])
})
