import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createMemoryPool, type MemoryPool } from '../../../src/graphql/budget/memory-pool.ts'
import { createRequestLives, type RequestLives } from '../../../src/graphql/http/request-life.ts'

type Life = ReturnType<RequestLives['of']>

/** Lives of requests on one connection, each of which holds 100 bytes. */
function openScene(): {
  memory: MemoryPool
  socket: Socket
  begin(): { life: Life; response: ServerResponse }
} {
  const memory = createMemoryPool({ maxHeldBytes: 1_000 })
  const lives = createRequestLives(memory)
  const socket = new Socket()
  return {
    memory,
    socket,
    begin: () => {
      const request = new IncomingMessage(socket)
      const response = new ServerResponse(request)
      lives.begin(request, response)
      const life = lives.of(request)
      life.account.reserve(100)
      return { life, response }
    },
  }
}

test('a request whose response is closed before it was sent is aborted, and holds nothing', () => {
  const { memory, begin } = openScene()
  const [first, second] = [begin(), begin()]
  assert.equal(memory.heldBytes(), 200)
  first.response.emit('close')
  assert.deepEqual([first.life.signal.aborted, second.life.signal.aborted], [true, false])
  assert.equal(memory.heldBytes(), 100)
})

test('a request whose response was sent is not aborted, and holds nothing either', () => {
  const { memory, begin, socket } = openScene()
  const { life, response } = begin()
  Object.defineProperty(response, 'writableFinished', { value: true })
  response.emit('close')
  assert.deepEqual([life.signal.aborted, memory.heldBytes()], [false, 0])
  socket.emit('close')
  assert.equal(life.signal.aborted, false)
})

test('the end of a connection ends all requests on it, also those that wait behind others', () => {
  const { memory, begin, socket } = openScene()
  const lives = [begin().life, begin().life, begin().life]
  assert.equal(memory.heldBytes(), 300)
  assert.equal(socket.listenerCount('close'), 1, 'however many requests there are')
  socket.emit('close')
  assert.ok(lives.every(({ signal }) => signal.aborted))
  assert.equal(memory.heldBytes(), 0)
})
