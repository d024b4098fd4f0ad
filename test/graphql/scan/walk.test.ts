import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChainBlock, createChain } from '../../support/chain/block-factory.ts'
import { costOf, openGraphqlRoom } from '../support/graphql-room.ts'

const shape = { transactions: 4, logs: 1_400, entries: 0, calldataBytes: 4 }
const [block] = createChain({ count: 1, shape }) as [ChainBlock]
const logs = block.receipts.flatMap((receipt) => receipt.logs ?? [])

/** Logs of far apart chunks of one block, by a topic that no other log has. */
const wanted = [3, 700, 1_390]
const topics = wanted.map((index) => `"${logs[index]?.topics?.at(-1)}"`)

test('rows far apart in a block come in either direction, without those between', async (t) => {
  const room = await openGraphqlRoom(t, { chain: [block] })
  const text = (order: string) =>
    `{ Log(filter: {topics: {_any: {_in: [${topics}]}}}, order: ${order}) { logIndex } }`
  const found = async (order: string) =>
    (await room.query(text(order))).Log.map(({ logIndex }: { logIndex: number }) => logIndex)
  assert.deepEqual(await found('{blockNumber: ASC}'), wanted)
  assert.deepEqual(await found('{blockNumber: DESC}'), wanted.toReversed())
  assert.deepEqual(await found('[{blockNumber: DESC}, {logIndex: ASC}]'), wanted)
  assert.equal(await costOf(room, text('{blockNumber: DESC}')), 3 * 8 + 1 + 3)
})
