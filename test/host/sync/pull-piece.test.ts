/** One piece of blocks from one peer: how many were of use, what the peer deserves, and why it ended. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ServiceError } from '../../../src/errors.ts'
import type { Outcome } from '../../../src/host/apply/outcome.ts'
import { type PulledPiece, pullPiece } from '../../../src/host/sync/pull-piece.ts'
import type { Pull } from '../../../src/host/sync/pull-plan.ts'
import type { PeerVerdict } from '../../../src/p2p/peers/verdict.ts'

const want = { from: 1, to: 64, hash: 'of 64', root: null, purpose: 'gap' }
const breach = { kind: 'breach', detail: 'so it is', height: null } as const
/** What the writer makes of a block, by its only byte. */
const outcomes: readonly Outcome[] = [
  { kind: 'block', height: 7, isStored: true, seals: 1 },
  { kind: 'seals', height: 8, seals: 1 },
  { ...breach, action: 'ignore', rule: 'something-new' },
  { ...breach, action: 'ignore', rule: 'accepted-signer' },
  { ...breach, action: 'reject', rule: 'valid-signature' },
]
const [stored, seals, known, stranger, forged] = [0, 1, 2, 3, 4]

interface Scene {
  /** What the peer sends, each when it is asked for. */
  readonly send: (signal: AbortSignal) => AsyncIterable<Uint8Array>
  readonly take?: (block: number) => Promise<Outcome>
  readonly closing?: AbortSignal
}

interface Pulled extends PulledPiece {
  readonly verdicts: readonly PeerVerdict[]
}

async function pull({ send, take, closing }: Scene): Promise<Pulled> {
  const verdicts: PeerVerdict[] = []
  const one: Pull = { peer: 'the peer', kind: 3, begunMs: 0, from: 1, to: 64, want }
  const piece = await pullPiece(
    one,
    { uselessMs: 1_500, closing: closing ?? new AbortController().signal },
    {
      p2p: {
        pull: (peer, from, to, signal) => {
          assert.deepEqual([peer, from, to], ['the peer', 1, 64])
          return send(signal)
        },
        applyVerdict: (_peer, verdict) => void verdicts.push(verdict),
      },
      take: async ([block = assert.fail()], from) => {
        assert.deepEqual(from, { peer: 'the peer', via: 'pull' })
        return (await take?.(block)) ?? outcomes[block] ?? assert.fail()
      },
    },
  )
  return { ...piece, verdicts }
}

const sending = (...blocks: readonly (number | undefined)[]): Scene['send'] =>
  async function* () {
    for (const block of blocks) yield Uint8Array.of(block ?? assert.fail())
  }
/** Sends these, and then nothing until it is called off. */
const stopping = (...blocks: readonly (number | undefined)[]): Scene['send'] =>
  async function* (signal) {
    yield* sending(...blocks)(signal)
    const aborted = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => aborted.reject(signal.reason))
    await aborted.promise
  }
const accept = (height: number): PeerVerdict => ({ action: 'accept', height })

test('blocks and seals are of use, known ones as well, and those of strangers are not', async () => {
  const pulled = await pull({ send: sending(stored, seals, known, stranger) })
  assert.deepEqual(pulled, { delivered: 3, error: null, verdicts: [accept(7), accept(8)] })
})

test('a bad block is a fault of the peer, and ends the piece with what came before it', async () => {
  const { error, ...pulled } = await pull({ send: stopping(stored, forged) })
  const reject = { action: 'reject', reason: 'valid-signature: so it is' } as const
  assert.deepEqual(pulled, { delivered: 1, verdicts: [accept(7), reject] })
  assert.equal(error?.code, 'HOST_BLOCK_REJECTED')
  assert.equal(error.message, 'a peer sent a bad block: valid-signature: so it is')
})

test('a peer that fails leaves what it sent, and says why', async () => {
  const failure = new ServiceError('P2P_PULL_FAILED', 'it went away')
  const { error, delivered } = await pull({
    async *send() {
      yield Uint8Array.of(stored ?? 0)
      throw failure
    },
  })
  assert.deepEqual([error, delivered], [failure, 1])
})

test('a piece ends when no block of use came for as long as one may take, counted from the last', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const taken: (() => void)[] = []
  const waits = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => void (taken.length === count ? resolve() : setImmediate(look))
      look()
    })
  const pulling = pull({
    send: stopping(stored, known, stranger),
    take: async (block) => {
      await new Promise<void>((resolve) => taken.push(resolve))
      return outcomes[block] ?? assert.fail()
    },
  })
  let hasEnded = false
  void pulling.then(() => {
    hasEnded = true
  })
  await waits(3)
  for (const [block, ms] of [1_499, 1_499, 1_499].entries()) {
    t.mock.timers.tick(ms)
    taken[block]?.()
    await new Promise(setImmediate)
  }
  assert.equal(hasEnded, false)
  t.mock.timers.tick(1)
  const { error, delivered } = await pulling
  assert.equal(delivered, 2)
  assert.equal(error?.code, 'P2P_PULL_FAILED')
  assert.equal(
    error.message,
    'pulling blocks failed: the peer sent no block of use for 1.5 seconds',
  )
})

test('four blocks of a piece are with the writer at a time', async () => {
  const waiting: (() => void)[] = []
  let [sent, most] = [0, 0]
  const { delivered } = await pull({
    async *send() {
      for (; sent < 10; sent += 1) yield Uint8Array.of(stored ?? 0)
    },
    take: async () => {
      const done = Promise.withResolvers<void>()
      waiting.push(done.resolve)
      most = Math.max(most, waiting.length)
      setImmediate(() => waiting.shift()?.())
      await done.promise
      return outcomes[0] ?? assert.fail()
    },
  })
  assert.deepEqual([delivered, most], [10, 4])
})

test('a Host that closes blames nobody', async () => {
  const closing = new AbortController()
  const pulling = pull({ send: stopping(stored), closing: closing.signal })
  await new Promise(setImmediate)
  closing.abort(new Error('the Host is closing'))
  assert.deepEqual(await pulling, { delivered: 1, error: null, verdicts: [accept(7)] })
})

test('what the writer fails with is no matter of the peer', async () => {
  const failure = new ServiceError('STORE_FULL', 'no room')
  const take = async (): Promise<never> => {
    throw failure
  }
  await assert.rejects(pull({ send: stopping(stored), take }), failure)
})
