import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { createPublisher, type PublisherParts } from '../../src/generator/publisher.ts'
import { captureLog } from '../support/captured-log.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

interface PublishSetup {
  readonly sourceHead: number | null
  /** Default: as blocks. */
  readonly publishHead: PublisherParts['p2p']['publishHead']
}

/** A publisher of blocks `block 1`, `block 2` ... with the seals `seal 1`, `seal 2` ... */
function open(
  maxGossipBytes: number,
  publish: PublisherParts['p2p']['publish'],
  { sourceHead = null, publishHead = publish }: Partial<PublishSetup> = {},
) {
  const registry = new Registry()
  const captured = captureLog()
  const of = (kind: string) => (height: number) =>
    height < 0 ? null : Buffer.from(`${kind} ${height}`)
  const publisher = createPublisher({
    p2p: { maxGossipBytes, publish, publishHead },
    blocks: { sealedBlock: of('block'), sealsAlone: of('seal') },
    sourceHead: () => sourceHead,
    log: captured.log,
    registry,
  })
  const count = async (form: string): Promise<number> => {
    const { values } = (await registry
      .getSingleMetric('viewmesh_generator_published_total')
      ?.get()) ?? { values: [] }
    return values.find(({ labels }) => labels['form'] === form)?.value ?? 0
  }
  return { publisher, captured, count }
}

/** Resolves when `count` messages were published. */
function collect(count: number): {
  sent: string[]
  all: Promise<void>
  publish(bytes: Uint8Array): Promise<void>
} {
  const sent: string[] = []
  const { promise: all, resolve } = Promise.withResolvers<void>()
  return {
    sent,
    all,
    async publish(bytes) {
      sent.push(text(bytes))
      if (sent.length === count) resolve()
    },
  }
}

test('sealed blocks are gossiped one after the other, in order', async () => {
  const { sent, all, publish } = collect(3)
  const { publisher, count } = open(100, publish)
  for (const height of [1, 2, 3]) publisher.add(height)
  await all
  await publisher.close()
  assert.deepEqual(sent, ['block 1', 'block 2', 'block 3'])
  assert.equal(await count('whole'), 3)
})

test('a block above the gossip limit goes as its seal alone', async () => {
  const { sent, all, publish } = collect(2)
  const { publisher, count } = open('block 9'.length, publish)
  for (const height of [9, 10]) publisher.add(height)
  await all
  await publisher.close()
  assert.deepEqual(sent, ['block 9', 'seal 10'])
  assert.deepEqual([await count('whole'), await count('seal')], [1, 1])
})

test('far below the head of the node blocks go as their seals alone: peers pull what lies there', async () => {
  const { sent, all, publish } = collect(2)
  const { publisher } = open(100, publish, { sourceHead: 100 })
  publisher.add(84)
  publisher.add(85)
  await all
  await publisher.close()
  assert.deepEqual(sent, ['seal 84', 'block 85'])
})

test('a block that is gone when its turn comes is left out', async () => {
  const { sent, all, publish } = collect(1)
  const { publisher } = open(100, publish)
  publisher.add(-1)
  publisher.add(2)
  await all
  await publisher.close()
  publisher.add(3)
  assert.deepEqual(sent, ['block 2'], 'and nothing after it was closed')
})

test('a failure is logged and does not stop the next block', async () => {
  const { sent, all, publish } = collect(2)
  const { publisher, captured } = open(100, async (bytes) => {
    await publish(bytes)
    if (text(bytes) === 'block 1') throw new Error('no')
  })
  publisher.add(1)
  publisher.add(2)
  await all
  await publisher.close()
  assert.deepEqual(sent, ['block 1', 'block 2'])
  assert.deepEqual(captured.messages('warn'), ['block not gossiped, peers have to pull it'])
})

test('of a long queue the newest blocks are gossiped, the rest is left to be pulled', async () => {
  const gate = Promise.withResolvers<void>()
  const { sent, all, publish } = collect(65)
  const { publisher, count } = open(100, async (bytes) => {
    await gate.promise
    await publish(bytes)
  })
  for (let height = 1; height <= 200; height++) publisher.add(height)
  gate.resolve()
  await all
  await publisher.close()
  assert.equal(sent[0], 'block 1')
  assert.deepEqual(
    sent.slice(1),
    Array.from({ length: 64 }, (_, index) => `block ${index + 137}`),
  )
  assert.equal(await count('left out'), 135)
})

test('a head goes before all blocks that wait, and a newer one takes its place', async () => {
  const gate = Promise.withResolvers<void>()
  const { sent, all, publish } = collect(4)
  const { publisher } = open(100, async (bytes) => {
    await gate.promise
    await publish(bytes)
  })
  for (const height of [1, 2, 3]) publisher.add(height)
  for (const number of [2, 3]) publisher.addHead(Buffer.from(`head ${number}`))
  gate.resolve()
  await all
  await publisher.close()
  publisher.addHead(Buffer.from('head 4'))
  await publisher.close()
  assert.deepEqual(
    sent,
    ['block 1', 'head 3', 'block 2', 'block 3'],
    'and nothing after it was closed',
  )
})

test('between two messages everything else has its turn', async () => {
  const order: string[] = []
  const { all, publish } = collect(2)
  const { publisher } = open(100, async (bytes) => {
    order.push(text(bytes))
    setImmediate(() => order.push('another'))
    await publish(bytes)
  })
  for (const height of [1, 2]) publisher.add(height)
  await all
  await publisher.close()
  assert.deepEqual(order.slice(0, 3), ['block 1', 'another', 'block 2'])
})

test('a close waits for what is being gossiped, and leaves out what waits', async () => {
  const gate = Promise.withResolvers<void>()
  const { sent, publish } = collect(1)
  const { publisher } = open(100, async (bytes) => {
    await gate.promise
    await publish(bytes)
  })
  for (const height of [1, 2]) publisher.add(height)
  const closed = publisher.close().then(() => sent.push('closed'))
  await nextTurn()
  gate.resolve()
  await closed
  assert.deepEqual(sent, ['block 1', 'closed'])
})

test('a head that is lost is no failure: the next one follows', async () => {
  const { sent, all, publish } = collect(2)
  const { publisher, captured } = open(100, publish, {
    async publishHead(bytes) {
      await publish(bytes)
      throw new Error('no')
    },
  })
  publisher.addHead(Buffer.from('head 1'))
  publisher.add(1)
  await all
  await publisher.close()
  assert.deepEqual(sent, ['head 1', 'block 1'])
  assert.deepEqual([captured.messages('warn'), captured.messages('error')], [[], []])
})
