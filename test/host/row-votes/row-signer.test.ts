/** What a Host signs of the rows that it stores. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openRowSigner } from '../../../src/host/row-votes/row-signer.ts'
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import { type DigestSigner, isValidSignature } from '../../../src/identity/signature.ts'
import { type RowStatement, rowsDigest } from '../../../src/row-votes/row-statement.ts'
import { countRowVotes } from '../../../src/row-votes/row-votes.ts'
import { blockRoot, type ViewLeaf } from '../../../src/row-votes/view-leaf.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { oracleRoot } from '../../primitives/oracle.ts'
import { type ChainBlock, createChain, shapes } from '../../support/chain/block-factory.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { startChild } from '../../support/child-program.ts'
import { until } from '../../support/p2p-room.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'
import { viewBlock } from '../../support/view-rows.ts'
import { trustRows } from '../follow/support/follow-checks.ts'
import { engineChain, hostedView } from '../views/engine/support/engine-room.ts'
import { hostSigner, openSigningRoom, type SigningRoom } from './support/signing-room.ts'

const heights = (count: number, from = 100): number[] =>
  Array.from({ length: count }, (_, index) => from + index)
const logs = (slot: number): HostedView =>
  hostedView({ slot, sdl: `type Logs${slot} { address: String logIndex: Int }` })
const isLive = ({ name }: { name: string }): boolean => name === 'live'

/** What must be signed of a View, from its stored rows. */
function leafOf({ reader }: StoreWriter, { id, slot }: HostedView, height: number): ViewLeaf {
  return reader.read((snapshot) => {
    const rows = snapshot.viewRows(slot, height) ?? assert.fail('the View is done with the block')
    const bytes = Array.from({ length: rows.chunkCount }, (_, index) => rows.openChunk(index))
      .flatMap((chunk) => heights(chunk.length, chunk.first).map((at) => chunk.values(at)))
      .map((row) => Buffer.from(row))
    return { view: id, rowsRoot: oracleRoot(bytes).toString('hex'), count: rows.count }
  })
}

/** The same block, whose logs are all of one address. */
function withLogsOf(source: ChainBlock, address: string): ChainBlock {
  const receipts = source.receipts.map((receipt) => ({
    ...receipt,
    logs: receipt.logs?.map((log) => ({ ...log, address })),
  }))
  return { ...source, receipts }
}

/** The one statement at a height is of exactly these Views, with what is stored of them. */
function assertSigned(room: SigningRoom, height: number, views: readonly HostedView[]): void {
  const [statement, ...more] = room.statements(height)
  assert.ok(statement !== undefined, `height ${height} is signed`)
  assert.deepEqual(more, [])
  assertValid(statement)
  const leaves = views.map((view) => leafOf(room.store, view, height))
  const { hash } = room.store.reader.read((snapshot) => snapshot.header(height)) ?? assert.fail()
  assert.deepEqual(
    { height: statement.blockNumber, hash: statement.blockHash, leaves: statement.leaves },
    { height, hash, leaves: leaves.sort((a, b) => (a.view < b.view ? -1 : 1)) },
  )
}

/** A statement about the first block of a chain. */
function signedBy(
  signer: DigestSigner,
  [first]: ReturnType<typeof engineChain>,
  leaves: readonly ViewLeaf[],
): RowStatement {
  const block = { network: testNetwork, runtime: 1, blockNumber: 100 }
  const unsigned = { ...block, blockHash: first?.header.hash ?? '', root: blockRoot(leaves) }
  return {
    ...unsigned,
    leaves,
    signatureType: signer.type,
    signatureIdentity: signer.identity,
    signatureValue: signer.sign(rowsDigest(unsigned)),
  }
}

function assertValid(statement: RowStatement): void {
  const { network, runtime, signatureType, signatureIdentity, signatureValue } = statement
  assert.deepEqual([network, runtime, signatureIdentity], [testNetwork, 1, hostSigner.identity])
  const digest = rowsDigest(statement)
  assert.ok(isValidSignature(signatureType, signatureIdentity, digest, signatureValue))
}

describe('a Host', () => {
  it('signs each block once for all its Views, also where a View has no row', async (t) => {
    const room = await openSigningRoom(t)
    const views = [logs(1), logs(2), hostedView({ slot: 3, query: 'AccessListEntry { address }' })]
    room.serve(...views)
    await room.put(engineChain(12))
    await room.untilSigned(12)
    for (const height of heights(12)) assertSigned(room, height, views)
    assert.deepEqual(new Set(room.signed), new Set(['first']))
    const [statement] = room.statements(105)
    assert.ok(statement?.leaves.some(({ count }) => count === 0))
  })

  it('signs at once blocks with which Views are done as they are stored', async (t) => {
    const room = await openSigningRoom(t)
    const query = `Log(filter: {address: "0x${'ab'.repeat(20)}"}) { address }`
    const views = [
      hostedView({ slot: 1, query }),
      hostedView({ slot: 2, query, sdl: 'type Two { address: String }' }),
    ]
    room.serve(...views)
    const chain = engineChain(60)
    let stored = 0
    const putNext = async (): Promise<readonly number[]> => {
      const [block = assert.fail()] = chain.slice(stored, stored + 1)
      await room.put([block])
      stored += 1
      const done = room.store.reader.read((snapshot) =>
        views.filter(({ slot }) => snapshot.viewRanges(slot).at(-1)?.[1] === block.header.number),
      )
      await room.untilSigned(stored)
      return done.map(({ slot }) => slot)
    }
    while ((await putNext()).length < 2);
    for (let more = 0; more < 10; more++) assert.deepEqual(await putNext(), [1, 2])
    for (const height of heights(stored)) assertSigned(room, height, views)
    assert.deepEqual(new Set(room.signed), new Set(['first']))
  })

  it('signs further what a View made that was added later, in the place of the first', async (t) => {
    const room = await openSigningRoom(t)
    const [early, late] = [logs(1), logs(2)]
    await room.put(engineChain(8))
    room.serve(early)
    await room.untilSigned(8)
    room.serve(late)
    await room.untilSigned(16)
    for (const height of heights(8)) assertSigned(room, height, [early, late])
    assert.deepEqual(room.signed.slice(8), Array(8).fill('further'))
  })

  it('waits for a View that is not done, but not for long', async (t) => {
    const room = await openSigningRoom(t, { patienceMs: 50 })
    const [quick, never] = [logs(1), logs(2)]
    room.expect(never)
    room.serve(quick)
    await room.put(engineChain(3))
    await room.untilSigned(3)
    for (const height of heights(3)) assertSigned(room, height, [quick])
    room.engine.serve(never)
    await room.untilSigned(6)
    for (const height of heights(3)) assertSigned(room, height, [quick, never])
  })

  it('does not sign again after a restart, and signs what it had not', async (t) => {
    const path = testDirectory(t)
    const view = logs(1)
    let room = await openSigningRoom(t, { path })
    room.serve(view)
    await room.put(engineChain(5))
    await room.untilSigned(5)
    const before = heights(5).map(room.statements)
    await room.store.putRowStatements(103, [], room.statements(103))
    await room.close()
    room = await openSigningRoom(t, { path })
    room.serve(view)
    await room.untilSigned(1)
    await room.put(engineChain(6).slice(5))
    await room.untilSigned(2)
    assert.deepEqual(heights(5).map(room.statements), before)
    assert.deepEqual(room.signed, ['first', 'first'])
  })

  it('signs the block of another branch, and has no need to when the first one returns', async (t) => {
    const room = await openSigningRoom(t)
    const view = logs(1)
    const chain = engineChain(5)
    room.serve(view)
    await room.put(chain)
    await room.untilSigned(5)
    const before = room.statements(103)
    await room.replace(103, engineChain(5, 100, 'another').slice(3))
    await room.untilSigned(7)
    assert.equal(room.statements(103).length, 2)
    await room.replace(103, chain.slice(3))
    await room.put(engineChain(6).slice(5))
    await room.untilSigned(8)
    assert.equal(room.signed.length, 8)
    assert.deepEqual(
      room.statements(103).filter(({ blockHash }) => blockHash === before[0]?.blockHash),
      before,
    )
  })

  it('signs what another Host signed, whatever that was', async (t) => {
    const room = await openSigningRoom(t)
    const view = logs(1)
    const chain = engineChain(1)
    const leaves = [{ view: view.id, rowsRoot: 'ab'.repeat(32), count: 9 }]
    const foreign = signedBy(testSigner('another Host'), chain, leaves)
    await room.store.putRowStatements(100, [foreign])
    await room.put(chain)
    room.serve(view)
    await room.untilSigned(1)
    const own = room.statements(100).filter(({ root }) => root !== foreign.root)
    assert.deepEqual(
      own.map((statement) => [statement.signatureIdentity, statement.leaves]),
      [[hostSigner.identity, [leafOf(room.store, view, 100)]]],
    )
  })

  it('keeps what it signed of a View that is not done with the block any more', async (t) => {
    const room = await openSigningRoom(t)
    const [first, second] = [logs(1), logs(2)]
    const chain = engineChain(1)
    const leaves = [{ view: first.id, rowsRoot: 'ab'.repeat(32), count: 9 }]
    await room.store.putRowStatements(100, [signedBy(hostSigner, chain, leaves)])
    await room.put(chain)
    room.serve(second)
    await room.untilSigned(1)
    const [statement, ...more] = room.statements(100)
    assert.deepEqual(more, [])
    assert.deepEqual(
      statement?.leaves.find(({ view }) => view === first.id),
      leaves[0],
    )
    assert.equal(statement?.leaves.length, 2)
  })

  it('counts for neither where the documents of a block changed under its hash', async (t) => {
    const room = await openSigningRoom(t)
    const view = logs(1)
    const [source] = createChain({ seed: 'engine', count: 1, from: 100, shape: shapes.sparse })
    assert.ok(source)
    room.serve(view)
    const versions: ViewLeaf[] = []
    for (const [index, digit] of ['a', 'b', 'a'].entries()) {
      const block = storableBlock(withLogsOf(source, `0x${digit.repeat(40)}`))
      await (index === 0 ? room.put([block]) : room.replace(100, [block]))
      await room.untilAnnounced(index + 1)
      versions.push(leafOf(room.store, view, 100))
      await room.untilSigned(Math.min(index + 1, 2))
    }
    assert.deepEqual(versions[2], versions[0])
    const statements = room.statements(100)
    const expected = versions.slice(0, 2).map((leaf) => [leaf])
    assert.deepEqual(new Set(statements.map(({ leaves }) => leaves)), new Set(expected))
    const [counted] = countRowVotes(statements, new Set([hostSigner.identity]))
    assert.deepEqual([counted?.votes, counted?.contradicting], [[], [hostSigner.identity]])
    assert.deepEqual(room.signed, ['first', 'first'])
  })

  it('signs no rows that another version of the runtime made', async (t) => {
    const path = testDirectory(t)
    const [older, current] = [logs(1), logs(2)]
    let room = await openSigningRoom(t, { path })
    room.engine.serve(older)
    room.engine.serve(current)
    await room.put(engineChain(3))
    for (const view of [older, current]) await room.until(view, isLive)
    const record = Buffer.from(JSON.stringify({ runtime: 0, quarantine: null }))
    await room.store.putRecord(`view-engine/${older.id}`, record)
    await room.close()
    room = await openSigningRoom(t, { path, patienceMs: 1 })
    room.expect(older)
    room.serve(current)
    await room.untilSigned(3)
    for (const height of heights(3)) assertSigned(room, height, [current])
  })
})

/**
 * A Host with blocks from 1 on and rows of them of one View, and another View that is never done. Its statements are put
 * as the test says.
 */
async function openWaiting(
  t: TestContext,
  count: number,
  put: (store: StoreWriter, statement: RowStatement) => Promise<boolean>,
) {
  const store = await openTestStore(t, null)
  const [quick, never] = [logs(1), logs(2)]
  const blocks = heights(count, 1).map((height) => opaqueBlock(height, 5))
  await store.replaceBlocks(1, count, blocks)
  for (const { header } of blocks) void store.putViewRows(quick.slot, [viewBlock(header, [])])
  await trustRows(store, quick)
  const signed: string[] = []
  const failed: unknown[] = []
  const signer = openRowSigner(
    { network: testNetwork, patienceMs: 3_600_000 },
    {
      reader: store.reader,
      writer: {
        ...store,
        putViewRows: () => assert.fail('nothing is computed'),
        onStored: () => undefined,
        putRowStatement: (statement) => put(store, statement),
      },
      signer: hostSigner,
      metrics: { signed: (kind) => void signed.push(kind) },
      onFatal: (error) => failed.push(error),
    },
  )
  t.after(signer.close)
  return { store, signer, signed, failed, quick, views: () => [quick, never] }
}

describe('a Host with Views that are not done', () => {
  it('lets the newest 1,024 blocks wait for them, and signs those below at once', async (t) => {
    const room = await openWaiting(t, 1_026, (store, statement) =>
      store.putRowStatements(statement.blockNumber, [statement]),
    )
    room.signer.begin(room.views)
    await until(() => room.signed.length > 1)
    await room.signer.close()
    const signed = room.store.reader.read((snapshot) =>
      heights(1_026, 1).filter((height) => snapshot.rowStatements(height).length > 0),
    )
    assert.deepEqual(
      [signed, room.signed],
      [
        [1, 2],
        ['first', 'first'],
      ],
    )
  })

  it('counts no signature that is not stored, as its block went', async (t) => {
    const put = Promise.withResolvers<void>()
    const room = await openWaiting(t, 1, async () => {
      put.resolve()
      return false
    })
    room.signer.begin(() => [room.quick])
    await put.promise
    await room.signer.close()
    assert.deepEqual([room.signed, room.failed], [[], []])
  })

  it('signs nothing more once a signature cannot be stored, which is said once', async (t) => {
    const full = new Error('the disk is full')
    const room = await openWaiting(t, 3, () => Promise.reject(full))
    room.signer.begin(() => [room.quick])
    await until(() => room.failed.length > 0)
    room.signer.begin(() => [room.quick])
    await room.signer.close()
    assert.deepEqual([room.signed, room.failed], [[], [full]])
  })
})

describe('a Host that is killed at random', () => {
  const blocks = 60
  it('has only whole statements, and in the end one for each block', async (t) => {
    const path = testDirectory(t)
    const random = createSeededRandom('row signer')
    for (let round = 0; round < 4; round++) {
      const args = [path, `${blocks}`]
      const child = startChild('test/host/row-votes/support/signing-program.ts', { args })
      await child.says('signed')
      for (let more = random.int(12); more > 0; more--) await child.says('\n')
      child.process.kill('SIGKILL')
      await child.ended()
    }
    const room = await openSigningRoom(t, { path })
    const stored = heights(blocks).flatMap(room.statements)
    for (const statement of stored) assertValid(statement)
    const head = room.store.reader.read((snapshot) => snapshot.range()?.head ?? -1)
    await room.put(engineChain(blocks).filter(({ header }) => header.number > head))
    assert.ok(stored.length > 0 && stored.length <= blocks)
    const views = [logs(1), logs(2)]
    room.serve(...views)
    const left = heights(blocks).filter((at) => (room.statements(at)[0]?.leaves.length ?? 0) < 2)
    await room.untilSigned(left.length)
    for (const height of heights(blocks)) assertSigned(room, height, views)
  })
})
