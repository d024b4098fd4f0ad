/** What a follower is sent next of who sealed and signed a block that it has. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import type { HostFrame } from '../../../src/follow/host-frames.ts'
import type { Due, Following } from '../../../src/host/follow/following.ts'
import type { Moment } from '../../../src/host/follow/moments.ts'
import { createVoteBook, noteBlock, sentOf } from '../../../src/host/follow/vote-book.ts'
import { nextVotes } from '../../../src/host/follow/vote-frames.ts'
import { runtimeVersion } from '../../../src/lens/program/run-limits.ts'
import type { RowStatement } from '../../../src/row-votes/row-statement.ts'
import {
  decodeStatementExcerpt,
  encodeStatementExcerpt,
  excerptOf,
} from '../../../src/row-votes/statement-excerpt.ts'
import { namedHash, opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { openTestStore } from '../../support/test-store.ts'
import { hostedView } from '../views/engine/support/engine-room.ts'

const height = 5
const { hash } = opaqueBlock(height).header
const own = 'aa'.repeat(33)
const key = (index: number): string => index.toString(16).padStart(66, '0')
const template = hostedView()

interface Scene {
  /** Views that are followed, of which the Host is done with the block. */
  readonly done?: readonly string[]
  /** Views that are followed, and not computed. */
  readonly late?: readonly string[]
  /** Views of which the block was not sent yet. */
  readonly unsent?: readonly string[]
  readonly statements?: readonly RowStatement[]
  /** Seals of the block. Default none. */
  readonly seals?: number
  /** Whether what was sent of the block is still known. Default true. */
  readonly isKnown?: boolean
}

const signed = (host: string, views: readonly string[], runtime = runtimeVersion): RowStatement =>
  opaqueStatement(height, hash, { host, views, runtime })

/** A follower that has the block; `next` takes one step and returns its frame. */
async function open(t: TestContext, scene: Scene) {
  const { done = [], late = [], unsent = [], isKnown = true } = scene
  const store = await openTestStore(t)
  const sealsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => opaqueSeal(height, 'main', key(index)))
  await store.putSealedBlock({ ...opaqueBlock(height), seals: sealsOf(scene.seals ?? 0) })
  const book = createVoteBook(own)
  const following: Following = {
    epoch: 0,
    book,
    positions: [...done, ...late, ...unsent].map((name) => ({
      ...{ view: { ...template, id: namedHash(name), name }, withRows: true, from: 0, blocks: [] },
      ...{
        next: unsent.includes(name) ? height : height + 1,
        part: null,
        retract: null,
        gap: null,
      },
    })),
  }
  if (isKnown) sentOf(book, height, hash)
  noteBlock(book, height)
  let statements = scene.statements ?? []
  const step = (moment: Moment, at: number): HostFrame | null => {
    const due: Due = nextVotes(following, moment, at)
    const frame = due.frame?.() ?? null
    due.done()
    return frame
  }
  return {
    store,
    book,
    sealsOf,
    say: (...more: readonly RowStatement[]) => {
      statements = [...statements, ...more]
    },
    next: (at = height) =>
      store.reader.read((snapshot) =>
        step(
          {
            snapshot,
            standing: (view) => {
              const isDone = [...done, ...unsent].some((name) => namedHash(name) === view.id)
              return {
                ...view,
                done: isDone ? [[height, height]] : [],
                failed: [],
                isStopped: false,
              }
            },
            statements: () => statements,
          },
          at,
        ),
      ),
  }
}

/** The Views that a frame says something of, by who signed. */
function saidOf(frame: HostFrame | null): [host: string, views: number][] {
  const excerpts = frame?.kind === 'statement' ? [frame.excerpt] : []
  const all = frame?.kind === 'votes' ? frame.excerpts : excerpts
  return all.map((bytes) => {
    const { signatureIdentity, leaves } = decodeStatementExcerpt(bytes)
    return [signatureIdentity, leaves.length]
  })
}

test('seals come 64 in a frame, and all of them again when there are others', async (t) => {
  const { next, store, sealsOf } = await open(t, { seals: 130 })
  const counts = (): number[] =>
    [1, 2, 3].map(() => {
      const frame = next()
      assert.ok(frame?.kind === 'seals' && frame.number === height && frame.hash === hash)
      return frame.seals.length
    })
  assert.deepEqual(counts(), [64, 64, 2])
  assert.equal(next(), null)
  await store.putSeals(height, [...sealsOf(131).slice(130), opaqueSeal(height, 'fork')])
  assert.deepEqual(counts(), [64, 64, 3])
})

test('of a block that is gone, or is another one, nothing is known any more', async (t) => {
  const { next, book } = await open(t, { seals: 1 })
  sentOf(book, 9, namedHash('gone'))
  sentOf(book, height, namedHash('another'))
  noteBlock(book, 9)
  for (const at of [9, height]) assert.equal(next(at), null)
  assert.deepEqual([[...book.sent.keys()], book.dirty, book.pending], [[], [], []])
})

test('what this Host signed is sent again only where it says more of what the follower has', async (t) => {
  const { next, say, book } = await open(t, {
    done: ['A', 'B'],
    unsent: ['C'],
    statements: [signed(own, ['A', 'C', 'Z'])],
  })
  assert.deepEqual(saidOf(next()), [[own, 1]])
  assert.equal(next(), null)
  assert.deepEqual([book.dirty, book.pending], [[], [[height, height]]])
  say(signed(own, ['A', 'C']), signed(own, ['A', 'B']))
  assert.deepEqual(saidOf(next()), [[own, 2]])
  assert.equal(next(), null)
  assert.deepEqual([book.dirty, book.pending], [[], []])
})

test('of what this Host signed the statement about most Views is sent first', async (t) => {
  const statements = [['A'], ['A', 'B', 'C'], ['A', 'B']].map((views) => signed(own, views))
  const { next } = await open(t, { done: ['A', 'B', 'C'], statements })
  assert.deepEqual(saidOf(next()), [[own, 3]])
  assert.equal(next(), null)
})

test('a View that the Host cannot sign is not waited for', async (t) => {
  const { next, book } = await open(t, {
    done: ['A'],
    late: ['B'],
    statements: [signed(own, ['A'])],
  })
  assert.deepEqual(saidOf(next()), [[own, 1]])
  assert.equal(next(), null)
  assert.deepEqual(book.pending, [])
})

test('of older blocks what this Host signed is sent, once it did, and nothing else', async (t) => {
  const { next, say, book } = await open(t, {
    done: ['A', 'B'],
    seals: 1,
    isKnown: false,
    statements: [signed(key(1), ['A']), signed(own, ['A'])],
  })
  assert.deepEqual(saidOf(next()), [[own, 1]])
  assert.deepEqual([book.dirty, book.pending], [[], [[height, height]]])
  say(signed(own, ['A', 'B']))
  assert.deepEqual(saidOf(next()), [[own, 2]])
  assert.deepEqual(book.pending, [])
})

test('a block that this Host has not signed waits for that, however old it is', async (t) => {
  for (const isKnown of [true, false]) {
    const { next, book } = await open(t, { done: ['A'], isKnown })
    assert.equal(next(), null)
    assert.deepEqual([book.dirty, book.pending], [[], [[height, height]]])
  }
})

test('nothing is sent about other blocks, other runtimes and other Views', async (t) => {
  const { next, book } = await open(t, {
    done: ['A'],
    statements: [
      signed(own, ['A'], runtimeVersion + 1),
      opaqueStatement(height, namedHash('another'), {
        ...{ host: own, views: ['A'], runtime: runtimeVersion },
      }),
      signed(key(1), ['Z']),
    ],
  })
  assert.equal(next(), null)
  assert.deepEqual(book.dirty, [])
  // So it is not noted again and again.
  const { root } = signed(key(1), ['Z'])
  assert.equal(book.sent.get(height)?.leaves.get(`${key(1)} ${root}`), 0)
})

test('what others signed comes 64 in a frame, each once', async (t) => {
  const hosts = Array.from({ length: 70 }, (_, index) => key(index))
  const { next, say } = await open(t, {
    done: ['A'],
    statements: hosts.map((host) => signed(host, ['A'])),
  })
  assert.deepEqual(saidOf(next()).length, 64)
  assert.deepEqual(saidOf(next()).length, 6)
  assert.equal(next(), null)
  say(signed(key(70), ['A']))
  assert.deepEqual(saidOf(next()), [[key(70), 1]])
})

test('what others signed of many Views comes in frames of half the bytes that one may have', async (t) => {
  const views = Array.from({ length: 64 }, (_, index) => `View ${index}`)
  const statements = Array.from({ length: 60 }, (_, index) => signed(key(index), views))
  const [first = assert.fail()] = statements
  const excerpt = excerptOf(first, new Set(views.map((name) => namedHash(name))))
  const { length } = encodeStatementExcerpt(excerpt ?? assert.fail())
  const fitting = Math.floor(followLimits.partBytes / 2 / length)
  assert.ok(fitting > 1 && fitting < 60)
  const { next } = await open(t, { done: views, statements })
  assert.equal(saidOf(next()).length, fitting)
  assert.equal(saidOf(next()).length, Math.min(fitting, 60 - fitting))
})
