/** How a connection is held back by what came on it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type {
  ConnectionEncrypter,
  MessageStream,
  SecuredConnection,
  StreamMuxer,
  StreamMuxerFactory,
} from '@libp2p/interface'
import { framePrices } from '../../../src/p2p/connections/frame-price.ts'
import { createReceivedMeter } from '../../../src/p2p/connections/received-meter.ts'
import type { Remote } from '../../../src/p2p/limits/remote.ts'
import { yamuxFrame } from '../support/yamux-frame.ts'

type Way = 'secureInbound' | 'secureOutbound'

const maxFrameBytes = 1_000
const dataFrame = (bytes: number): Buffer =>
  yamuxFrame({ type: 'data', flags: 0, stream: 1, length: bytes }, new Uint8Array(bytes))
const costOf = (bytes: number): number => 12 + bytes + framePrices.any

/** A connection of peer `p`, if its handshake is metered, where each message has to wait so long. */
async function open(t: TestContext, waits: readonly (number | null)[], way: Way | null) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const calls: string[] = []
  const owed: [Remote, number][] = []
  const left = [...waits]
  const state = { status: 'open', failure: null as Error | null }
  const target = new EventTarget()
  const step = (name: string) => (): void => {
    if (state.failure !== null) throw state.failure
    calls.push(name)
  }
  const connection = Object.assign(target, {
    pause: step('pause'),
    resume: step('resume'),
    abort: ({ message }: Error) => calls.push(`abort: ${message}`),
  }) as unknown as MessageStream
  Object.defineProperty(connection, 'status', { get: () => state.status })
  const meter = createReceivedMeter(maxFrameBytes, {
    rates: {
      owe: (remote, cost) => {
        owed.push([remote, cost])
        return left.shift() ?? null
      },
    },
    remoteOf: (key) => ({ key, isConfigured: false }),
  })
  const secured = { connection, remotePeer: { toString: () => 'p' } } as SecuredConnection
  const encrypter = meter.encrypter({
    secureInbound: async () => secured,
    secureOutbound: async () => secured,
  } as unknown as ConnectionEncrypter)
  if (way !== null) assert.equal(await encrypter[way](connection), secured)
  const inner = {} as StreamMuxer
  const muxer = meter.muxer({
    createStreamMuxer: (stream) => {
      stream.addEventListener('message', () => calls.push('muxer'))
      return inner
    },
  } as StreamMuxerFactory)
  assert.equal(muxer.createStreamMuxer(connection), inner)
  return {
    calls,
    owed,
    state,
    /** What comes; all that follows from it at once has happened then. */
    receive: async (data: Uint8Array | readonly Uint8Array[]) => {
      target.dispatchEvent(Object.assign(new Event('message'), { data }))
      await Promise.resolve()
    },
    close: () => target.dispatchEvent(new Event('close')),
    pass: (ms: number) => t.mock.timers.tick(ms),
  }
}

for (const way of ['secureInbound', 'secureOutbound'] as const)
  test(`what comes after ${way} is paid for by the peer that it names`, async (t) => {
    const { receive, owed, calls } = await open(t, [0, null], way)
    await receive(dataFrame(100))
    await receive([dataFrame(50), dataFrame(7)])
    const remote = { key: 'p', isConfigured: false }
    assert.deepEqual(owed, [
      [remote, costOf(100)],
      [remote, costOf(50) + costOf(7)],
    ])
    assert.deepEqual(calls, ['muxer', 'muxer'])
  })

test('a connection of which nobody knows whose it is costs nobody anything', async (t) => {
  const { receive, owed } = await open(t, [], null)
  await receive(dataFrame(100))
  assert.deepEqual(owed, [])
})

test('a connection is paused for as long as what came has to wait', async (t) => {
  const { receive, calls, pass } = await open(t, [100], 'secureInbound')
  await receive(dataFrame(1))
  pass(99)
  assert.deepEqual(calls, ['muxer', 'pause'])
  pass(1)
  assert.deepEqual(calls, ['muxer', 'pause', 'resume'])
})

test('what comes meanwhile prolongs the pause', async (t) => {
  const { receive, calls, pass } = await open(t, [100, 100], 'secureInbound')
  await receive(dataFrame(1))
  pass(60)
  await receive(dataFrame(1))
  pass(99)
  assert.ok(!calls.includes('resume'))
  pass(1)
  assert.equal(calls.filter((call) => call === 'resume').length, 1)
})

test('a connection that is closed, or about to, is neither paused nor resumed', async (t) => {
  const { receive, calls, pass, close, state } = await open(t, [100, 100], 'secureInbound')
  await receive(dataFrame(1))
  close()
  pass(1_000)
  assert.deepEqual(calls, ['muxer', 'pause'])
  state.status = 'closing'
  await receive(dataFrame(1))
  pass(1_000)
  assert.deepEqual(calls, ['muxer', 'pause', 'muxer'])
})

test('a connection that cannot be paused ends', async (t) => {
  const { receive, calls, state } = await open(t, [100], 'secureInbound')
  state.failure = new Error('it ended')
  await receive(dataFrame(1))
  assert.deepEqual(calls, ['muxer', 'abort: it ended'])
})

test('a frame may be as long as the largest window; a longer one ends the connection', async (t) => {
  const { receive, calls, owed } = await open(t, [0], 'secureInbound')
  await receive(dataFrame(maxFrameBytes))
  await receive(dataFrame(maxFrameBytes + 1))
  assert.deepEqual(calls, ['muxer', 'muxer', 'abort: a frame longer than any window'])
  assert.equal(owed.length, 1)
})
