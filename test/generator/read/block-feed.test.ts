/** What the source of ingest makes of the node's answers: encoded blocks, and failures that it tries to outlast. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { WholeBlock } from '../../../src/chain/block-reader.ts'
import { createBlockFeed } from '../../../src/generator/read/block-feed.ts'
import { encodeBlock } from '../../../src/generator/read/encode-block.ts'
import { createEncodeSeconds } from '../../../src/generator/read/encode-seconds.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { recordWaits } from '../../support/chain/recorded-waits.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { metricValue } from '../../support/metric-value.ts'

const never = new AbortController().signal
const whole = createChain({ count: 1 })[0] ?? assert.fail('one block')
const unusable: WholeBlock = { ...whole, block: { ...whole.block, gasUsed: 'much' } }
const unasked = (): never => assert.fail('it is asked for blocks alone')

/** A feed of a node that answers so, one after the other. */
function openFeed(answers: readonly WholeBlock[]) {
  const registry = new Registry()
  const { log, lines } = captureLog()
  const left = [...answers]
  const states: (string | null)[] = []
  const feed = createBlockFeed(
    { network: testNetwork, backoff: { minMs: 2, maxMs: 9 } },
    {
      node: {
        heads: unasked,
        chainId: unasked,
        genesis: unasked,
        head: unasked,
        header: unasked,
        block: async () => left.shift() ?? assert.fail('asked too often'),
      },
      log,
      encodeSeconds: createEncodeSeconds(registry),
      onUnusable: (error) => void states.push(error?.code ?? null),
    },
  )
  const encodings = () => metricValue(registry, 'viewmesh_generator_encode_seconds_count')
  return { feed, lines, states, encodings }
}

test('a block is read and encoded once, and nothing is said of it', async () => {
  const { feed, lines, states, encodings } = openFeed([whole])
  assert.deepEqual(await feed.block(1, never), encodeBlock(testNetwork, whole))
  assert.deepEqual([states, lines, await encodings()], [[], [], 1])
})

test('a block that cannot be read is asked for until it can, which is a warning once', async (t) => {
  const waits = recordWaits(t)
  const { feed, lines, states, encodings } = openFeed([unusable, unusable, whole])
  assert.deepEqual(await feed.block(1, never), encodeBlock(testNetwork, whole))
  const code = 'PRIMITIVES_BLOCK_MALFORMED'
  assert.deepEqual(states, [code, code, null])
  assert.deepEqual(waits, [1, 2])
  assert.deepEqual(
    lines.map(({ level, msg, height }) => [level, msg, height]),
    [['warn', 'block cannot be read, retries', 1]],
  )
  assert.equal(await encodings(), 3)
})

test('an abort ends the attempts, and a mistake of ours is thrown at once', async () => {
  const stop = new AbortController()
  const endless = openFeed(Array.from({ length: 3 }, () => unusable))
  const reading = endless.feed.block(1, stop.signal)
  stop.abort()
  await assert.rejects(reading, { name: 'AbortError' })
  const mistake = new TypeError('a mistake of ours')
  const broken = {
    ...whole,
    get block(): never {
      throw mistake
    },
  }
  const { feed, states } = openFeed([broken])
  await assert.rejects(feed.block(1, never), mistake)
  assert.deepEqual(states, [])
})
