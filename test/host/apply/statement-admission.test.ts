/** What a Host takes in of what others signed of rows, over a real store. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createStatementAdmission,
  type StatementAdmission,
} from '../../../src/host/apply/statement-admission.ts'
import { encodeRowStatement, type RowStatement } from '../../../src/row-votes/row-statement.ts'
import { encodeStatementsAnswer } from '../../../src/row-votes/row-vote-exchange.ts'
import { countRowVotes } from '../../../src/row-votes/row-votes.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { startChild } from '../../support/child-program.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { signedStatement } from '../../support/signed-statements.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'
import { admittedHosts, lastStep, viewsOf } from '../support/admission-program.ts'

const [alice, bob] = [testSigner('alice'), testSigner('bob', 'Ed25519')]
const hashAt = (height: number, branch = 'main'): string =>
  opaqueBlock(height, 50, branch).header.hash
const page = (statements: readonly RowStatement[], next: number | null = null): Uint8Array =>
  encodeStatementsAnswer({ statements: statements.map(encodeRowStatement), next })
const by = (
  signer: typeof alice,
  views: readonly string[] = ['a View'],
  height = 5,
  runtime = 1,
): RowStatement => signedStatement(height, hashAt(height), { signer, views, runtime })

interface Room {
  readonly store: StoreWriter
  readonly admission: StatementAdmission
  /** The roots that are stored of the blocks of a height, by Host. */
  stored(height?: number): (readonly [identity: string, root: string])[]
}

/** Blocks 1 to 20, and who is accepted. */
async function open(
  t: TestContext,
  accepted: readonly (typeof alice)[] = [alice, bob],
): Promise<Room> {
  const store = await openTestStore(t)
  const heights = Array.from({ length: 20 }, (_, index) => index + 1)
  await Promise.all(heights.map((height) => store.putBlock(opaqueBlock(height, 50))))
  const { log } = captureLog()
  const admission = createStatementAdmission({ network: opaqueNetwork }, { store, log })
  admission.setAccepted(accepted.map(({ identity }) => identity))
  return {
    store,
    admission,
    stored: (height = 5) =>
      store.reader.read((snapshot) =>
        snapshot
          .rowStatements(height)
          .map(({ signatureIdentity, root }) => [signatureIdentity, root] as const),
      ),
  }
}

const placesOf = (...statements: RowStatement[]): (readonly [string, string])[] =>
  statements.map(({ signatureIdentity, root }) => [signatureIdentity, root] as const)

test('statements of accepted Hosts about stored blocks are stored once', async (t) => {
  const { admission, stored } = await open(t)
  const [one, other] = [by(alice), by(bob)]
  assert.deepEqual(await admission.receive(page([one, other], 9)), { statements: 2, next: 9 })
  assert.deepEqual(new Map(stored()), new Map(placesOf(one, other)))
  assert.deepEqual(await admission.receive(page([one, one])), { statements: 0, next: null })
  assert.deepEqual(await admission.receive(page([])), { statements: 0, next: null })
})

test('thousands of good signatures of Hosts that nobody accepts store nothing and are no fault', async (t) => {
  const { admission, stored } = await open(t)
  for (let first = 0; first < 2_000; first += 250) {
    const strangers = Array.from({ length: 250 }, (_, index) =>
      by(testSigner(`stranger ${(first + index) % 100}`, 'Ed25519'), [`View ${first + index}`]),
    )
    assert.deepEqual(await admission.receive(page(strangers)), { statements: 0, next: null })
  }
  assert.deepEqual(stored(), [])
})

test('nobody is accepted before the Host says who is', async (t) => {
  const { admission, stored } = await open(t, [])
  assert.deepEqual(await admission.receive(page([by(alice)])), { statements: 0, next: null })
  assert.deepEqual(stored(), [])
})

test('a page with one forged signature is refused whole, and so is one of another network', async (t) => {
  const { admission, stored } = await open(t)
  const good = by(bob)
  const { signatureValue } = by(alice, ['another View'])
  assert.equal(await admission.receive(page([good, { ...by(alice), signatureValue }])), null)
  assert.equal(
    await admission.receive(page([good, { ...by(alice), network: 'Local__Devnet' }])),
    null,
  )
  assert.equal(await admission.receive(Buffer.from('ff', 'hex')), null)
  assert.equal(
    await admission.receive(encodeStatementsAnswer({ statements: [Buffer.from([1])], next: null })),
    null,
  )
  assert.deepEqual(stored(), [])
})

test('only what is new is verified', async (t) => {
  const { admission, stored } = await open(t)
  const known = by(alice, ['a', 'b'])
  await admission.receive(page([known]))
  const { signatureValue } = by(bob)
  const parts = [known, by(alice, ['a'])].map((each) => ({ ...each, signatureValue }))
  assert.deepEqual(await admission.receive(page(parts)), { statements: 0, next: null })
  assert.deepEqual(stored(), placesOf(known))
})

test('a statement about a block that is not stored is passed over', async (t) => {
  const { admission, stored } = await open(t)
  const foreign = signedStatement(5, hashAt(5, 'other'), { signer: alice })
  const above = by(alice, ['a View'], 21)
  assert.deepEqual(await admission.receive(page([foreign, above])), { statements: 0, next: null })
  assert.deepEqual([...stored(), ...stored(21)], [])
})

test('statements about a block that goes before they are stored are none that were taken', async (t) => {
  const { store } = await open(t)
  const gone = { reader: store.reader, putRowStatements: async () => false }
  const { log } = captureLog()
  const admission = createStatementAdmission({ network: opaqueNetwork }, { store: gone, log })
  admission.setAccepted([alice.identity])
  assert.deepEqual(await admission.receive(page([by(alice)], 9)), { statements: 0, next: 9 })
})

test('a further statement takes the place of the one whose leaves it has, which stays away', async (t) => {
  const { admission, stored } = await open(t)
  const [first, further] = [by(alice), by(alice, ['a View', 'another'])]
  await admission.receive(page([first]))
  assert.deepEqual(await admission.receive(page([further])), { statements: 1, next: null })
  assert.deepEqual(stored(), placesOf(further))
  assert.deepEqual(await admission.receive(page([first])), { statements: 0, next: null })
  assert.deepEqual(stored(), placesOf(further))
})

test('the same rows under another version of the runtime are another statement', async (t) => {
  const { admission, stored } = await open(t)
  const [one, other] = [by(alice), by(alice, ['a View'], 5, 2)]
  assert.equal(other.root, one.root)
  await admission.receive(page([one]))
  assert.deepEqual(await admission.receive(page([other])), { statements: 1, next: null })
  assert.deepEqual(stored(), placesOf(one, other))
})

test('two roots of one Host for one View are both kept, and count for neither', async (t) => {
  const { admission, store } = await open(t)
  const lie = signedStatement(5, hashAt(5), { signer: alice, isFalse: true })
  await admission.receive(page([by(alice), by(bob)]))
  assert.deepEqual(await admission.receive(page([lie])), { statements: 1, next: null })
  const statements = store.reader.read((snapshot) => snapshot.rowStatements(5))
  const accepted = new Set([alice.identity, bob.identity])
  const [subject] = countRowVotes(statements, accepted)
  assert.deepEqual(subject?.contradicting, [alice.identity])
  assert.deepEqual(
    subject.votes.map(({ hosts }) => hosts),
    [[bob.identity]],
  )
})

test('a Host that signs without end has four statements of a block, the same in any order', async (t) => {
  const rooms = await Promise.all([open(t), open(t)])
  const endless = Array.from({ length: 40 }, (_, index) => by(alice, [`View ${index}`]))
  for (const [index, { admission }] of rooms.entries()) {
    const inOrder = index === 0 ? endless : endless.toReversed()
    for (let at = 0; at < 40; at += 5) await admission.receive(page(inOrder.slice(at, at + 5)))
  }
  const [one, other] = rooms.map(({ stored }) => stored())
  assert.equal(one?.length, 4)
  assert.deepEqual(one, other)
})

test('pages that come at once are taken in one after the other', async (t) => {
  const { admission, stored } = await open(t)
  const names = Array.from({ length: 12 }, (_, index) => `View ${index}`)
  const growing = names.map((_, index) => by(alice, names.slice(0, index + 1)))
  await Promise.all(growing.map((statement) => admission.receive(page([statement]))))
  assert.deepEqual(stored(), placesOf(growing.at(-1) ?? assert.fail()))
})

test('kill -9 at any moment leaves each Host one whole statement of a block', async (t) => {
  const path = testDirectory(t)
  const random = createSeededRandom('kill admission')
  let admitted = 0
  for (let round = 0; round < 5; round++) {
    const child = startChild('test/host/support/admission-program.ts', { args: [path] })
    await child.says(`admitted ${Math.min(lastStep, admitted + 1 + random.int(20))}\n`)
    child.process.kill('SIGKILL')
    const { stdout } = await child.ended()
    const steps = Array.from(stdout.matchAll(/^admitted (\d+)$/gm), ([, step]) => Number(step))
    admitted = Math.max(...steps)
    const store = await openWriter(
      { path, network: opaqueNetwork, retainBlocks: null },
      { log: captureLog().log },
    )
    const found = store.reader.read((snapshot) => snapshot.rowStatements(1))
    await store.close()
    const either = [admitted, admitted + 1].map((step) => viewsOf(step).length)
    assert.deepEqual(
      new Set(found.map(({ signatureIdentity }) => signatureIdentity)),
      new Set(admittedHosts.map(({ identity }) => identity)),
    )
    assert.equal(found.length, admittedHosts.length)
    for (const { leaves } of found) assert.ok(either.includes(leaves.length), `of ${either}`)
  }
})
