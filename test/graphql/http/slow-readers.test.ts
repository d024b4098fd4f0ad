import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { createSlowReaders, type SlowReaders } from '../../../src/graphql/http/slow-readers.ts'

const periodMs = 1_000

interface Reader {
  readonly response: ServerResponse
  /** Bytes that wait in the response, and in the connection below it. */
  waiting: number
  below: number
  /** Bytes that the connection was given. */
  written: number
  isCut: boolean
}

function createReader(): Reader {
  const reader = { waiting: 1, below: 0, written: 0, isCut: false }
  const socket = {
    get bytesWritten() {
      return reader.written
    },
    get writableLength() {
      return reader.below
    },
    destroy: () => {
      reader.isCut = true
    },
  }
  const response = Object.defineProperty(new EventEmitter(), 'writableLength', {
    get: () => reader.waiting,
  })
  return Object.assign(reader, {
    response: Object.assign(response, { req: { socket } }) as unknown as ServerResponse,
  })
}

interface Scene {
  readonly readers: SlowReaders
  cuts(): number
  pass(ms: number): void
}

function openScene(t: TestContext): Scene {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  let cuts = 0
  const readers = createSlowReaders(periodMs, () => {
    cuts += 1
  })
  t.after(() => readers.close())
  return {
    readers,
    cuts: () => cuts,
    pass: (ms) => {
      for (let passed = 0; passed < ms; passed += 250) {
        nowMs += 250
        t.mock.timers.tick(250)
      }
    },
  }
}

test('a client that takes less than 32 KiB a second for a period is cut off, once', (t) => {
  const { readers, cuts, pass } = openScene(t)
  const [slow, quick] = [createReader(), createReader()]
  for (const { response } of [slow, quick]) readers.watch(response)
  pass(250)
  slow.written = 31_999
  quick.written = 32_000
  pass(periodMs - 250)
  assert.deepEqual([slow.isCut, quick.isCut], [false, false], 'the period is not over')
  pass(250)
  assert.deepEqual([slow.isCut, quick.isCut, cuts()], [true, false, 1])
  pass(periodMs - 250)
  assert.equal(quick.isCut, false)
  pass(250)
  assert.deepEqual([quick.isCut, cuts()], [true, 2], 'it took nothing in its second period')
})

test('what waits in the connection is not taken yet', (t) => {
  const { readers, pass } = openScene(t)
  const reader = createReader()
  readers.watch(reader.response)
  pass(250)
  Object.assign(reader, { written: 100_000, below: 68_001 })
  pass(periodMs)
  assert.equal(reader.isCut, true)
})

test('a client for which nothing waits may be idle for ever, and begins again after that', (t) => {
  const { readers, pass } = openScene(t)
  const reader = createReader()
  readers.watch(reader.response)
  pass(periodMs)
  reader.waiting = 0
  pass(10 * periodMs)
  reader.waiting = 1
  pass(periodMs)
  assert.equal(reader.isCut, false)
  pass(250)
  assert.equal(reader.isCut, true)
})

test('nobody is cut off whose response is over, or after the end of watching', (t) => {
  const { readers, cuts, pass } = openScene(t)
  const [over, left] = [createReader(), createReader()]
  readers.watch(over.response)
  pass(250)
  over.response.emit('close')
  pass(10 * periodMs)
  readers.watch(left.response)
  pass(250)
  readers.close()
  pass(10 * periodMs)
  assert.deepEqual([over.isCut, left.isCut, cuts()], [false, false, 0])
})
