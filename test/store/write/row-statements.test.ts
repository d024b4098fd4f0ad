/** What Hosts signed of the rows of Views, kept beside them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeRowStatement } from '../../../src/row-votes/row-statement.ts'
import {
  excerptOf,
  mergeExcerpts,
  type StatementExcerpt,
} from '../../../src/row-votes/statement-excerpt.ts'
import { decodeViewBlock, encodeViewBlock } from '../../../src/store/disk/view-layout.ts'
import type { StatementPlace, StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { namedHash, opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'
import { viewBlock } from '../../support/view-rows.ts'

const hashAt = (height: number, branch = 'main'): string =>
  opaqueBlock(height, 50, branch).header.hash
const slot = 3
const placeOf = (statement: StatementPlace): StatementPlace => {
  const { blockNumber, blockHash, runtime, root, signatureIdentity } = statement
  return { blockNumber, blockHash, runtime, root, signatureIdentity }
}

async function put(store: StoreWriter, from: number, to: number): Promise<void> {
  for (let height = from; height <= to; height++) {
    void store.putBlock(opaqueBlock(height, 50))
    void store.putRowStatements(height, [opaqueStatement(height, hashAt(height))])
  }
  await store.flushed()
  await store.prune()
}

describe('statements about rows', () => {
  it('are kept for each Host, block, runtime and root, and go where they are outdated', async (t) => {
    const store = await openTestStore(t)
    await store.putBlock(opaqueBlock(5, 50))
    const hash = hashAt(5)
    const first = opaqueStatement(5, hash)
    const further = opaqueStatement(5, hash, { views: ['a View', 'another'] })
    const others = [
      opaqueStatement(5, hash, { host: '03'.repeat(33) }),
      opaqueStatement(5, hash, { host: 'ab'.repeat(32) }),
      opaqueStatement(5, hash, { runtime: 2 }),
      opaqueStatement(5, hashAt(5, 'other')),
    ]
    await store.putRowStatements(5, [first, ...others])
    await store.putRowStatements(5, [further, first], [])
    const all = store.reader.read((snapshot) => snapshot.rowStatements(5))
    const textOf = (each: object): string => JSON.stringify(each)
    assert.deepEqual(new Set(all.map(textOf)), new Set([first, further, ...others].map(textOf)))
    assert.equal(all.length, 6)
    await store.putRowStatements(5, [], [first])
    store.reader.read((snapshot) => {
      assert.equal(snapshot.rowStatements(5).length, 5)
      assert.ok(!snapshot.rowStatements(5).map(textOf).includes(textOf(first)))
      assert.deepEqual(snapshot.rowStatements(4), [])
      assert.deepEqual(snapshot.rowStatements(6), [])
    })
  })

  it('are kept in pieces of a page, and go with all of them', async (t) => {
    const store = await openTestStore(t)
    const hash = hashAt(5)
    const statements = [1, 26, 27, 28, 54, 1_000].map((count) => {
      const views = Array.from({ length: count }, (_, index) => `View ${index}`)
      return opaqueStatement(5, hash, { views, host: `${count}`.padStart(66, '0') })
    })
    // The key of this one begins those of another one's pieces.
    const host = '02'.repeat(32)
    const alike = opaqueStatement(5, hash, { host })
    await store.putRowStatements(5, [...statements, alike])
    const read = (): readonly object[] =>
      store.reader.read((snapshot) => snapshot.rowStatements(5)).map(placeOf)
    const inOrder = [...statements, alike].map(placeOf).sort((a, b) => (a.root < b.root ? -1 : 1))
    store.reader.read((snapshot) => {
      assert.deepEqual([...snapshot.rowStatementPlaces(5, 5)], inOrder)
      for (const statement of [...statements, alike]) {
        const message = snapshot.rowStatementMessage(placeOf(statement))
        assert.deepEqual(message, Buffer.from(encodeRowStatement(statement)))
      }
    })
    assert.deepEqual(read(), inOrder)
    await store.putRowStatements(5, [], statements)
    assert.deepEqual(read(), [placeOf(alike)])
    await store.putRowStatements(5, [], [alike])
    const keys = store.reader.read((snapshot) => [...snapshot.rowStatementPlaces(0, 100)])
    assert.deepEqual(keys, [])
  })

  it('that cannot be read are left out, with a warning', async (t) => {
    const { log, messages } = captureLog()
    const path = testDirectory(t)
    const store = await openWriter({ path, network: opaqueNetwork, retainBlocks: null }, { log })
    t.after(() => store.close())
    const hash = hashAt(5)
    const [damaged, whole] = [opaqueStatement(5, hash, { runtime: 2 }), opaqueStatement(5, hash)]
    await store.putRowStatements(5, [{ ...damaged, signatureValue: '' }, whole])
    assert.deepEqual(
      store.reader.read((snapshot) => snapshot.rowStatements(5)),
      [whole],
    )
    const warning = 'a statement about rows cannot be read, it is left out'
    assert.deepEqual(messages('warn'), [warning])
  })

  it('count for the block that is there, where they are of the runtime that is asked for', async (t) => {
    const store = await openTestStore(t)
    await store.putBlock(opaqueBlock(5, 50))
    const [own, other, later] = ['03'.repeat(33), '04'.repeat(33), '05'.repeat(33)] as const
    const hosts = new Set([own, other, later])
    await store.putRowStatements(5, [
      opaqueStatement(5, hashAt(5), { host: own }),
      opaqueStatement(5, hashAt(5, 'other'), { host: other }),
      opaqueStatement(5, hashAt(5), { host: later, runtime: 2 }),
    ])
    const view = namedHash('a View')
    const votes = () => store.reader.read((snapshot) => snapshot.rowVotes(view, 5)?.votes)
    assert.equal(votes(), undefined)
    for (const [runtime, counted] of [
      [1, own],
      [2, later],
    ] as const) {
      store.reader.countRowVotesOf({ hosts, runtime })
      assert.deepEqual(
        votes()?.map((vote) => vote.hosts),
        [[counted]],
      )
    }
  })

  it('stay when a reorganisation takes their block away', async (t) => {
    const store = await openTestStore(t)
    await put(store, 1, 3)
    await store.truncateAbove(1)
    const kept = store.reader.read((snapshot) => snapshot.rowStatements(2))
    assert.deepEqual(kept, [opaqueStatement(2, hashAt(2))])
  })

  it('go with the rows of their height, and none is stored below those', async (t) => {
    const store = await openTestStore(t, 40, { retainRows: 100 })
    await put(store, 1, 200)
    const kept = (height: number): number =>
      store.reader.read((snapshot) => snapshot.rowStatements(height).length)
    assert.deepEqual([1, 95, 101, 110, 200].map(kept), [0, 0, 1, 1, 1])
    assert.equal(await store.putRowStatements(100, [opaqueStatement(100, hashAt(100))]), false)
    assert.equal(await store.putRowStatements(101, [opaqueStatement(101, hashAt(101))]), true)
    assert.equal(kept(100), 0)
  })

  it('go where nothing else is left of their height', async (t) => {
    const store = await openTestStore(t, 40)
    await store.putBlock(opaqueBlock(200, 50))
    await store.putRowStatements(170, [opaqueStatement(170, hashAt(170))])
    await put(store, 201, 400)
    assert.deepEqual(
      store.reader.read((snapshot) => snapshot.rowStatements(170)),
      [],
    )
  })
})

/** What the statement about 1,000 Views says of those with these numbers. */
function excerptAt(from: number, to: number, host?: string): StatementExcerpt {
  const names = Array.from({ length: 1_000 }, (_, index) => `View ${index}`)
  const statement = opaqueStatement(5, hashAt(5), { views: names, ...(host && { host }) })
  const views = names.slice(from, to).map(namedHash)
  return excerptOf(statement, new Set(views)) ?? assert.fail()
}

describe('excerpts of statements', () => {
  it('are kept beside statements, counted with them, and never sent as one', async (t) => {
    const store = await openTestStore(t)
    await store.putBlock(opaqueBlock(5, 50))
    const hosts = ['03'.repeat(33), '04'.repeat(33)]
    store.reader.countRowVotesOf({ hosts: new Set(hosts), runtime: 1 })
    const [excerpt, whole] = [
      excerptAt(3, 5, hosts[0]),
      opaqueStatement(5, hashAt(5), { views: ['View 3'], host: '04'.repeat(33) }),
    ]
    await store.putRowStatements(5, [excerpt, whole])
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.statementExcerpts(5), [excerpt])
      assert.deepEqual(snapshot.rowStatements(5), [whole])
      assert.deepEqual(snapshot.rowVotes(namedHash('View 3'), 5)?.votes[0]?.hosts, hosts)
      assert.deepEqual(snapshot.rowVotes(namedHash('View 4'), 5)?.votes[0]?.hosts, [hosts[0]])
      assert.equal(snapshot.rowVotes(namedHash('View 5'), 5), undefined)
      assert.equal([...snapshot.rowStatementPlaces(5, 5)].length, 2)
      assert.equal(snapshot.rowStatementMessage(placeOf(excerpt)), undefined)
      assert.ok(snapshot.rowStatementMessage(placeOf(whole)) !== undefined)
    })
    await store.putRowStatements(5, [], [excerpt])
    store.reader.read((snapshot) => {
      assert.deepEqual([...snapshot.rowStatementPlaces(5, 5)], [placeOf(whole)])
    })
  })

  it('take the place of each other, a shorter one that of a longer one as well', async (t) => {
    const store = await openTestStore(t)
    const [long, short] = [excerptAt(0, 64), excerptAt(100, 101)]
    const read = (): readonly object[] =>
      store.reader.read((snapshot) => snapshot.statementExcerpts(5))
    await store.putRowStatements(5, [long])
    assert.deepEqual(read(), [long])
    await store.putRowStatements(5, [short])
    assert.deepEqual(read(), [short])
    await store.putRowStatements(5, [mergeExcerpts(short, excerptAt(0, 30))])
    assert.deepEqual(read(), [mergeExcerpts(excerptAt(0, 30), short)])
    await store.putRowStatements(5, [], [short])
    const keys = store.reader.read((snapshot) => [...snapshot.rowStatementPlaces(0, 100)])
    assert.deepEqual(keys, [])
  })
})

describe('the root of the rows of a block', () => {
  it('is kept with them, also where there are none', async (t) => {
    const store = await openTestStore(t)
    const block = opaqueBlock(7, 50)
    await store.putBlock(block)
    const made = viewBlock(block.header, [{ name: 'x' }, { name: 'y' }])
    const none = viewBlock(block.header, [])
    assert.ok('rows' in made && 'rows' in none)
    await store.putViewRows(slot, [made])
    await store.putViewRows(slot + 1, [none])
    await store.putEmptyViewBlocks([{ height: 7, blockHash: block.header.hash, slots: [slot + 2] }])
    store.reader.read((snapshot) => {
      assert.equal(snapshot.viewRows(slot, 7)?.root, made.rows.root)
      assert.equal(snapshot.viewRows(slot + 1, 7)?.root, none.rows.root)
      assert.equal(snapshot.viewRows(slot + 2, 7)?.root, none.rows.root)
    })
  })

  it('is unknown of rows that a program before it stored', () => {
    const block = { serial: 9, blockHash: hashAt(1), count: 2, bytes: 30, root: hashAt(2).slice(2) }
    const bytes = encodeViewBlock(block)
    assert.deepEqual(decodeViewBlock(bytes), block)
    assert.deepEqual(decodeViewBlock(bytes.subarray(0, 46)), { ...block, root: null })
    assert.deepEqual(encodeViewBlock({ ...block, root: null }), bytes.subarray(0, 46))
  })
})
