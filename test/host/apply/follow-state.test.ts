/** Where a Host says that it stands: its signers, what it keeps, and what it lacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { alice, at, bob, carol, openApplier, seal } from './open-applier.ts'

const chain = createChain({ count: 90, from: 1, shape: shapes.empty })
const hashAt = (height: number): string => at(chain, height - 1).hash

test('each signer is shown with its newest head, and whether it counts', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 5_000 })
  const host = await openApplier(t, { accepted: [alice, bob, carol] })
  host.stand(at(chain, 6), alice)
  t.mock.timers.setTime(9_000)
  host.stand(at(chain, 4), bob)
  const shown = (who: typeof alice, height: number, heardAt: number, isCounted: boolean) => {
    const head = { number: height, hash: hashAt(height), nodeHeight: height }
    return { identity: who.identity, head, heardAt, isCounted }
  }
  const unheard = { identity: carol.identity, head: null, heardAt: null, isCounted: false }
  const { signers, reached } = host.applier.state()
  assert.deepEqual(signers, [shown(alice, 7, 5_000, true), shown(bob, 5, 9_000, true), unheard])
  assert.equal(reached, 5)
  await host.pass(46_000)
  host.stand(at(chain, 6), bob)
  await host.pass(60_000)
  assert.deepEqual(
    host.applier.state().signers.map(({ isCounted }) => isCounted),
    [false, false, false],
  )
})

test('what is missing below the lowest stored block is wanted down to the lowest that is kept', async (t) => {
  const open = async (retainBlocks: number | null) => {
    const host = await openApplier(t, { retainBlocks, servedFrom: 81 })
    host.stand(at(chain, -1), alice)
    for (const block of seal(chain.slice(80))) await host.receive(block)
    const { floor, wants, waiting } = host.applier.state()
    assert.deepEqual(host.applier.wants(), wants)
    return { floor, wants, waiting: waiting.blocks }
  }
  const want = { to: 80, hash: hashAt(80), root: null, purpose: 'gap' }
  assert.deepEqual(await open(null), { floor: 0, wants: [{ ...want, from: 17 }], waiting: 0 })
  assert.deepEqual(await open(12), { floor: 79, wants: [{ ...want, from: 79 }], waiting: 0 })
  assert.deepEqual(await open(11), { floor: 80, wants: [{ ...want, from: 80 }], waiting: 0 })
  assert.deepEqual(await open(10), { floor: 81, wants: [], waiting: 0 })
})
