/** Rows that take long to read, while the thread has other things to do. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSlices } from '../../../src/app/follow/slices.ts'
import { createSigner } from '../../../src/identity/signature.ts'
import { connect, madeBlocks, type OpenedFollower, storedTo } from '../support/follower-stream.ts'
import { type MadeBlock, madeRows, madeView } from '../support/made-chain.ts'
import { openTestFollower } from '../support/test-follower.ts'

const host = createSigner({ type: 'Ed25519', privateKey: new Uint8Array(32).fill(7) })

/** Longer than a slice. */
function takeLong(): void {
  const startMs = performance.now()
  while (performance.now() - startMs < 5);
}

/** Pieces that take longer than a slice; each notes when it is done. */
function* longPieces(name: string, pieces: number, done: string[]): Generator<void, string, void> {
  for (let piece = 0; piece < pieces; piece++) {
    takeLong()
    done.push(`${name} ${piece}`)
    yield
  }
  return name
}

function* shortPieces(pieces: number): Generator<void, number, void> {
  for (let piece = 0; piece < pieces; piece++) yield
  return pieces
}

test('work of several takes turns, a slice in each, and comes to its end', async () => {
  const slices = createSlices(nextTurn)
  const done: string[] = []
  const work = ['a', 'b'].map((name) => slices.run(longPieces(name, 3, done), () => true))
  assert.deepEqual(done, [])
  assert.deepEqual(await Promise.all(work), ['a', 'b'])
  assert.deepEqual(done, ['a 0', 'b 0', 'a 1', 'b 1', 'a 2', 'b 2'])
})

test('short work shares a slice, whose end is that of all', async () => {
  let turns = 0
  const slices = createSlices(async () => {
    turns += 1
    await nextTurn()
  })
  const count = 10_000
  assert.equal(await slices.run(shortPieces(count), () => true), count)
  for (let index = 0; index < count; index++) await slices.run(shortPieces(1), () => true)
  assert.ok(turns < count / 10, `${turns} turns`)
  takeLong()
  const before = turns
  await slices.run(shortPieces(0), () => true)
  assert.equal(turns, before + 1)
})

test('work that is not wanted any more is left, and a piece that fails ends it', async () => {
  const slices = createSlices(nextTurn)
  const done: string[] = []
  const isWanted = (): boolean => done.length < 2
  assert.equal(await slices.run(longPieces('a', 5, done), isWanted), undefined)
  assert.deepEqual(done, ['a 0', 'a 1'])
  const failing = {
    next: () => {
      throw new Error('malformed')
    },
  }
  await assert.rejects(
    slices.run(failing, () => true),
    /malformed/,
  )
})

/** A follower, and a block that takes many slices to read. */
async function openLarge(t: TestContext): Promise<{ opened: OpenedFollower; block: MadeBlock }> {
  const opened = await openTestFollower(t, { views: [madeView], hosts: [host.identity] })
  const [block] = madeBlocks(1)
  assert.ok(block)
  return { opened, block: { ...block, rows: madeRows('large', 0, 100_000) } }
}

test('the event loop goes on while the rows of a large block are read', async (t) => {
  const { opened, block } = await openLarge(t)
  const stream = await connect(t, opened, host)
  let [isRead, turns] = [false, 0]
  const reading = stream.feed([block]).then(() => {
    isRead = true
  })
  for (; !isRead; turns++) await nextTurn()
  await reading
  assert.ok(turns > 3, `${turns} turns`)
  await storedTo(opened, 0)
})

test('a stream that is aborted while its rows are read adds none of them', async (t) => {
  const { opened, block } = await openLarge(t)
  const stream = await connect(t, opened, host)
  const reading = stream.feed([block], true)
  await nextTurn()
  stream.end()
  await reading
  const { pending } = opened.follower.progress(madeView)
  assert.deepEqual([pending, stream.progress.count], [0, 0])
})
