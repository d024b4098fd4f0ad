/** A Host among Generators and other Hosts: gossip, catching up, branches, votes. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createChain, forkChain, shapes } from '../support/chain/block-factory.ts'
import { until } from '../support/p2p-room.ts'
import { openTestGenerator, type TestGenerator } from '../support/test-generator.ts'
import { storedChain } from '../support/test-store.ts'
import { openTestHost, type TestHost } from './support/test-host.ts'

const chainOf = (generator: TestGenerator): [number, string][] =>
  [...generator.chain.values()]
    .map(({ number, hash }): [number, string] => [number, hash])
    .sort(([a], [b]) => a - b)
const signersAt = (host: TestHost, height: number): number =>
  host.reader.read((snapshot) => snapshot.seals(height).length)

function last<T>(list: readonly T[]): T {
  const item = list.at(-1)
  assert.ok(item !== undefined)
  return item
}

/** The Generator knows that this Host listens to its gossip. */
async function listened(generator: TestGenerator, host: TestHost): Promise<void> {
  await until(() => generator.room.p2p.peers().some((p) => p.id === host.id && p.subscribed))
}

/** The Generator signs a head, and the Host hears it. */
async function heardAgain(generator: TestGenerator, host: TestHost): Promise<void> {
  const heard = () =>
    host.status
      .state()
      .signers?.map(({ last_heard }) => last_heard)
      .join()
  const before = heard()
  await generator.publishHead()
  await until(() => heard() !== before)
}

async function openPair(
  t: TestContext,
  blocks: number,
  setup: { env?: Readonly<Record<string, string>> } = {},
): Promise<{ generator: TestGenerator; host: TestHost; chain: ReturnType<typeof createChain> }> {
  const chain = createChain({ count: blocks, from: 1, shape: shapes.empty })
  const generator = await openTestGenerator(t, 'alice', chain)
  const host = await openTestHost(t, { peers: [generator.room.address], ...setup })
  if (blocks > 0) await host.reached(blocks)
  await listened(generator, host)
  return { generator, host, chain }
}

describe('a Host beside one Generator', () => {
  test('stores what is gossiped, and knows how far the Generator is', async (t) => {
    const beforeMs = Date.now()
    const { generator, host, chain } = await openPair(t, 3)
    const next = createChain({ count: 3, parent: last(chain), shape: shapes.tiny })
    await generator.publish(next)
    await host.reached(6)
    assert.deepEqual(storedChain(host.reader), chainOf(generator))
    await until(() => host.status.state().sourceHead === 6)
    assert.equal(host.status.gauges.lag(), 0)
    assert.deepEqual(host.status.state().gaps, [])
    assert.ok((host.status.state().lastProcessedMs ?? 0) >= beforeMs)
    assert.ok(!host.captured.messages('info').includes('reorganisation followed'))
  })

  for (const [setting, level] of [
    ['true', 'info'],
    ['false', 'debug'],
  ] as const)
    test(`has a line of level ${level} for each block with LOG_BLOCKS=${setting}`, async (t) => {
      const { generator, host, chain } = await openPair(t, 3, { env: { LOG_BLOCKS: setting } })
      await generator.publish(createChain({ count: 1, parent: last(chain), shape: shapes.tiny }))
      await host.reached(4)
      const line = host.captured.lines.find(
        ({ msg, height }) => msg === 'block stored' && height === 4,
      )
      assert.equal(line?.level, level)
    })

  test('away for 500 blocks, catches up while new ones arrive', async (t) => {
    const { generator, host, chain } = await openPair(t, 10)
    await host.close()
    const missed = createChain({ count: 500, parent: last(chain), shape: shapes.empty })
    generator.add(missed)
    const again = await openTestHost(t, { peers: [generator.room.address], path: host.path })
    await listened(generator, again)
    await generator.publish(createChain({ count: 3, parent: last(missed) }))
    await again.reached(513)
    // What is gossiped may be stored before what was missed is asked for.
    await until(() => again.status.state().gaps.length === 0)
    assert.deepEqual(storedChain(again.reader), chainOf(generator))
  })

  test('that keeps 50 blocks asks for the newest 50 and shows exactly those', async (t) => {
    const { generator, host } = await openPair(t, 200, { env: { PRUNER_MAX_BLOCKS: '50' } })
    assert.deepEqual(storedChain(host.reader), chainOf(generator).slice(-50))
    await until(() => host.metrics.counters().blocks_processed === 50)
  })

  test('pulls a block whose seal alone was gossiped', async (t) => {
    const { generator, host, chain } = await openPair(t, 3)
    await generator.publishSeals(createChain({ count: 1, parent: last(chain) }))
    await host.reached(4)
    assert.deepEqual(storedChain(host.reader), chainOf(generator))
  })

  test('away for longer than anybody keeps blocks, goes on where they begin', async (t) => {
    const { generator, host, chain } = await openPair(t, 30, { env: { PRUNER_MAX_BLOCKS: '20' } })
    await host.close()
    generator.chain.clear()
    const later = createChain({ count: 100, parent: last(chain), shape: shapes.empty })
    generator.add(later.slice(-20))
    const again = await openTestHost(t, {
      peers: [generator.room.address],
      path: host.path,
      env: { PRUNER_MAX_BLOCKS: '20' },
    })
    await again.reached(130)
    assert.deepEqual(storedChain(again.reader), chainOf(generator))
    assert.deepEqual(again.status.state().gaps, [])
  })

  test('a gap that nobody fills at first is shown, and filled when somebody has it', async (t) => {
    const chain = createChain({ count: 20, from: 1, shape: shapes.empty })
    const generator = await openTestGenerator(t, 'alice', chain.slice(0, 10))
    const host = await openTestHost(t, { peers: [generator.room.address] })
    await host.reached(10)
    for (let height = 1; height <= 12; height++) generator.chain.delete(height)
    generator.add(chain.slice(14))
    await generator.room.p2p.publish(generator.chain.get(20)?.bytes ?? new Uint8Array())
    await host.reached(20)
    assert.deepEqual(host.status.state().gaps, [{ from: 11, to: 14 }])
    const other = await openTestGenerator(t, 'bob', chain)
    host.setBootstrapPeers([generator.room.address, other.room.address])
    await host.stored(() => host.status.state().gaps.length === 0)
    assert.equal(storedChain(host.reader).length, 20)
  })
})

describe('a Generator that follows its node through a reorganisation', () => {
  test('of 64 blocks: the Host ends equal to it', async (t) => {
    const { generator, host, chain } = await openPair(t, 100, { env: { LOG_BLOCKS: 'true' } })
    const fork = forkChain(chain, 36, { count: 65, shape: shapes.empty })
    generator.dropAbove(36)
    generator.add(fork.slice(36, -1))
    await generator.publish(fork.slice(-1))
    await host.stored(() => storedChain(host.reader).at(-1)?.[1] === fork.at(-1)?.hash)
    assert.deepEqual(storedChain(host.reader), chainOf(generator))
    const { removed } = await host.captured.line('reorganisation followed')
    assert.equal(removed, 64)
    const many = host.captured.lines.filter(
      ({ msg, blocks }) => msg === 'block stored' && blocks !== 1,
    )
    assert.deepEqual(new Set(many.map(({ level }) => level)), new Set(['debug']))
  })

  test('while the Host was away: it notices with the first block it pulls', async (t) => {
    const { generator, host, chain } = await openPair(t, 20)
    await host.close()
    const fork = forkChain(chain, 15, { count: 40, shape: shapes.empty })
    generator.add(fork.slice(15))
    const again = await openTestHost(t, { peers: [generator.room.address], path: host.path })
    await again.stored(() => storedChain(again.reader).at(-1)?.[1] === fork.at(-1)?.hash)
    assert.deepEqual(storedChain(again.reader), chainOf(generator))
  })

  test('of 70: the Host waits for a minute, and ends equal to it', async (t) => {
    const { generator, host, chain } = await openPair(t, 80)
    const fork = forkChain(chain, 10, { count: 71, shape: shapes.empty })
    generator.add(fork.slice(10))
    await generator.publishHead()
    await until(() => host.status.gauges.waitingBlocks() === 71)
    for (let second = 0; second < 60; second += 30) {
      assert.equal(storedChain(host.reader).at(-1)?.[1], chain.at(-1)?.hash)
      host.pass(30_000)
      await heardAgain(generator, host)
    }
    host.pass(1_000)
    await host.stored(() => storedChain(host.reader).at(-1)?.[1] === fork.at(-1)?.hash)
    assert.deepEqual(storedChain(host.reader), chainOf(generator))
  })
})

describe('several nodes', () => {
  test('two Generators with the same data: every block has two votes, replays add none', async (t) => {
    const chain = createChain({ count: 5, from: 1 })
    const alice = await openTestGenerator(t, 'alice', chain)
    const bob = await openTestGenerator(t, 'bob', chain)
    const host = await openTestHost(t, { peers: [alice.room.address, bob.room.address] })
    await host.reached(5)
    await Promise.all([listened(alice, host), listened(bob, host)])
    const next = createChain({ count: 2, parent: last(chain) })
    await alice.publish(next)
    await bob.publish(next)
    await until(() => signersAt(host, 6) === 2 && signersAt(host, 7) === 2)
    await alice.publish(next)
    await bob.publish(next)
    await host.reached(7)
    assert.deepEqual(
      [6, 7].map((height) => signersAt(host, height)),
      [2, 2],
    )
  })

  test('a Host that knows only another Host gets everything from it, live blocks too', async (t) => {
    const { generator, host, chain } = await openPair(t, 30)
    const env = { HOST_TRUSTED_SIGNERS: generator.signer.identity }
    const second = await openTestHost(t, { peers: [host.address], name: 'second', env })
    await second.reached(30)
    await until(() => host.mesh.p2p.peers().some((p) => p.id === second.id && p.subscribed))
    await generator.publish(createChain({ count: 2, parent: last(chain) }))
    await second.reached(32)
    assert.deepEqual(storedChain(second.reader), chainOf(generator))
  })
})
