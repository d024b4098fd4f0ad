/** What the asking side takes and refuses, at the bounds, from a server that follows a script. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { lpStream, streamPair } from '@libp2p/utils'
import { Registry } from 'prom-client'
import { defaultLimits, type P2pLimits } from '../../../src/p2p/limits/limits.ts'
import { createP2pMetrics } from '../../../src/p2p/limits/metrics.ts'
import type { Range } from '../../../src/p2p/peers/announcements.ts'
import { createRangeClient, type RangeClient } from '../../../src/p2p/range/range-client.ts'
import {
  type ClientFrame,
  decodeClientFrame,
  encodeServerFrame,
  type ServerFrame,
} from '../../../src/p2p/range/range-frames.ts'
import { clockOf } from '../../app/support/test-clock.ts'

const limits = { ...defaultLimits, maxBlockBytes: 10_000, windowBytes: 4000, maxFrameBytes: 2000 }
const never = (): number => 0
const range: Range = { tail: 3, head: 5 }

interface Scene {
  readonly client: RangeClient
  readonly faults: string[]
  readonly statuses: (Range | null)[]
  /** What the server was sent, until it ended its script. */
  readonly received: ClientFrame[]
}

interface SceneOptions {
  /** The peer reads credit after so many of its frames. */
  readonly creditsAfter?: number
  readonly onCredit?: () => void
  readonly changed?: Partial<P2pLimits>
}

/** A client whose peer answers a request with these frames. */
function openScene(
  t: TestContext,
  script: readonly ServerFrame[],
  { creditsAfter, onCredit, changed }: SceneOptions = {},
): Scene {
  const faults: string[] = []
  const statuses: (Range | null)[] = []
  const received: ClientFrame[] = []
  const figures = { peers: never, activeStreams: never, banned: never, bannedAddresses: never }
  const client = createRangeClient(
    { ...limits, ...changed },
    {
      metrics: createP2pMetrics(new Registry(), figures),
      openStream: async () => {
        const [ours, theirs] = await streamPair()
        t.after(() => ours.abort(new Error('the test is over')))
        const frames = lpStream(theirs)
        const read = async (): Promise<void> => {
          received.push(decodeClientFrame((await frames.read()).subarray()))
        }
        const serve = async (): Promise<void> => {
          await read()
          for (const [index, frame] of script.entries()) {
            if (index === creditsAfter) {
              await read()
              onCredit?.()
            }
            await frames.write(encodeServerFrame(frame))
          }
          await theirs.close()
        }
        serve().catch(() => undefined)
        return ours
      },
      ownRange: () => ({ tail: 1, head: 2 }),
      pacer: { wait: async () => undefined },
      onFrame: () => undefined,
      onStatus: (_, status) => statuses.push(status),
      onFault: (_, fault, detail) => faults.push(`${fault}: ${detail}`),
    },
  )
  return { client, faults, statuses, received }
}

const status: ServerFrame = { kind: 'status', status: range }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

function end(blocks: number): ServerFrame {
  return { kind: 'end', blocks }
}

function block(height: number, bytes = 1, blockBytes = bytes): ServerFrame {
  return { kind: 'block', height, blockBytes, bytes: new Uint8Array(bytes) }
}

function part(bytes: number): ServerFrame {
  return { kind: 'part', bytes: new Uint8Array(bytes) }
}

/** Lengths of the blocks that a pull of heights 3 to 5 gets, and what it says about its end. */
async function pull(scene: Scene): Promise<{ lengths: number[]; failure: string | null }> {
  const lengths: number[] = []
  try {
    for await (const bytes of scene.client.pull('p', 3, 5, soon())) lengths.push(bytes.byteLength)
    return { lengths, failure: null }
  } catch (error) {
    return { lengths, failure: error instanceof Error ? error.message : 'no error' }
  }
}

const taken: Readonly<Record<string, { script: readonly ServerFrame[]; lengths: number[] }>> = {
  'no block at all': { script: [end(0)], lengths: [] },
  'the first height and the last': { script: [block(3), block(5, 0), end(2)], lengths: [1, 0] },
  'the largest block, in parts': {
    script: [block(4, 1024, 10_000), ...Array(5).fill(part(1600)), part(976), end(1)],
    lengths: [10_000],
  },
  'a last part of one byte': {
    script: [block(4, 1024, 1025), part(1), end(1)],
    lengths: [1025],
  },
}

for (const [name, { script, lengths }] of Object.entries(taken)) {
  test(`a pull takes ${name}, and nobody is blamed`, async (t) => {
    const scene = openScene(t, [status, ...script], { creditsAfter: 5 })
    assert.deepEqual(await pull(scene), { lengths, failure: null })
    assert.deepEqual(scene.faults, [])
    assert.deepEqual(scene.statuses, [range])
  })
}

const refused: readonly (readonly [
  name: string,
  fault: string | null,
  message: string,
  script: readonly ServerFrame[],
])[] = [
  [
    'a block below the range',
    'protocol violation',
    'a block out of order or range',
    [status, block(2)],
  ],
  [
    'a block above the range',
    'protocol violation',
    'a block out of order or range',
    [status, block(6)],
  ],
  ['too few blocks', 'protocol violation', 'a wrong number of blocks', [status, end(1)]],
  [
    'a block above the limit',
    'oversize frame',
    'a block above the limit',
    [status, block(3, 1024, 10_001)],
  ],
  [
    'a beginning that is short of a KiB',
    'protocol violation',
    'a block in tiny parts',
    [status, block(3, 1023, 2000)],
  ],
  [
    'a part that is short of a KiB',
    'protocol violation',
    'a block in tiny parts',
    [status, block(3, 1024, 4000), part(1023)],
  ],
  [
    'one byte more than the block has',
    'protocol violation',
    'parts longer than the block',
    [status, block(3, 2, 1)],
  ],
  [
    'an end within a block',
    'protocol violation',
    'a block without its end',
    [status, block(3, 1024, 2000), end(1)],
  ],
  ['a part of no block', 'protocol violation', 'a part without a block', [status, part(1500)]],
  ['blocks before its status', 'protocol violation', 'no status before blocks', [block(3)]],
  ['that it is busy', null, 'the peer answered: busy', [status, { kind: 'error', error: 'busy' }]],
  ['that it is busy at once', null, 'the peer answered: busy', [{ kind: 'error', error: 'busy' }]],
]

for (const [name, fault, message, script] of refused) {
  test(`a pull fails when the server sends ${name}`, async (t) => {
    const scene = openScene(t, script)
    assert.deepEqual(await pull(scene), {
      lengths: [],
      failure: `pulling blocks failed: ${message}`,
    })
    assert.deepEqual(scene.faults, fault === null ? [] : [`${fault}: ${message}`])
  })
}

test('the same height twice is a fault, and what came before it was delivered', async (t) => {
  const scene = openScene(t, [status, block(3, 7), block(3, 7)])
  const { lengths } = await pull(scene)
  assert.deepEqual(lengths, [7])
  assert.deepEqual(scene.faults, ['protocol violation: a block out of order or range'])
})

test('credit is granted for what was read, once that is half of the window', async (t) => {
  const script = [status, block(3, 988), block(4, 990), block(5), end(3)]
  const scene = openScene(t, script, { creditsAfter: 3 })
  assert.deepEqual(await pull(scene), { lengths: [988, 990, 1], failure: null })
  const own = { tail: 1, head: 2 }
  assert.deepEqual(scene.received, [
    { kind: 'request', from: 3, to: 5, windowBytes: 4000, status: own },
    { kind: 'credit', bytes: 2000 },
  ])
})

test('a block of a MiB may take ten seconds for that, and ten more to begin', async (t) => {
  const clock = clockOf(t)
  const slow = async (ms: number): Promise<Scene & Awaited<ReturnType<typeof pull>>> => {
    const scene = openScene(t, [status, block(3, 1024, 2 ** 20), part(2 ** 20 - 1024), end(1)], {
      ...{ creditsAfter: 2, onCredit: () => clock.pass(ms) },
      changed: { windowBytes: 2048, maxBlockBytes: 2 ** 20, maxFrameBytes: 2 ** 20 },
    })
    return { ...scene, ...(await pull(scene)) }
  }
  const inTime = await slow(20_000)
  assert.deepEqual([inTime.lengths, inTime.failure], [[2 ** 20], null])
  const late = await slow(20_001)
  assert.deepEqual([late.lengths, late.faults], [[], ['stalled writer: a block too slowly']])
})

test('a status is asked for alone, and blocks in the answer are a fault', async (t) => {
  const scene = openScene(t, [status, end(0)])
  assert.deepEqual(await scene.client.status('p', soon()), range)
  assert.deepEqual(scene.received, [
    { kind: 'request', from: 1, to: 0, windowBytes: 4000, status: { tail: 1, head: 2 } },
  ])
  const talkative = openScene(t, [status, block(3)])
  await assert.rejects(talkative.client.status('p', soon()), { code: 'P2P_PULL_FAILED' })
  assert.deepEqual(talkative.faults, ['protocol violation: blocks that were not asked for'])
})
