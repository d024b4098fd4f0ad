/** Blocks on their way to the disk, as if they were there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPendingWrites } from '../../src/mesh/pending-writes.ts'

interface NamedBlock {
  readonly number: number
  readonly name: string
}

const block = (number: number, name = 'first'): NamedBlock => ({ number, name })

/** Whether something was settled after everything that could go on went on. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = (): void => {
    settled = true
  }
  promise.then(settle, settle)
  await new Promise<void>((resolve) => setImmediate(resolve))
  return settled
}

test('without anything pending, nothing changes anywhere', async () => {
  const pending = createPendingWrites<NamedBlock>()
  assert.deepEqual([pending.head(), pending.floor()], [-1, Number.POSITIVE_INFINITY])
  assert.equal(pending.at(0), undefined)
  assert.equal(pending.isRemoved(0), false)
  await pending.below(1)
  await pending.drain()
})

test('blocks are pending until they are written', async () => {
  const pending = createPendingWrites<NamedBlock>()
  const write = Promise.withResolvers<void>()
  const added = pending.add([block(0), block(3)], null, write.promise)
  assert.deepEqual([pending.floor(), pending.head()], [0, 3])
  assert.deepEqual([0, 1, 3].map(pending.at), [block(0), undefined, block(3)])
  write.resolve()
  await added
  assert.deepEqual([0, 3].map(pending.at), [undefined, undefined])
  assert.deepEqual([pending.floor(), pending.head()], [Number.POSITIVE_INFINITY, -1])
})

test('a removal takes pending blocks of its heights, and hides what is stored there', async () => {
  const pending = createPendingWrites<NamedBlock>()
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const added = pending.add([block(4), block(5), block(7), block(8)], null, first.promise)
  const replaced = pending.add([block(5, 'second')], { from: 5, to: 7 }, second.promise)
  assert.deepEqual([4, 5, 7, 8].map(pending.at), [
    block(4),
    block(5, 'second'),
    undefined,
    block(8),
  ])
  assert.deepEqual([4, 5, 6, 7, 8].map(pending.isRemoved), [false, true, true, true, false])
  first.resolve()
  await added
  assert.deepEqual(pending.at(5), block(5, 'second'))
  assert.equal(pending.isRemoved(5), true)
  second.resolve()
  await replaced
  assert.equal(pending.at(5), undefined)
  assert.equal(pending.isRemoved(5), false)
})

test('a removal without blocks in its place changes what there is from its first height', () => {
  const pending = createPendingWrites<NamedBlock>()
  void pending.add([], { from: 5, to: 7 }, new Promise(() => undefined))
  assert.deepEqual([pending.floor(), pending.head()], [5, -1])
})

test('pending blocks from the first height of a removal to its last are gone', () => {
  const pending = createPendingWrites<NamedBlock>()
  const never = new Promise(() => undefined)
  void pending.add(
    [4, 5, 7, 8].map((number) => block(number)),
    null,
    never,
  )
  void pending.add([], { from: 5, to: 7 }, never)
  assert.deepEqual([4, 5, 7, 8].map(pending.at), [block(4), undefined, undefined, block(8)])
})

test('waiting for fewer writes than two goes on when one of two is done', async () => {
  const pending = createPendingWrites<NamedBlock>()
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  void pending.add([block(1)], null, first.promise)
  await pending.below(2)
  void pending.add([block(2)], null, second.promise)
  const waited = pending.below(2)
  assert.equal(await isSettled(waited), false)
  first.resolve()
  await waited
  const drained = pending.drain()
  assert.equal(await isSettled(drained), false)
  second.resolve()
  await drained
})

test('a write that failed is thrown to whoever adds, waits, or drains later', async () => {
  const pending = createPendingWrites<NamedBlock>()
  const write = Promise.withResolvers<void>()
  const added = pending.add([block(1)], null, write.promise)
  const waited = pending.below(1)
  write.reject(new Error('the disk is full'))
  await assert.rejects(added, /the disk is full/)
  await assert.rejects(waited, /the disk is full/)
  await pending.add([block(2)], null, Promise.resolve())
  assert.equal(await isSettled(pending.below(2)), true)
  await assert.rejects(pending.drain(), /the disk is full/)
})
