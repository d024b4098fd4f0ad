import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createWorkQueue, type Urgency } from '../../../operator/runtime/work-queue.ts'

const keys = ['x/a', 'x/b', 'y/a', 'y/b', 'z/a', 'alone']
const step = fc.record({
  act: fc.constantFrom('add', 'add', 'take', 'done', 'pass'),
  key: fc.constantFrom(...keys),
  urgency: fc.constantFrom<Urgency>('user', 'owned', 'resync'),
  passMs: fc.integer({ min: 0, max: 50_000 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A queue, and what is to be in it. */
function queueAndModel() {
  let nowMs = 0
  const queue = createWorkQueue(() => nowMs)
  const waiting = new Set<string>()
  const running: string[] = []
  const again = new Set<string>()
  const acts: Readonly<Record<string, (step: Step) => void>> = {
    add({ key, urgency }) {
      queue.add(key, urgency)
      const place = running.includes(key) ? again : waiting
      place.add(key)
    },
    take() {
      const key = queue.take()?.key
      assert.equal(key === undefined, waiting.size === 0)
      if (key === undefined) return
      assert.ok(waiting.delete(key), key)
      running.push(key)
    },
    done() {
      const key = running.shift()
      if (key === undefined) return
      queue.done(key)
      if (again.delete(key)) waiting.add(key)
    },
    pass({ passMs }) {
      nowMs += passMs
    },
  }
  return { queue, waiting, running, again, acts }
}

test('a key that waits is always taken, by one worker, once for all that was added meanwhile', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const { queue, waiting, running, again, acts } = queueAndModel()
      for (const one of steps) {
        acts[one.act]?.(one)
        assert.equal(queue.depth(), waiting.size + again.size)
        assert.equal(queue.runningForMs().length, running.length)
      }
    }),
  )
})

test('a key has the highest urgency that it was added with, also while it is worked on', () => {
  for (const added of [
    ['resync', 'user'],
    ['user', 'resync'],
    ['user', 'user'],
  ] as const) {
    const queue = createWorkQueue()
    queue.add('key', 'resync')
    queue.take()
    for (const one of added) queue.add('key', one)
    queue.add('other', 'owned')
    queue.done('key')
    assert.deepEqual([queue.take()?.key, queue.take()?.key], ['key', 'other'])
    for (const one of added) queue.add('third', one)
    queue.add('fourth', 'owned')
    assert.equal(queue.take()?.key, 'third')
  }
})

test('a key has waited since it was added first, however urgent it became, or since its work', () => {
  let nowMs = 0
  const queue = createWorkQueue(() => nowMs)
  queue.add('key', 'resync')
  nowMs = 5
  queue.add('key', 'user')
  nowMs = 7
  assert.deepEqual(queue.take(), { key: 'key', waitedMs: 7 })
  nowMs = 10
  queue.add('key', 'user')
  nowMs = 11
  queue.add('key', 'user')
  queue.done('key')
  nowMs = 14
  assert.deepEqual(queue.take(), { key: 'key', waitedMs: 4 })
})

test('how long keys have been worked on is known while they are', () => {
  let nowMs = 10
  const queue = createWorkQueue(() => nowMs)
  for (const key of ['a', 'b']) {
    queue.add(key, 'user')
    queue.take()
    nowMs += 5
  }
  assert.deepEqual(queue.runningForMs(), [10, 5])
  queue.done('a')
  assert.deepEqual(queue.runningForMs(), [5])
})

test('of keys that have waited for too long, the one that is due first has the turn', () => {
  const fourthAt = (atMs: number): string | undefined => {
    let nowMs = 0
    const queue = createWorkQueue(() => nowMs)
    queue.add('due', 'resync')
    nowMs = 50_001
    queue.add('ours', 'owned')
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key, 'user')
    nowMs = atMs
    return [queue.take(), queue.take(), queue.take(), queue.take()].at(-1)?.key
  }
  assert.deepEqual([60_000, 60_001, 60_002].map(fourthAt), ['d', 'due', 'due'])
})

test('what people changed goes before what we made, and that before what is only due', () => {
  const queue = createWorkQueue()
  queue.add('due', 'resync')
  queue.add('ours', 'owned')
  queue.add('due2', 'resync')
  queue.add('theirs', 'user')
  queue.add('due2', 'user')
  const order = [queue.take(), queue.take(), queue.take(), queue.take(), queue.take()]
  assert.deepEqual(
    order.map((item) => item?.key),
    ['theirs', 'due2', 'ours', 'due', undefined],
  )
})

test('what is less urgent has its turn after a while, however much is changed meanwhile', () => {
  let nowMs = 0
  const queue = createWorkQueue(() => nowMs)
  queue.add('due', 'resync')
  queue.add('ours', 'owned')
  const turns = new Map<string, number>()
  for (; nowMs <= 70_000; nowMs += 1_000) {
    queue.add(`theirs ${nowMs}`, 'user')
    const { key = '' } = queue.take() ?? {}
    turns.set(key, nowMs)
  }
  assert.deepEqual([turns.get('ours'), turns.get('due')], [11_000, 63_000])
})

test('a namespace with many keys, or slow ones, keeps none of another from having its turn', () => {
  const queue = createWorkQueue()
  for (const key of ['many/a', 'many/b', 'many/c', 'many/d']) queue.add(key, 'user')
  const first = queue.take()?.key
  queue.add('few/a', 'resync')
  queue.add('few/b', 'resync')
  const next = [queue.take(), queue.take(), queue.take()].map((item) => item?.key)
  assert.deepEqual([first, ...next], ['many/a', 'few/a', 'many/b', 'few/b'])
  queue.done('few/a')
  queue.add('few/c', 'resync')
  assert.deepEqual([queue.take()?.key, queue.depth()], ['few/c', 2])
})

test('a namespace of which nothing waits any more keeps none of another waiting', () => {
  const queue = createWorkQueue()
  const inTurn = (...added: readonly string[]): (string | undefined)[] => {
    for (const key of added) queue.add(key, 'user')
    return added.map(() => queue.take()?.key)
  }
  const first = ['first/a', 'first/b']
  assert.deepEqual(inTurn(...first), first)
  for (const key of first) queue.done(key)
  const second = ['second/a', 'second/b']
  assert.deepEqual(inTurn(...second), second)
})

test('a key that is worked on is taken again only once that is done', () => {
  const queue = createWorkQueue()
  queue.add('key', 'user')
  queue.take()
  queue.add('key', 'user')
  assert.deepEqual([queue.take(), queue.depth()], [null, 1])
  queue.done('key')
  assert.equal(queue.take()?.key, 'key')
})
