/** How a Generator finds a newer head of its own at peers, which answer what they like. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ServiceError } from '../../../src/errors.ts'
import { openOwnHeadSearch } from '../../../src/generator/head/own-head-search.ts'
import type { P2p } from '../../../src/p2p/p2p.ts'
import { encodeHead, type Head } from '../../../src/primitives/head.ts'
import { decodeVoteRequest, encodeHeadsAnswer } from '../../../src/primitives/vote-exchange.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { signHead } from '../../support/chain/signed-heads.ts'
import { connect, openRoom, testNetwork } from '../../support/p2p-room.ts'
import { createCollection } from '../support/collection.ts'

const key = testSigner('generator')

const headOf = (sequence: number, statement: Partial<Head> = {}): Head =>
  signHead(key, { network: testNetwork, number: 7, sequence, ...statement })

/** A peer that answers with what `answer` makes, and the Generator that is yet to ask. */
async function openPeers(t: TestContext, answer: () => Uint8Array) {
  const asked = createCollection<string>()
  const peer = await openRoom(t, {
    answers: {
      votes(question) {
        const request = decodeVoteRequest(question)
        assert.deepEqual(request, { kind: 'heads', identities: [key.identity] })
        asked.add(request.kind)
        return answer()
      },
    },
  })
  const generator = await openRoom(t)
  const found = createCollection<Head>()
  const search = (askPeersMs: number) => {
    const opened = openOwnHeadSearch(
      { network: testNetwork, identity: key.identity, askPeersMs },
      { p2p: generator.p2p, log: generator.captured.log, onFound: found.add },
    )
    t.after(() => opened.close())
    return opened
  }
  return { peer, generator, asked, found, search }
}

const answerOf = (...heads: Head[]): Uint8Array => encodeHeadsAnswer(heads.map(encodeHead))

describe('a Generator asks for its own newest head', () => {
  test('on a connection that is new, and on one that was there before', async (t) => {
    for (const isBefore of [true, false]) {
      const { peer, generator, found, search } = await openPeers(t, () => answerOf(headOf(9)))
      if (isBefore) await connect(generator, peer)
      search(600_000)
      if (!isBefore) await connect(generator, peer)
      assert.deepEqual(await found.first(() => true), headOf(9))
    }
  })

  test('from time to time on a connection that stays', async (t) => {
    let sequence = 0
    const { peer, generator, found, search } = await openPeers(t, () =>
      answerOf(headOf(++sequence)),
    )
    await connect(generator, peer)
    search(5)
    await found.first((head) => head.sequence === 5)
  })

  test('and nothing comes of a peer that has none, or that has what is known', async (t) => {
    let answer = answerOf()
    const { peer, generator, asked, found, search } = await openPeers(t, () => answer)
    await connect(generator, peer)
    search(5).addOwn(20)
    await asked.first(() => asked.items.length > 3)
    answer = answerOf(headOf(20))
    await asked.first(() => asked.items.length > 8)
    answer = answerOf(headOf(21))
    await found.first(() => true)
    assert.deepEqual(found.items, [headOf(21)])
    assert.equal(await generator.metric('viewmesh_p2p_faults_total'), 0)
  })
})

/** The search over peers that the test plays: `answers` are those to the requests, one after the other. */
function openAlone(answers: readonly (() => Promise<Uint8Array>)[]) {
  const asked: { peer: string; signal: AbortSignal }[] = []
  const penalised: string[] = []
  const listeners = new Set<Parameters<P2p['onPeer']>[0]>()
  const record = { announced: null, lastAnnouncement: null, verified: false, score: 0 }
  const p2p: Pick<P2p, 'request' | 'onPeer' | 'peers' | 'penalise'> = {
    request: (peer, _name, _question, signal) => {
      asked.push({ peer, signal })
      const answer = answers[asked.length - 1] ?? assert.fail('asked too often')
      return answer()
    },
    onPeer: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    peers: () => [{ id: 'one', addresses: [], subscribed: true, bootstrap: true, ...record }],
    penalise: (peer) => void penalised.push(peer),
  }
  const search = openOwnHeadSearch(
    { network: testNetwork, identity: key.identity, askPeersMs: 1_000 },
    { p2p, log: captureLog().log, onFound: () => assert.fail('it has none') },
  )
  const notify = (type: 'connected' | 'disconnected', peer: string): void => {
    for (const listener of listeners) listener({ type, peer, announced: null })
  }
  return { search, asked, penalised, notify }
}

test('a peer is asked once at a time, and none after the end, which ends what is asked', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const never = () => new Promise<Uint8Array>(() => undefined)
  const { search, asked, notify } = openAlone([async () => answerOf(), never, never])
  await setImmediate()
  t.mock.timers.tick(2_000)
  notify('connected', 'one')
  notify('disconnected', 'two')
  notify('connected', 'three')
  assert.deepEqual(
    asked.map(({ peer }) => peer),
    ['one', 'one', 'three'],
  )
  search.close()
  assert.ok(asked.every(({ signal }) => signal.aborted))
  t.mock.timers.tick(2_000)
  notify('connected', 'four')
  assert.equal(asked.length, 3)
})

test('a peer that does not respond is not penalised, and is asked again', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const failures = [new ServiceError('P2P_ASK_FAILED', 'no response'), new Error('closed')]
  const { search, asked, penalised } = openAlone(
    failures.map((error) => () => Promise.reject(error)),
  )
  await setImmediate()
  t.mock.timers.tick(1_000)
  await setImmediate()
  search.close()
  assert.deepEqual([asked.length, penalised], [2, []])
})

const hostile: Readonly<Record<string, () => Uint8Array>> = {
  'a forged signature': () => answerOf({ ...headOf(9), sequence: 2 ** 50 }),
  'a head of somebody else': () =>
    answerOf(signHead(testSigner('else'), { network: testNetwork, number: 7, sequence: 9 })),
  'a head of another network': () => answerOf(headOf(9, { network: 'Other__Net' })),
  'more heads than the newest': () => answerOf(headOf(9), headOf(10)),
  'bytes that are no head': () => encodeHeadsAnswer([Buffer.from('no head')]),
  'bytes that are no answer': () => Buffer.from('no answer'),
}

describe('a peer is penalised that responds with', () => {
  for (const [what, answer] of Object.entries(hostile))
    test(what, async (t) => {
      const { peer, generator, found, search } = await openPeers(t, answer)
      await connect(generator, peer)
      search(600_000)
      const { fault } = await generator.captured.line('peer fault')
      assert.equal(fault, 'reported')
      assert.deepEqual(found.items, [])
    })
})

test('heads that this program signed count as foreign in no order, and cost a peer nothing', async (t) => {
  const signed = [7, 8, 9, 30, 31, 40]
  let turn = 0
  const { peer, generator, asked, found, search } = await openPeers(t, () =>
    answerOf(headOf(signed[turn++ % signed.length] ?? 0)),
  )
  await connect(generator, peer)
  const opened = search(1)
  for (const sequence of signed) opened.addOwn(sequence)
  await asked.first(() => asked.items.length > 4 * signed.length)
  assert.deepEqual(found.items, [])
  assert.equal(await generator.metric('viewmesh_p2p_faults_total'), 0)
})

test('a head of another program with our key is found above ours and below', async (t) => {
  const others = [headOf(10), headOf(50)]
  let turn = 0
  const { peer, generator, found, search } = await openPeers(t, () =>
    answerOf(others[turn++ % 2] ?? headOf(0)),
  )
  await connect(generator, peer)
  const opened = search(1)
  for (const sequence of [9, 11, 12]) opened.addOwn(sequence)
  await found.first(() => found.items.length === 4)
  assert.deepEqual(new Set(found.items.map(({ sequence }) => sequence)), new Set([10, 50]))
})
