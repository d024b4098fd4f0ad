/**
 * A liar among three signers who seals blocks under the hashes of honest ones, with documents that name other
 * parents: blocks of its own come in below the chain until the honest documents are known, and no longer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChainBlock, createChain, shapes } from '../../support/chain/block-factory.ts'
import { storedChain } from '../../support/test-store.ts'
import {
  alice,
  at,
  bob,
  expected,
  mallory,
  openApplier,
  seal,
  type TestApplier,
} from './open-applier.ts'

const accepted = [alice, bob, mallory]

/** The same block, said to stand on another one. */
function onto(block: ChainBlock, parent: ChainBlock): ChainBlock {
  const parentHash = parent.hash
  return { ...block, parentHash, block: { ...block.block, parentHash } }
}

/** The honest blocks, as both honest Generators seal them. */
async function sendHonest(host: TestApplier, blocks: readonly ChainBlock[]): Promise<void> {
  for (const block of [...seal(blocks, alice), ...seal(blocks, bob)]) await host.receive(block)
}

for (const fakes of [19, 150]) {
  test(`${fakes} made-up blocks below the chain give way to the honest ones`, async (t) => {
    const host = await openApplier(t, { accepted })
    const chain = createChain({ count: fakes + 11, from: 1, shape: shapes.empty })
    const made = createChain({ seed: 'made up', count: fakes, from: 1, shape: shapes.empty })
    host.stand(at(chain, -1), alice, bob)
    const joint = onto(at(chain, fakes), at(made, -1))
    for (const block of seal([...made, joint], mallory)) await host.receive(block)
    await sendHonest(host, chain.slice(fakes + 1))
    assert.deepEqual(
      storedChain(host.store.reader),
      expected([...made, ...chain.slice(fakes)]),
      'nothing else is known yet',
    )
    await sendHonest(host, chain.slice(0, fakes + 1).reverse())
    assert.deepEqual(storedChain(host.store.reader), expected(chain))
    assert.ok(host.writes.every(({ removed }) => removed <= 64))
    const wanted = host.applier.wants().map(({ purpose }) => purpose)
    assert.deepEqual(wanted, ['gap'], 'block 0, which nobody sent')

    for (const block of seal([...made, joint], mallory)) await host.receive(block)
    assert.deepEqual(storedChain(host.store.reader), expected(chain), 'and do not come back')
  })
}

test('what the honest documents stand on is asked for', async (t) => {
  const host = await openApplier(t, { accepted })
  const chain = createChain({ count: 30, from: 1, shape: shapes.empty })
  const made = createChain({ seed: 'made up', count: 19, from: 1, shape: shapes.empty })
  host.stand(at(chain, -1), alice, bob)
  for (const block of seal([...made, onto(at(chain, 19), at(made, -1))], mallory))
    await host.receive(block)
  await sendHonest(host, chain.slice(19))
  const [want] = host.applier.wants()
  assert.deepEqual([want?.to, want?.hash], [19, at(chain, 18).hash])
})

test('a parent that nobody has, named by one signer alone, keeps nobody from the head', async (t) => {
  const host = await openApplier(t, { accepted })
  const chain = createChain({ count: 30, from: 1, shape: shapes.empty })
  const [nowhere] = createChain({ seed: 'made up', count: 1, from: 19, shape: shapes.empty })
  assert.ok(nowhere)
  const lie = onto(at(chain, 19), nowhere)
  for (const block of seal([...chain.slice(0, 19), lie, ...chain.slice(20)], mallory))
    await host.receive(block)
  host.stand(at(chain, -1), alice, bob, mallory)
  assert.deepEqual(storedChain(host.store.reader), [])
  const wanted = host.applier.wants().map(({ to, hash }) => `${to} ${hash}`)
  assert.deepEqual([...new Set(wanted)], [`19 ${nowhere.hash}`, `20 ${at(chain, 19).hash}`])

  await sendHonest(host, chain.slice(19, 20))
  assert.deepEqual(storedChain(host.store.reader), expected(chain))
})

test('what most signers sealed below a gap is not taken away by one that fills the gap', async (t) => {
  const host = await openApplier(t, { accepted, servedFrom: 100 })
  const chain = createChain({ count: 110, from: 1, shape: shapes.empty })
  const made = createChain({ seed: 'made up', count: 98, from: 1, shape: shapes.empty })
  host.stand(at(chain, 59), alice, bob)
  await sendHonest(host, chain.slice(0, 60))
  await host.pass(6_000)
  host.stand(at(chain, -1), alice, bob)
  await sendHonest(host, chain.slice(99))
  const before = [...chain.slice(0, 60), ...chain.slice(99)]
  assert.deepEqual(storedChain(host.store.reader), expected(before))

  for (const block of seal([...made.slice(4), onto(at(chain, 98), at(made, -1))], mallory))
    await host.receive(block)
  const isHonest = new Set(chain.map(({ hash }) => hash as string))
  const kept = storedChain(host.store.reader).filter(([, hash]) => isHonest.has(hash ?? ''))
  assert.ok(kept.length >= before.length, `${before.length - kept.length} blocks went`)
  await sendHonest(host, chain.slice(60, 99))
  assert.deepEqual(storedChain(host.store.reader), expected(chain))
})
