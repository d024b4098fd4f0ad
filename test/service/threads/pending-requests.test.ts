import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPendingRequests } from '../../../src/service/threads/pending-requests.ts'
import type { ToWorker } from '../../../src/service/threads/thread-messages.ts'

const add = (id: number): ToWorker => ({ kind: 'request', id, name: 'add', payload: null })

/** Requests, and what was sent for them. */
function open() {
  const sent: string[] = []
  const pending = createPendingRequests(({ kind, ...message }) => {
    sent.push('id' in message ? `${kind} ${message.id}` : kind)
  })
  return { pending, sent }
}

test('each request has a number of its own, and the result that comes with it', async () => {
  const { pending, sent } = open()
  const [first, second] = [pending.ask(add), pending.ask(add)]
  pending.resolve(2, 'b')
  pending.reject(7, new Error('of nobody'))
  pending.reject(1, new Error('a'))
  assert.equal(await second, 'b')
  await assert.rejects(first, { message: 'a' })
  assert.deepEqual(sent, ['request 1', 'request 2'])
})

test('an aborted request is reported to the thread while it waits, and not after its result', async () => {
  const { pending, sent } = open()
  const [early, late] = [new AbortController(), new AbortController()]
  const aborted = pending.ask(add, { signal: early.signal })
  const served = pending.ask(add, { signal: late.signal })
  early.abort(new Error('given up'))
  pending.resolve(1, 'too late')
  pending.resolve(2, 'served')
  await assert.rejects(aborted, { message: 'given up' })
  assert.equal(await served, 'served')
  late.abort()
  await assert.rejects(pending.ask(add, { signal: late.signal }), { name: 'AbortError' })
  assert.deepEqual(sent, ['request 1', 'request 2', 'abort 1'])
})

test('after the end every request fails, and nothing is sent', async () => {
  const { pending, sent } = open()
  const stop = new AbortController()
  const waiting = pending.ask(add, { signal: stop.signal })
  pending.end(new Error('the thread ended'))
  stop.abort()
  await assert.rejects(waiting, { message: 'the thread ended' })
  await assert.rejects(pending.ask(add), { message: 'the thread ended' })
  assert.deepEqual(sent, ['request 1'])
})
