/** When a Host compares votes with others, and who may keep it from that. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import { openVoteSync } from '../../../src/host/sync/vote-sync.ts'
import type { PeerEvent } from '../../../src/p2p/peers/peer-book.ts'
import {
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
} from '../../../src/primitives/vote-exchange.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { openRoom, until } from '../../support/p2p-room.ts'
import { openTestGenerator } from '../../support/test-generator.ts'
import { openTestStore } from '../../support/test-store.ts'
import { openTestHost } from '../support/test-host.ts'

test('strangers that take their time with every answer keep no votes of configured peers away', async (t) => {
  const chain = createChain({ count: 5, from: 1, shape: shapes.tiny })
  const alice = await openTestGenerator(t, 'alice', chain)
  const bob = await openTestGenerator(t, 'bob', chain)
  const host = await openTestHost(t, { peers: [alice.room.address] })
  await host.reached(5)
  const answering = Promise.withResolvers<null>()
  const asked = new Set<number>()
  for (let stranger = 0; stranger < 5; stranger += 1) {
    await openRoom(t, {
      options: { network: 'Local__Devnet', bootstrapPeers: [host.address] },
      answers: {
        votes: () => {
          asked.add(stranger)
          return answering.promise
        },
      },
    })
  }
  await until(() => asked.size === 4)

  host.setBootstrapPeers([alice.room.address, bob.room.address])
  const signers = (height: number): number =>
    host.reader.read((snapshot) => snapshot.seals(height).length)
  await until(() => chain.every(({ number }) => signers(number) === 2))
  assert.equal(asked.size, 4, 'so many strangers at a time')
  answering.resolve(null)
})

test('a peer whose answer about votes cannot be read is blamed', async (t) => {
  const chain = createChain({ count: 5, from: 1, shape: shapes.tiny })
  const alice = await openTestGenerator(t, 'alice', chain)
  const host = await openTestHost(t, { peers: [alice.room.address] })
  await host.reached(5)
  const liar = await openRoom(t, {
    options: { network: 'Local__Devnet', bootstrapPeers: [host.address] },
    answers: { votes: () => Buffer.from('no answer') },
  })
  const fault = await host.captured.line('peer fault')
  assert.equal(fault['peer'], liar.id)
  assert.equal(fault['detail'], 'an answer about votes that cannot be read')
})

/** A comparison with one peer, which the test ends. */
interface Comparison {
  readonly peer: string
  readonly signal: AbortSignal
  end(): void
  fail(error: unknown): void
}

/** Named as those that are configured begin with c. */
const isConfigured = (id: string): boolean => id.startsWith('c')

/** Compares with these peers, who have nothing; with `pages` each is asked for pages of votes as well, and answers. */
async function openComparing(
  t: TestContext,
  peers: readonly string[],
  { pages = false }: { pages?: boolean } = {},
) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const store = await openTestStore(t, null)
  const connected = [...peers]
  const under: Comparison[] = []
  const compared: number[] = []
  const blamed: string[] = []
  const failed: unknown[] = []
  let emit = (_event: PeerEvent): void => assert.fail('nobody listens')
  const votes = openVoteSync(
    {},
    {
      log: captureLog().log,
      metrics: { voteExchange: () => undefined, rowVoteExchange: () => undefined },
      reader: store.reader,
      writer: {
        receiveHead: () => assert.fail('there is no head'),
        receiveSeals: () => assert.fail('there is no seal'),
        receiveRowStatements: () => assert.fail('there is no statement'),
      },
      signers: () => (pages ? ['02'.repeat(33)] : []),
      isAnyone: true,
      window: () => ({ from: 0, to: 99 * 1_024 - 1 }),
      hosts: () => [],
      p2p: {
        peers: () =>
          connected.map((id) => ({
            ...{ id, addresses: [], subscribed: true, bootstrap: isConfigured(id), score: 0 },
            ...{ verified: true, announced: null, lastAnnouncement: null },
          })),
        onPeer: (listener) => {
          emit = listener
          return () => {
            emit = () => undefined
          }
        },
        applyVerdict: () => assert.fail('there is nothing to judge'),
        penalise: (peer, detail) => void blamed.push(`${peer}: ${detail}`),
        request: (peer, _name, question, signal) => {
          const request = decodeVoteRequest(question)
          if (request.kind === 'digests') {
            compared.push(99 - (request.to + 1) / 1_024)
            return Promise.resolve(encodeDigestsAnswer([]))
          }
          const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
          signal.addEventListener('abort', () => reject(signal.reason))
          under.push({ peer, signal, end: () => resolve(encodeHeadsAnswer([])), fail: reject })
          return promise
        },
      },
      onFatal: (error) => failed.push(error),
    },
  )
  t.after(votes.close)
  return {
    votes,
    blamed,
    failed,
    connect: (peer: string) => {
      connected.push(peer)
      emit({ type: 'connected', peer, announced: null })
    },
    announce: (peer: string) => emit({ type: 'announced', peer, announced: null }),
    /** What began since this was looked at last. */
    begun: () => under.splice(0),
    /** Pages of votes that were compared since this was looked at last, the newest being 0. */
    compared: () => compared.splice(0),
    pass: (ms: number) => t.mock.timers.tick(ms),
  }
}

const peersOf = (comparisons: readonly Comparison[]): string[] =>
  comparisons.map(({ peer }) => peer)
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a Host compares votes', () => {
  test('with four configured peers and four strangers at a time, and then with the next', async (t) => {
    const peers = [1, 2, 3, 4, 5, 6].flatMap((number) => [`c${number}`, `s${number}`])
    const { begun } = await openComparing(t, peers)
    const first = begun()
    assert.deepEqual(peersOf(first), peers.slice(0, 8))
    for (const peer of ['s2', 'c3']) first.find((each) => each.peer === peer)?.end()
    await settled()
    const next = begun()
    assert.deepEqual(peersOf(next), ['s5', 'c5'])
    first.find(({ peer }) => peer === 'c1')?.fail(new ServiceError('P2P_ASK_FAILED', 'it left'))
    await settled()
    assert.deepEqual(peersOf(begun()), ['c6'])
  })

  test('with a peer that connects, not with one that says what it has, once at a time', async (t) => {
    const { begun, connect, announce, votes } = await openComparing(t, [])
    connect('c1')
    const [first = assert.fail(), ...others] = begun()
    announce('c1')
    for (let again = 0; again < 3; again++) votes.start()
    assert.deepEqual([others, begun()], [[], []])
    first.end()
    await settled()
    const [second = assert.fail(), ...more] = begun()
    second.end()
    await settled()
    assert.deepEqual([second.peer, more, begun()], ['c1', [], []])
  })

  test('every minute, a second after it is woken, and at once with a new signer', async (t) => {
    const { begun, votes, pass } = await openComparing(t, ['c1'])
    const next = async (): Promise<string[]> => {
      const found = begun()
      for (const each of found) each.end()
      await settled()
      return peersOf(found)
    }
    assert.deepEqual(await next(), ['c1'])
    votes.start()
    assert.deepEqual(await next(), ['c1'])
    for (let again = 0; again < 2; again++) {
      votes.wake()
      votes.wake()
      pass(999)
      assert.deepEqual(await next(), [])
      pass(1)
      assert.deepEqual(await next(), ['c1'])
    }
    pass(57_999)
    assert.deepEqual(await next(), [])
    pass(1)
    assert.deepEqual(await next(), ['c1'])
  })

  test('of the newest page each time, of 15 older ones at first, and of one more a minute', async (t) => {
    const { begun, compared, votes, pass } = await openComparing(t, ['c1'], { pages: true })
    const next = async (count: number): Promise<number[]> => {
      const found: number[] = []
      await until(() => {
        for (const each of begun()) each.end()
        return found.push(...compared()) >= count
      })
      return found
    }
    const first = Array.from({ length: 16 }, (_, page) => page)
    assert.deepEqual(await next(16), first)
    votes.start()
    assert.deepEqual(await next(1), [0])
    for (const older of [16, 17, 18]) {
      pass(60_000)
      assert.deepEqual(await next(2), [0, older])
    }
    const whileOneIsUnderWay = async (act: () => void): Promise<void> => {
      votes.start()
      const underWay: Comparison[] = []
      await until(() => underWay.push(...begun()) > 0)
      act()
      for (const each of underWay) each.end()
    }
    await whileOneIsUnderWay(() => {
      votes.start()
      votes.wake()
      pass(1_000)
      votes.start()
    })
    assert.deepEqual(await next(17), [0, ...first], 'what is under way, and then the most of all')
    await whileOneIsUnderWay(() => {
      for (let minute = 0; minute < 2; minute++) pass(60_000)
    })
    assert.deepEqual(await next(3), [0, 0, 20], 'and of as many the newest')
  })

  test('with a stranger for a minute, whose slowness nobody is to blame for', async (t) => {
    const minute = new AbortController()
    t.mock.method(AbortSignal, 'timeout', (ms: number) => {
      assert.equal(ms, 60_000)
      return minute.signal
    })
    const { begun, blamed, failed } = await openComparing(t, ['s1', 'c2'])
    const [one, two] = begun()
    minute.abort(new DOMException('It took too long', 'TimeoutError'))
    await settled()
    assert.deepEqual([one?.signal.aborted, two?.signal.aborted], [true, false])
    assert.deepEqual([blamed, failed], [[], []])
  })

  test('and blames a peer for its answer, itself for all else, nobody once it ends', async (t) => {
    const { begun, votes, blamed, failed } = await openComparing(t, ['c1', 'c2', 'c3', 's4'])
    const [one, two, three, four] = begun()
    const failure = (code: ErrorCode): ServiceError => new ServiceError(code, 'so it is')
    one?.fail(failure('P2P_ASK_FAILED'))
    two?.fail(failure('PRIMITIVES_MESSAGE_MALFORMED'))
    const full = failure('STORE_FULL')
    three?.fail(full)
    await settled()
    const expected = [['c2: an answer about votes that cannot be read'], [full]]
    assert.deepEqual([blamed, failed], expected)
    await votes.close()
    assert.ok(four?.signal.aborted)
    votes.start()
    await settled()
    assert.deepEqual([blamed, failed, begun()], [...expected, []])
  })
})
