/** What the log says of a View whose oldest rows went. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteLimit } from '../../../../src/host/views/engine/row-limit.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { openTestStore } from '../../../support/test-store.ts'
import { viewBlock } from '../../../support/view-rows.ts'
import { engineChain, hostedView } from './support/engine-room.ts'

test('a View that takes as much of the store as it may is said once, with its name', async (t) => {
  const store = await openTestStore(t, null, { maxViewBytes: 2_000 })
  const { log, lines } = captureLog()
  const [view, other] = [1, 2].map((slot) => hostedView({ slot }))
  assert.ok(view && other)
  const note = (): void => {
    store.reader.read((snapshot) => {
      for (const each of [view, other]) noteLimit(log, snapshot, each)
    })
  }
  for (const block of engineChain(40)) {
    await store.putSealedBlock(block)
    const rows = Array.from({ length: 9 }, (_, index) => ({
      name: `${block.header.hash} ${index}`,
    }))
    await store.putViewRows(view.slot, [viewBlock(block.header, rows)])
    note()
  }
  const from = store.reader.read((snapshot) => snapshot.viewFrom(view.slot))
  assert.ok(from > 100)
  assert.deepEqual(
    lines.map(({ level, view: name, id, address, setting }) => [level, name, id, address, setting]),
    [['warn', view.name, view.id, view.address, 'VIEW_MAX_BYTES']],
  )
})
