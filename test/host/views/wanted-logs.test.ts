import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { print } from 'graphql'
import { wantedLogs } from '../../../src/compute/wanted-logs.ts'
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import { decodeView, encodeView } from '../../../src/views/wire.ts'
import { buildLens } from '../../lens/support/lens.ts'
import {
  createChain,
  shapes,
  transferTopic,
  watchedAddresses,
} from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { storedRows } from '../../support/view-rows.ts'
import { hostedView, openEngineRoom } from './support/engine-room.ts'

const address = `0x${'ab'.repeat(20)}`
const text = (...args: Parameters<typeof wantedLogs>): string | null => {
  const query = wantedLogs(...args)
  return query === null
    ? null
    : print(query.selection).replaceAll(/\s+/g, ' ').replace('( ', '(').replace(' )', ')')
}

test('the wanted logs are those of one of the addresses, with one of the topics', () => {
  const topics = [transferTopic]
  const root = `${testNetwork}__Log`
  assert.equal(
    text({ addresses: [address], topics }, testNetwork),
    `${root}(filter: {address: {_in: ["${address}"]}, topics: {_any: {_in: ["${transferTopic}"]}}}) { logIndex }`,
  )
  assert.equal(
    text({ addresses: [], topics: null }, testNetwork),
    `${root}(filter: {address: {_in: []}}) { logIndex }`,
  )
})

test('no logs are wanted where there are no hints, or hints of more than 64 values', () => {
  const values = (count: number): string[] => Array.from({ length: count }, () => address)
  assert.equal(text(null, testNetwork), null)
  assert.equal(text({ addresses: null, topics: values(65) }, testNetwork), null)
  assert.notEqual(text({ addresses: null, topics: values(64) }, testNetwork), null)
})

test('a View has the same rows, whether its Host knows its lens or looks at every block', async (t) => {
  const first = createChain({ seed: 'wanted', count: 10, from: 100, shape: shapes.sparse })
  const parent = first.at(-1) ?? assert.fail()
  const rest = createChain({
    seed: 'rest',
    count: 20,
    parent,
    shape: { ...shapes.sparse, logs: 1 },
  })
  const blocks = [...first, ...rest]
  const logs = blocks.map(({ receipts }) => receipts.flatMap((receipt) => receipt.logs ?? []))
  // Each of these contracts emits one log, as long as there are logs enough for all of them.
  const wanted = watchedAddresses[1] ?? assert.fail()
  const args = JSON.stringify({ src: 'address', value: wanted })
  const query = 'Log { address logIndex transaction { hash } }'
  const filter = readFileSync(new URL('../../../src/lenses/filter.wasm', import.meta.url))
  const room = await openEngineRoom(t)
  await room.put(blocks.map((block) => storableBlock(block)))
  const known = withArguments(hostedView({ lenses: [filter], query, slot: 1 }), args)
  const unknown = withArguments(hostedView({ lenses: [filter, buildLens()], query, slot: 2 }), args)
  for (const view of [known, unknown]) {
    room.engine.serve(view)
    await room.until(view, ({ name }) => name === 'live')
  }
  room.store.reader.read((snapshot) => {
    const counts = blocks.map(({ number }, at) => {
      const rows = storedRows(snapshot, 1, number)
      assert.deepEqual(rows, storedRows(snapshot, 2, number))
      assert.equal(rows?.length, logs[at]?.filter((log) => log.address === wanted).length)
      return rows?.length ?? 0
    })
    assert.ok(counts.some((count) => count > 0) && counts.includes(0))
  })
})

/** The same View, all of whose lenses have these arguments. */
function withArguments(hosted: HostedView, args: string): HostedView {
  const view = decodeView(hosted.wire)
  const lenses = view.lenses.map((lens) => ({ ...lens, args }))
  return { ...hosted, wire: encodeView({ ...view, lenses }) }
}
