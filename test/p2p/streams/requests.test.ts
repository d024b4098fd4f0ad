/** One question, one answer: who a peer is, and what it has. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Stream } from '@libp2p/interface'
import { requestProtocol } from '../../../src/p2p/streams/requests.ts'
import { connect, openRoom, testNetwork, until } from '../../support/p2p-room.ts'
import { lengthOf, openRawPeer } from '../../support/raw-peer.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const within = (): AbortSignal => AbortSignal.timeout(60_000)

test('a peer responds to a request, and knows its sender, who asks one thing at a time', async (t) => {
  const asker = await openRoom(t)
  let [asked, most] = [0, 0]
  const answerer = await openRoom(t, {
    answers: {
      identity: () => bytes('it is me'),
      votes: async (question, peer) => {
        asked += 1
        most = Math.max(most, asked)
        await nextTurn()
        asked -= 1
        return bytes(`${Buffer.from(question)} of ${peer}`)
      },
    },
  })
  await connect(asker, answerer)
  const ask = async (name: 'identity' | 'votes', question: string): Promise<string> =>
    Buffer.from(await asker.p2p.request(answerer.id, name, bytes(question), within())).toString()
  assert.equal(await ask('identity', ''), 'it is me')
  const questions = Array.from({ length: 20 }, (_, index) => `question ${index}`)
  assert.deepEqual(
    await Promise.all(questions.map((question) => ask('votes', question))),
    questions.map((question) => `${question} of ${asker.id}`),
  )
  assert.equal(most, 1)
})

test('questions one after another leave no stream open that a later one would lack', async (t) => {
  const asker = await openRoom(t)
  const answerer = await openRoom(t, { answers: { identity: () => bytes('it is me') } })
  await connect(asker, answerer)
  for (let asked = 0; asked < 100; asked++)
    await asker.p2p.request(answerer.id, 'identity', bytes(''), within())
})

test('a response may have 512 KiB, and a request 4 KiB', async (t) => {
  const asker = await openRoom(t)
  const answerer = await openRoom(t, {
    answers: { votes: (question) => new Uint8Array(512 * 1024 + question.length - 4096) },
  })
  await connect(asker, answerer)
  const largest = await asker.p2p.request(answerer.id, 'votes', new Uint8Array(4096), within())
  assert.equal(largest.length, 512 * 1024)
  const longer = asker.p2p.request(answerer.id, 'votes', new Uint8Array(4097), within())
  const facts = { peer: answerer.id, question: 'votes', fault: null }
  await assert.rejects(longer, { code: 'P2P_ASK_FAILED', facts })
  assert.equal(await answerer.metric('viewmesh_p2p_faults_total', { fault: 'oversize frame' }), 1)
})

test('a response of more than 512 KiB ends its stream, and is the fault of who sent it', async (t) => {
  const asker = await openRoom(t)
  const raw = await openRawPeer(t)
  const ended = Promise.withResolvers<unknown>()
  await raw.take(requestProtocol(testNetwork, 'votes'), (stream) => {
    ended.resolve(once(stream, 'close'))
    stream.send(lengthOf(512 * 1024 + 1))
  })
  await raw.dial(asker.address)
  await until(() => asker.p2p.peers().some(({ id }) => id === raw.id))
  const asked = asker.p2p.request(raw.id, 'votes', bytes('?'), within())
  const facts = { peer: raw.id, question: 'votes', fault: 'oversize frame' }
  await assert.rejects(asked, { code: 'P2P_ASK_FAILED', facts })
  await ended.promise
  assert.equal(await asker.metric('viewmesh_p2p_faults_total', { fault: 'oversize frame' }), 1)
})

test('a request that is refused, or whose response fails, is an error for its sender alone', async (t) => {
  const asker = await openRoom(t)
  const answerer = await openRoom(t, {
    answers: {
      votes: () => {
        throw new Error('the store is closed')
      },
    },
  })
  await connect(asker, answerer)
  for (const name of ['identity', 'votes'] as const) {
    await assert.rejects(asker.p2p.request(answerer.id, name, bytes('?'), within()), {
      code: 'P2P_ASK_FAILED',
      facts: { peer: answerer.id, question: name, fault: null },
    })
  }
  assert.equal(await answerer.metric('viewmesh_p2p_faults_total', { fault: 'malformed frame' }), 1)
  const { question } = await answerer.captured.line('a request could not be answered')
  assert.equal(question, 'votes')
  assert.ok(asker.p2p.peers().some(({ id }) => id === answerer.id))
})

test('a request that is given up fails with the reason for that, and nobody is blamed', async (t) => {
  const asker = await openRoom(t)
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Uint8Array>()
  const answerer = await openRoom(t, {
    answers: {
      votes: () => {
        asked.resolve()
        return answer.promise
      },
    },
  })
  await connect(asker, answerer)
  const stop = new AbortController()
  const request = asker.p2p.request(answerer.id, 'votes', bytes('?'), stop.signal)
  await asked.promise
  const reason = new Error('it is not needed any more')
  stop.abort(reason)
  await assert.rejects(request, (error) => error === reason)
  answer.resolve(bytes('too late'))
  assert.ok(asker.p2p.peers().some(({ id }) => id === answerer.id))
})

test('a protocol that a peer does not speak is an error without blame for either side', async (t) => {
  const asker = await openRoom(t)
  const answerer = await openRoom(t, { answers: { votes: () => bytes('these') } })
  await connect(asker, answerer)
  const asked = asker.p2p.request(answerer.id, 'row-votes', bytes('?'), within())
  await assert.rejects(asked, { code: 'P2P_ASK_FAILED' })
  const votes = await asker.p2p.request(answerer.id, 'votes', bytes('?'), within())
  assert.equal(Buffer.from(votes).toString(), 'these')
  for (const room of [asker, answerer])
    assert.doesNotMatch(await room.registry.metrics(), /viewmesh_p2p_faults_total\{[^}]*\} [1-9]/)
})

test('strangers of one address share the questions that are open; more are refused without blame', async (t) => {
  const room = await openRoom(t, {
    limits: { requestStreams: { configured: 4, address: 2, strangers: 3 } },
  })
  const streams: Stream[] = []
  for (const from of ['127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.4']) {
    const peer = await openRawPeer(t, { from })
    streams.push(await peer.open(room.address, requestProtocol(testNetwork, 'votes')))
    await until(() => room.p2p.peers().some(({ id }) => id === peer.id))
  }
  const open = (): boolean[] => streams.map(({ status }) => status === 'open')
  await until(() => open().filter(Boolean).length === 3)
  assert.deepEqual(open(), [true, true, false, true, false])
  assert.equal(await room.metric('viewmesh_p2p_faults_total'), 0)
})

test('requests of strangers above their address’s rate wait, and are refused where that is long', async (t) => {
  let asked = 0
  const room = await openRoom(t, {
    limits: { requests: { configured: 50, address: 0.25, strangers: 50 }, requestWaitMs: 0 },
    answers: {
      votes: () => {
        asked += 1
        return bytes('an answer')
      },
    },
  })
  const ask = async (from: string): Promise<string> => {
    const peer = await openRawPeer(t, { from })
    const stream = await peer.open(room.address, requestProtocol(testNetwork, 'votes'))
    if (stream.status !== 'open') return 'refused'
    const end = new Promise<string>((resolve) => {
      stream.addEventListener('message', () => resolve('answered'))
      stream.addEventListener('close', () => resolve('refused'))
    })
    stream.send(Uint8Array.of(1, 0))
    return await end
  }
  assert.equal(await ask('127.0.0.2'), 'answered')
  assert.equal(await ask('127.0.0.2'), 'refused')
  assert.equal(await ask('127.0.0.3'), 'answered')
  assert.equal(asked, 2)
  assert.equal(await room.metric('viewmesh_p2p_faults_total'), 0)
})
