import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cidsOf, createCidCache, proofsOf } from '../../../src/graphql/rows/block-cids.ts'
import { type BlockView, openBlockView } from '../../../src/graphql/rows/block-view.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { createTestBudget, openGraphqlRoom } from '../support/graphql-room.ts'

test('CIDs of a block are made once for all requests, and its proofs as well', async (t) => {
  const { store } = await openGraphqlRoom(t)
  const cids = createCidCache()
  const noted: number[] = []
  store.reader.read((snapshot) => {
    const { tail = 0 } = snapshot.range() ?? {}
    const request = (): { view: BlockView; documents: () => number } => {
      const budget = createTestBudget()
      const opened = { note: (_: BlockView, bytes: number) => void noted.push(bytes) }
      const session = { network: testNetwork, snapshot, budget, cids, opened }
      const shared = { ...session, missing: null, attested: null }
      const view = openBlockView(shared, snapshot, tail) ?? assert.fail('it is stored')
      return { view, documents: () => budget.usage().cost }
    }
    const first = request()
    const made = cidsOf(first.view)
    const { count, root } = first.view.header
    assert.deepEqual([made.root, made.inOrder.length, first.documents()], [root, count, count])
    assert.equal(noted.at(-1), (1 + count) * 320, 'bytes that they take')
    const proofs = proofsOf(first.view)
    assert.deepEqual([cidsOf(first.view), proofsOf(first.view)], [made, proofs])
    assert.equal(first.documents(), 2 * count)
    const second = request()
    assert.equal(cidsOf(second.view), made)
    assert.equal(proofsOf(second.view), proofs)
    assert.equal(second.documents(), 0)
    assert.deepEqual(
      made.sorted.map((cid) => proofs.places.get(cid)),
      made.sorted.map((_, place) => place),
    )
  })
})
