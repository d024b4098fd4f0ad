/** One question, one answer: who a peer is, and what it has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, openRoom } from '../../support/p2p-room.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const within = (): AbortSignal => AbortSignal.timeout(10_000)

test('a peer answers what it is asked, and knows who asks', async (t) => {
  const asker = await openRoom(t)
  const answerer = await openRoom(t, {
    answers: {
      identity: () => bytes('it is me'),
      votes: (question, peer) => bytes(`${Buffer.from(question)} of ${peer}`),
    },
  })
  await connect(asker, answerer)
  const ask = async (name: 'identity' | 'votes', question: string): Promise<string> =>
    Buffer.from(await asker.p2p.ask(answerer.id, name, bytes(question), within())).toString()
  assert.equal(await ask('identity', ''), 'it is me')
  const questions = Array.from({ length: 20 }, (_, index) => `question ${index}`)
  assert.deepEqual(
    await Promise.all(questions.map((question) => ask('votes', question))),
    questions.map((question) => `${question} of ${asker.id}`),
  )
})

test('an answer may have 512 KiB, and a question 4 KiB', async (t) => {
  const asker = await openRoom(t)
  const answerer = await openRoom(t, {
    answers: { votes: (question) => new Uint8Array(512 * 1024 + question.length - 4096) },
  })
  await connect(asker, answerer)
  const largest = await asker.p2p.ask(answerer.id, 'votes', new Uint8Array(4096), within())
  assert.equal(largest.length, 512 * 1024)
  const longer = asker.p2p.ask(answerer.id, 'votes', new Uint8Array(4097), within())
  await assert.rejects(longer, { code: 'P2P_ASK_FAILED' })
  assert.equal(await answerer.metric('viewmesh_p2p_faults_total', { fault: 'oversize frame' }), 1)
})

test('a question that is refused, or whose answer fails, is an error for the asker alone', async (t) => {
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
    await assert.rejects(asker.p2p.ask(answerer.id, name, bytes('?'), within()), {
      code: 'P2P_ASK_FAILED',
    })
  }
  const { question } = await answerer.captured.line('a question could not be answered')
  assert.equal(question, 'votes')
  assert.ok(asker.p2p.peers().some(({ id }) => id === answerer.id))
})
