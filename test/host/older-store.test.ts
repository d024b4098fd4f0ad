/** A store that a Host made before it kept heads, the genesis and the pins of its signers beside the blocks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from 'lmdb'
import { createChain, shapes } from '../support/chain/block-factory.ts'
import { openTestGenerator } from '../support/test-generator.ts'
import { storedChain } from '../support/test-store.ts'
import { openTestHost } from './support/test-host.ts'

async function forgetRecords(path: string): Promise<void> {
  const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
  const records = root.openDB<Buffer, Buffer>('records', {
    encoding: 'binary',
    keyEncoding: 'binary',
    useVersions: true,
  })
  assert.ok(records.getCount() > 0, 'there is something to forget')
  await records.clearAsync()
  await root.close()
}

test('a store of an earlier version opens, keeps its blocks and votes, and follows its Generator', async (t) => {
  const longer = createChain({ count: 23, from: 1, shape: shapes.tiny })
  const [chain, later] = [longer.slice(0, 20), longer.slice(20)]
  const generator = await openTestGenerator(t, 'alice', chain)
  const peers = [generator.room.address]
  const before = await openTestHost(t, { peers })
  await before.reached(20)
  await before.close()
  await forgetRecords(before.path)

  const host = await openTestHost(t, { peers, path: before.path })
  await generator.publish(later)
  await host.reached(23)
  const stored = storedChain(host.reader)
  assert.deepEqual(
    stored,
    [...generator.chain.values()].map(({ number, hash }) => [number, hash]),
  )
  for (const [height] of stored) {
    const seals = host.reader.read((snapshot) => snapshot.seals(height))
    assert.equal(seals.length, 1, `votes of block ${height}`)
  }
  assert.equal(host.status.state().errors.length, 0)
})
