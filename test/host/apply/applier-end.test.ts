/** What the writer's part of a Host leaves on the disk when it ends, and what it holds on to until then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { storedHeads } from '../../../src/host/apply/signer-heads.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { storedChain } from '../../support/test-store.ts'
import { alice, at, bob, carol, expected, openApplier, seal } from './open-applier.ts'

const empty = { shape: shapes.empty }
const headOf = (signer: typeof alice, sequence: number): Uint8Array =>
  headMessage(signer, { number: 3, sequence })

test('the head that came last is on the disk when the Host ends', async (t) => {
  const host = await openApplier(t)
  host.applier.receiveHead(headOf(alice, 1))
  host.applier.receiveHead(headOf(alice, 2))
  await host.applier.close()
  assert.deepEqual(storedHeads(host.store.reader, []), [Buffer.from(headOf(alice, 2))])
})

test('heads are on the disk soon after they came, should the Host end without notice', async (t) => {
  const host = await openApplier(t)
  host.applier.receiveHead(headOf(alice, 1))
  await host.pass(0)
  await host.store.putRecord('written after the heads', null)
  assert.deepEqual(storedHeads(host.store.reader, []), [Buffer.from(headOf(alice, 1))])
})

test('the head of a signer that was taken off the list is not on the disk any more', async (t) => {
  const host = await openApplier(t, { accepted: [alice, bob] })
  for (const signer of [alice, bob]) host.applier.receiveHead(headOf(signer, 1))
  host.applier.setAccepted({ kind: 'listed', identities: [bob.identity], awaited: 0 })
  await host.applier.close()
  assert.deepEqual(storedHeads(host.store.reader, []), [Buffer.from(headOf(bob, 1))])
})

test('a block that comes while the Host ends is not stored', async (t) => {
  const host = await openApplier(t)
  const [first, second] = createChain({ count: 2, from: 1, ...empty })
  assert.ok(first && second)
  host.stand(second, alice)
  await host.receive(at(seal([first]), 0))
  await host.applier.close()
  await host.receive(at(seal([second]), 0))
  assert.deepEqual(storedChain(host.store.reader), expected([first]))
})

test('a long chain is stored whole as soon as the block comes that it stands on', async (t) => {
  const host = await openApplier(t)
  const chain = createChain({ count: 70, from: 1, ...empty })
  host.stand(at(chain, -1), alice)
  await Promise.all(seal(chain.slice(1)).map(host.receive))
  await host.receive(at(seal(chain), 0))
  await setImmediate()
  await host.applier.drain()
  assert.deepEqual(storedChain(host.store.reader), expected(chain))
})

test('blocks that wait are stored once a peer says that it serves nothing below them', async (t) => {
  const host = await openApplier(t, { servedFrom: null })
  const chain = createChain({ count: 3, from: 100, ...empty })
  host.stand(at(chain, -1), alice)
  for (const block of seal(chain)) await host.receive(block)
  host.applier.setServedFrom(99)
  await host.applier.drain()
  assert.deepEqual(storedChain(host.store.reader), [])
  host.applier.setServedFrom(100)
  await host.applier.drain()
  assert.deepEqual(storedChain(host.store.reader), expected(chain))
})

test('blocks that wait are forgotten once the signers have left them below what is kept', async (t) => {
  const host = await openApplier(t, { retainBlocks: 5, accepted: [alice, bob, carol] })
  const chain = createChain({ count: 4, from: 1, ...empty })
  for (const block of seal(chain, carol)) await host.receive(block)
  host.stand({ number: 7, hash: `0x${'77'.repeat(32)}` }, alice, bob)
  assert.equal(host.applier.state().waiting.blocks, 4)
  await host.pass(0)
  assert.equal(host.applier.state().waiting.blocks, 2, 'of 3 to 7 two are here')
})

test('the time that a block took is split into checking it and storing it', async (t) => {
  const host = await openApplier(t)
  const [block] = seal(createChain({ count: 1, from: 1 }))
  assert.ok(block)
  const beganMs = performance.now()
  const { timings } = await host.applier.receive(Uint8Array.from(block.bytes), true)
  const tookMs = performance.now() - beganMs
  assert.ok(timings.verifyMs > 0 && timings.applyMs > 0)
  assert.ok(timings.verifyMs + timings.applyMs <= tookMs)
})
