import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { print } from 'graphql'
import { erc20Abi } from 'viem'
import { wantedDocuments } from '../../../../src/compute/wanted-documents.ts'
import type { ViewHints } from '../../../../src/views/view-hints.ts'
import { buildLens } from '../../../lens/support/lens.ts'
import {
  type ChainBlock,
  createChain,
  shapes,
  transferTopic,
  watchedAddresses,
} from '../../../support/chain/block-factory.ts'
import { testNetwork } from '../../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../../support/chain/store-blocks.ts'
import { storedRows } from '../../../support/view-rows.ts'
import { hostedView, openEngineRoom } from './support/engine-room.ts'

const address = `0x${'ab'.repeat(20)}`
const moduleOf = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../../src/lenses/${name}.wasm`, import.meta.url))
const text = (...args: Parameters<typeof wantedDocuments>): string | null => {
  const query = wantedDocuments(...args)
  return query === null
    ? null
    : print(query.selection).replaceAll(/\s+/g, ' ').replace('( ', '(').replace(' )', ')')
}

test('the wanted logs are those of one of the addresses, with one of the topics', () => {
  const values = { logAddress: [address], topic: [transferTopic] }
  const root = `${testNetwork}__Log`
  assert.equal(
    text({ collection: 'Log', values }, testNetwork),
    `${root}(filter: {address: {_in: ["${address}"]}, topics: {_any: {_in: ["${transferTopic}"]}}}) { blockNumber }`,
  )
  assert.equal(
    text({ collection: 'Log', values: { logAddress: [] } }, testNetwork),
    `${root}(filter: {address: {_in: []}}) { blockNumber }`,
  )
})

test('the wanted transactions are those of one of the senders, to one of the receivers', () => {
  const values = { from: [address], to: [address, address] }
  assert.equal(
    text({ collection: 'Transaction', values }, testNetwork),
    `${testNetwork}__Transaction(filter: {from: {_in: ["${address}"]}, to: {_in: ["${address}", "${address}"]}}) { blockNumber }`,
  )
})

test('no documents are wanted where there are no hints, or hints of more than 64 values', () => {
  const topics = (count: number): ViewHints => ({
    collection: 'Log',
    values: { topic: Array.from({ length: count }, () => address) },
  })
  assert.equal(text(null, testNetwork), null)
  assert.equal(text(topics(65), testNetwork), null)
  assert.notEqual(text(topics(64), testNetwork), null)
})

const first = createChain({ seed: 'wanted', count: 10, from: 100, shape: shapes.sparse })
const rest = createChain({
  seed: 'rest',
  count: 20,
  parent: first.at(-1) ?? assert.fail(),
  shape: { ...shapes.sparse, logs: 1 },
})
const blocks = [...first, ...rest]

test('a View has the same rows, whether its Host knows its lens or looks at every block', async (t) => {
  const room = await openEngineRoom(t)
  await room.put(blocks.map((block) => storableBlock(block)))
  // Each of these contracts emits one log, as long as there are logs enough for all of them.
  const emitter = watchedAddresses[1] ?? assert.fail()
  const [{ from, to } = assert.fail()] = blocks[15]?.block.transactions ?? []
  const ofLogs = {
    query: 'Log { address logIndex transaction { hash } }',
    lenses: [moduleOf('filter')],
    args: { src: 'address', value: emitter },
    rowsOf: ({ receipts }: ChainBlock) =>
      receipts.flatMap(({ logs }) => logs ?? []).filter((log) => log.address === emitter),
  }
  const ofCalls = {
    query: 'Transaction { hash from to input }',
    sdl: 'type Calls { hash: String from: String to: String function: String }',
  }
  const ofReceiver = {
    ...ofCalls,
    lenses: [moduleOf('filter_transaction'), moduleOf('decode_call')],
    args: { src: 'to', value: to, abi: erc20Abi },
    rowsOf: ({ block }: ChainBlock) => block.transactions?.filter((call) => call.to === to),
  }
  const ofSender = {
    ...ofCalls,
    lenses: [moduleOf('filter')],
    args: { src: 'from', value: from?.toUpperCase().replace('X', 'x') },
    rowsOf: ({ block }: ChainBlock) => block.transactions?.filter((call) => call.from === from),
  }
  let slot = 0
  for (const { rowsOf, lenses, args, ...parts } of [ofLogs, ofReceiver, ofSender]) {
    const slots = [lenses, [...lenses, buildLens()]].map((steps) => {
      slot += 1
      const view = hostedView({ ...parts, lenses: steps, args: JSON.stringify(args), slot })
      room.engine.serve(view)
      return { view, slot }
    })
    for (const { view } of slots) await room.until(view, ({ name }) => name === 'live')
    const [known, unknown] = slots.map((view) => view.slot)
    room.store.reader.read((snapshot) => {
      const counts = blocks.map((block) => {
        const rows = storedRows(snapshot, known ?? 0, block.number)
        assert.deepEqual(rows, storedRows(snapshot, unknown ?? 0, block.number))
        assert.equal(rows?.length, rowsOf(block)?.length)
        return rows?.length ?? 0
      })
      assert.ok(counts.some((count) => count > 0) && counts.includes(0))
    })
  }
})
