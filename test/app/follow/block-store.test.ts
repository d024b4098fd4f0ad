/** What an application keeps of the blocks that it follows, on disk. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { type BlockStore, createBlockStore } from '../../../src/app/follow/block-store.ts'
import type { PendingBlock } from '../../../src/app/follow/pending-blocks.ts'
import type { KnownView } from '../../../src/app/followed-views.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import { excerptOf, type StatementExcerpt } from '../../../src/row-votes/statement-excerpt.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import { namedHash, opaqueNetwork, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { testDirectory } from '../../support/test-store.ts'
import { madeRows, madeSdl } from '../support/made-chain.ts'
import { pendingBlock } from '../support/pending-block.ts'

const view: KnownView = {
  ...{ id: namedHash('a View'), sdl: madeSdl, rowType: parseRowType(madeSdl) },
  ...{ slot: 1, name: 'Payment' },
}
const otherView: KnownView = { ...view, id: namedHash('another View'), slot: 2, name: 'Refund' }
const hostA = '02'.repeat(33)
const hostB = '03'.repeat(33)

interface Opened {
  readonly blocks: BlockStore
  readonly store: StoreWriter
}

async function open(t: TestContext): Promise<Opened> {
  const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null } as const
  const store = await openWriter({ ...options, program: 'app' }, { log: pino({ enabled: false }) })
  t.after(() => store.close())
  return { blocks: createBlockStore(store), store }
}

const block = (number: number, branch = 'a'): PendingBlock =>
  pendingBlock(number, { branch, rows: madeRows(branch, number, 1) })
const hashOf = (number: number, branch = 'a'): string => namedHash(`${branch} ${number}`)
const nothing = { seals: () => [], excerpts: () => [] }

/** Stores these blocks with rows of a View. */
async function put(
  { blocks }: Opened,
  numbers: readonly number[],
  { branch = 'a', removeAbove = null as number | null } = {},
): Promise<void> {
  const list = numbers.map((number) => block(number, branch))
  await blocks.put(view, list, removeAbove, nothing)
}

/** What a Generator sealed of a block; nothing in it would verify. */
function seal(number: number, by: string, root: string, branch = 'a'): Seal {
  const sealed = { blockHash: hashOf(number, branch), merkleRoot: namedHash(root).slice(2) }
  return { ...opaqueSeal(number), ...sealed, signatureIdentity: namedHash(by).slice(2) }
}

interface Said {
  readonly host?: string
  readonly branch?: string
  readonly runtime?: number
  /** Of the Views that the Host speaks of. */
  readonly names?: readonly string[]
  /** Of those in the excerpt; all by default. */
  readonly only?: readonly string[]
}

/** What a Host says of Views. */
function said(number: number, options: Said = {}): StatementExcerpt {
  const { host = hostA, branch = 'a', runtime = 1, names = ['a View'], only = names } = options
  const parts = { host, views: names, runtime }
  const statement = opaqueStatement(number, hashOf(number, branch), parts)
  return excerptOf(statement, new Set(only.map(namedHash))) ?? assert.fail('it says nothing')
}

const viewsOf = (excerpts: readonly StatementExcerpt[]): string[][] =>
  excerpts.map(({ leaves }) => leaves.map(({ view: id }) => id))

const rootAt = ({ blocks }: Opened, number: number): string | undefined =>
  blocks.read((snapshot) => snapshot.rowBlocks.header(number)?.root)

test('an empty store has no head, and nothing at any height', async (t) => {
  const { blocks } = await open(t)
  assert.deepEqual([blocks.tail(), blocks.head()], [0, -1])
  assert.equal(blocks.hashAt(0), undefined)
  assert.equal(blocks.parentAt(0), undefined)
  assert.equal(blocks.doneBelow(view, 100), null)
  assert.equal(blocks.isDone(view, 0), false)
})

test('blocks are stored with their parents, and their rows for the View that made them', async (t) => {
  const opened = await open(t)
  await put(opened, [3, 4])
  const { blocks } = opened
  assert.deepEqual([blocks.tail(), blocks.head(), blocks.hashAt(4)], [3, 4, hashOf(4)])
  assert.equal(blocks.parentAt(4), hashOf(3))
  assert.deepEqual(
    [2, 3, 4, 5].map((number) => blocks.hasRows(view, number)),
    [false, true, true, false],
  )
  assert.deepEqual(
    [3, 4].map((number) => blocks.isDone(otherView, number)),
    [false, false],
  )
})

test('a block at which a View failed is done, has no rows, and says why', async (t) => {
  const { blocks } = await open(t)
  await blocks.putFailure(view, pendingBlock(3, { rows: null }), 'no Host has it')
  assert.deepEqual([blocks.isDone(view, 3), blocks.hasRows(view, 3)], [true, false])
  const failure = blocks.read((snapshot) => snapshot.viewFailure(view.slot, 3))
  assert.match(Buffer.from(failure ?? []).toString(), /APP_ROWS_MISSING.*no Host has it/)
})

test('a block without rows in a list of blocks to store is stored as one that is not done', async (t) => {
  const { blocks } = await open(t)
  await blocks.put(view, [block(3), pendingBlock(4, { rows: null })], null, nothing)
  assert.deepEqual([blocks.hashAt(4), blocks.isDone(view, 4)], [hashOf(4), false])
})

test('what lies below the rows that are kept counts as done', async (t) => {
  const opened = await open(t)
  await put(opened, [40, 41])
  await opened.store.pruneRowsBelow(41)
  assert.deepEqual(
    [39, 40, 41, 42].map((number) => opened.blocks.isDone(view, number)),
    [true, true, true, false],
  )
})

test('the height below one at which a View is done is that of rows or of a failure', async (t) => {
  const opened = await open(t)
  await put(opened, [3, 4, 5])
  await opened.blocks.putFailure(view, pendingBlock(8, { rows: null }), 'none')
  const below = (number: number): number | null => opened.blocks.doneBelow(view, number)
  assert.deepEqual([3, 4, 5, 6, 8, 9, 50].map(below), [null, 3, 4, 5, 5, 8, 8])
})

test('blocks that stand on a lower one replace what was above it', async (t) => {
  const opened = await open(t)
  await put(opened, [3, 4, 5])
  await put(opened, [4], { branch: 'b', removeAbove: 3 })
  const { blocks } = opened
  assert.deepEqual([3, 4, 5].map(blocks.hashAt), [hashOf(3), hashOf(4, 'b'), undefined])
  assert.equal(blocks.head(), 4)
})

test('the root of a block is the one that most Generators sealed, as soon as they did', async (t) => {
  const opened = await open(t)
  const { blocks } = opened
  const seals = [seal(3, 'one', 'wrong')]
  await blocks.put(view, [block(3)], null, { ...nothing, seals: () => seals })
  assert.equal(rootAt(opened, 3), namedHash('wrong').slice(2))
  const place = { number: 3, hash: hashOf(3) }
  const more = [seal(3, 'two', 'right'), seal(3, 'three', 'right')]
  assert.equal(await blocks.addSeals(place, more), true)
  assert.equal(rootAt(opened, 3), namedHash('right').slice(2))
  assert.equal(blocks.sealers(place).size, 3)
  assert.equal(await blocks.addSeals(place, [seal(3, 'four', 'right')]), true)
  assert.equal(await blocks.addSeals(place, [seal(3, 'five', 'wrong')]), true)
  assert.equal(rootAt(opened, 3), namedHash('right').slice(2), 'those that are stored count')
  assert.equal(blocks.sealers(place).size, 5)
})

test('a block that nobody sealed has no root, and seals of others at its height give it none', async (t) => {
  const opened = await open(t)
  const { blocks } = opened
  const seals = [seal(3, 'one', 'other', 'b')]
  await blocks.put(view, [block(3, 'b')], null, { ...nothing, seals: () => seals })
  await put(opened, [3], { removeAbove: 2 })
  assert.equal(rootAt(opened, 3), '0'.repeat(64))
  assert.deepEqual(blocks.sealers({ number: 3, hash: hashOf(3) }), new Set())
})

test('seals of a block that is not stored are refused, and no seals change nothing', async (t) => {
  const opened = await open(t)
  const { blocks } = opened
  await put(opened, [3])
  const away = { number: 3, hash: hashOf(3, 'b') }
  assert.equal(await blocks.addSeals(away, [seal(3, 'one', 'right', 'b')]), false)
  assert.deepEqual(blocks.sealers(away), new Set())
  assert.equal(blocks.hashAt(3), hashOf(3))
  assert.equal(await blocks.addSeals({ number: 4, hash: hashOf(4) }, []), false)
  assert.equal(await blocks.addSeals({ number: 3, hash: hashOf(3) }, []), true)
})

test('what a Host signed is stored with its block, and read of that block alone', async (t) => {
  const { blocks } = await open(t)
  const excerpts = (number: number): StatementExcerpt[] => [said(number)]
  await blocks.put(view, [block(3), block(4)], null, { ...nothing, excerpts })
  assert.deepEqual(blocks.excerpts(4, hashOf(4)), [said(4)])
  assert.deepEqual(blocks.excerpts(4, hashOf(4, 'b')), [])
})

test('what a Host signed of a block that is not stored is refused', async (t) => {
  const opened = await open(t)
  await put(opened, [3])
  assert.equal(await opened.blocks.addStatement(said(3, { branch: 'b' })), false)
  assert.equal(await opened.blocks.addStatement(said(4)), false)
  assert.deepEqual(opened.blocks.excerpts(3, hashOf(3, 'b')), [])
  assert.equal(await opened.blocks.addStatement(said(3)), true)
  assert.deepEqual(opened.blocks.excerpts(3, hashOf(3)), [said(3)])
})

const names = ['a View', 'another View']
const both = said(3, { names })
const first = said(3, { names, only: ['a View'] })
const second = said(3, { names, only: ['another View'] })

test('the leaves of one statement are kept together, though they come with different Views', async (t) => {
  const { blocks } = await open(t)
  await blocks.put(view, [block(3)], null, { ...nothing, excerpts: () => [first] })
  await blocks.put(otherView, [block(3)], null, { ...nothing, excerpts: () => [second] })
  assert.deepEqual(blocks.excerpts(3, hashOf(3)), [both])
})

test('what two Hosts signed alike is not put together, though it comes with different Views', async (t) => {
  const { blocks } = await open(t)
  const other = said(3, { names, only: ['another View'], host: hostB })
  await blocks.put(view, [block(3)], null, { ...nothing, excerpts: () => [first] })
  await blocks.put(otherView, [block(3)], null, { ...nothing, excerpts: () => [other] })
  assert.deepEqual(blocks.excerpts(3, hashOf(3)), [first, other])
})

test('the leaves of one statement are kept together, though they come after the block', async (t) => {
  const opened = await open(t)
  await put(opened, [3])
  for (const excerpt of [first, second]) await opened.blocks.addStatement(excerpt)
  assert.deepEqual(opened.blocks.excerpts(3, hashOf(3)), [both])
})

test('the same said by two Hosts, or of two versions of the runtime, are two statements', async (t) => {
  const opened = await open(t)
  await put(opened, [3])
  const all = [said(3), said(3, { host: hostB }), said(3, { runtime: 2 })]
  for (const excerpt of all) await opened.blocks.addStatement(excerpt)
  const stored = opened.blocks.excerpts(3, hashOf(3))
  assert.equal(stored.length, 3)
  for (const excerpt of all)
    assert.ok(stored.some((each) => JSON.stringify(each) === JSON.stringify(excerpt)))
})

test('the leaves of statements of two versions of the runtime are kept apart', async (t) => {
  const opened = await open(t)
  await put(opened, [3])
  const newer = said(3, { names, only: ['another View'], runtime: 2 })
  for (const excerpt of [first, newer]) await opened.blocks.addStatement(excerpt)
  const stored = opened.blocks.excerpts(3, hashOf(3))
  assert.deepEqual(
    stored.toSorted((a, b) => a.runtime - b.runtime),
    [first, newer],
  )
})

test('a later statement that contains an earlier one of its Host takes its place', async (t) => {
  const opened = await open(t)
  await put(opened, [3])
  const other = said(3, { host: hostB })
  for (const excerpt of [said(3), other, both]) await opened.blocks.addStatement(excerpt)
  const stored = opened.blocks.excerpts(3, hashOf(3))
  assert.deepEqual(
    new Map(stored.map((each) => [each.signatureIdentity, viewsOf([each])])),
    new Map([
      [hostA, viewsOf([both])],
      [hostB, viewsOf([other])],
    ]),
  )
  await opened.blocks.addStatement(said(3))
  assert.equal(opened.blocks.excerpts(3, hashOf(3)).length, 2, 'it is said already')
})

test('of more statements of one Host than are kept the others go, and another Host keeps its own', async (t) => {
  const opened = await open(t)
  await put(opened, [3])
  const runtimesOf = (host: string): number[] =>
    opened.blocks
      .excerpts(3, hashOf(3))
      .filter(({ signatureIdentity }) => signatureIdentity === host)
      .map(({ runtime }) => runtime)
      .sort((a, b) => a - b)
  for (const runtime of [6, 5, 4, 3])
    for (const host of [hostA, hostB]) await opened.blocks.addStatement(said(3, { host, runtime }))
  assert.deepEqual(runtimesOf(hostA), [3, 4, 5, 6])
  await opened.blocks.addStatement(said(3, { runtime: 2 }))
  assert.deepEqual(runtimesOf(hostA), [2, 3, 4, 5])
  assert.equal(await opened.blocks.addStatement(said(3, { runtime: 7 })), true)
  assert.deepEqual(runtimesOf(hostA), [2, 3, 4, 5])
  assert.deepEqual(runtimesOf(hostB), [3, 4, 5, 6])
})
