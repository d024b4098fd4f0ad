/** What a row of an answer is checked against, and what it takes to prove it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RowVerdict } from '../../src/app/contract.ts'
import { verifyRow } from '../../src/app/row-proof.ts'
import type { DigestSigner } from '../../src/identity/signature.ts'
import type { Seal } from '../../src/primitives/seal.ts'
import {
  decodeStatementExcerpt,
  excerptOf,
  type StatementExcerpt,
} from '../../src/row-votes/statement-excerpt.ts'
import type { ViewLeaf } from '../../src/row-votes/view-leaf.ts'
import { rowID } from '../../src/views/rows/row-id.ts'
import type { PackedRows } from '../../src/views/rows/rows.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'
import { signSeal, testSigner } from '../support/chain/sealed-blocks.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { signedLeaves } from '../support/signed-statements.ts'
import { hostA, hostB, openState } from './support/follower-state.ts'
import { madeBlocks } from './support/follower-stream.ts'
import { type MadeBlock, madeRows, madeView, otherView } from './support/made-chain.ts'
import { madeExcerpt } from './support/made-host.ts'

const stranger = testSigner('a stranger', 'Ed25519')
const [one, two] = [testSigner('Generator one'), testSigner('Generator two')]
const accepted = [hostA, hostB].map(({ identity }) => identity)
const [block = assert.fail('there is one')] = madeBlocks(3).slice(2)
const { number, hash } = block

const signed = (signer: DigestSigner, of: MadeBlock = block): StatementExcerpt =>
  decodeStatementExcerpt(madeExcerpt(of, signer))
/** As the block is named on another branch. */
const otherHash = namedHash('another block')
const sealed = (signer: DigestSigner, document = 'a document', of = hash): Seal =>
  signSeal({ network: testNetwork, number, hash: of, cids: [Buffer.from(document)] }, signer)

interface Stored {
  readonly excerpts?: readonly StatementExcerpt[]
  readonly seals?: readonly Seal[]
  readonly rows?: MadeBlock['rows']
}

/** Stores the block with its two rows; what it returns says what is proven of a row. */
async function openVerdicts(
  t: TestContext,
  { excerpts = [signed(hostA)], seals = [], rows = block.rows }: Stored = {},
): Promise<(row: unknown) => RowVerdict> {
  const { state } = await openState(t)
  const { views, store } = state.parts
  const view = views.find(madeView) ?? assert.fail('it is known')
  const pending = [{ ...block, rows, sinceMs: 0 }]
  await state.blocks.put(view, pending, null, { seals: () => seals, excerpts: () => excerpts })
  const signers = new Set([one, two].map(({ identity }) => identity))
  const isAcceptedHost = (identity: string): boolean => accepted.includes(identity)
  return (row) =>
    store.reader.read((snapshot) => verifyRow(snapshot, row, { views, isAcceptedHost, signers }))
}

const idOf = (
  position: number,
  { view = madeView, blockHash = hash } = {},
): { _docID: string } => ({
  _docID: rowID({ view, blockHash, position }),
})
const proven: RowVerdict = {
  ...{ proves: 'row', view: madeView, block: { number, hash } },
  ...{ hosts: [hostA.identity], signers: [], fields: [], unproven: [] },
}
const nothing = (why: string): RowVerdict => ({ proves: 'nothing', why })

test('each field of a row is compared, and those that are not of the View are named', async (t) => {
  const verify = await openVerdicts(t)
  const row = { ...idOf(1), from: '0x2', amount: 2_001, to: '0', _hosts: 9, memo: null }
  const whole = { fields: ['from', 'amount', 'to'], unproven: ['_hosts', 'memo'] }
  assert.deepEqual(verify(row), { ...proven, ...whole })
  assert.deepEqual(verify(idOf(0)), proven)
  for (const [name, value] of [
    ['from', '0x3'],
    ['amount', 2_000],
    ['to', null],
    ['to', 0],
  ] as const)
    assert.deepEqual(
      verify({ ...row, [name]: value }),
      nothing(`The field ${name} is not what the Hosts signed.`),
    )
})

test('what is no object, or has no identity of a row, proves nothing', async (t) => {
  const verify = await openVerdicts(t)
  for (const value of [null, undefined, 'a row', 7])
    assert.deepEqual(verify(value), nothing('This is no object.'))
  for (const value of [{}, [], { _docID: 5 }, { _docID: 'row-0x-1' }])
    assert.deepEqual(
      verify(value),
      nothing('The row has no _docID of a View; ask for it in the query.'),
    )
})

test('a row of another View or block than is stored, or behind its last row, proves nothing', async (t) => {
  const verify = await openVerdicts(t)
  const away = nothing('The block of the row is not stored.')
  assert.deepEqual(verify(idOf(0, { view: namedHash('a View') })), away)
  assert.deepEqual(verify(idOf(0, { view: otherView })), away)
  assert.deepEqual(verify(idOf(0, { blockHash: namedHash('a block') })), away)
  assert.deepEqual(verify(idOf(2)), nothing('The block has fewer rows.'))
})

test('the Hosts that count are accepted, and signed just these rows, each once', async (t) => {
  const forged = { ...signed(hostB), signatureValue: signed(hostA).signatureValue }
  const others = { ...block, rows: madeRows('a lie', number, 2) }
  const fewer = { ...block, rows: { ...madeRows('0', number, 2), count: 1 } }
  const hosts = async (...excerpts: StatementExcerpt[]): Promise<unknown> => {
    const verdict = (await openVerdicts(t, { excerpts }))(idOf(0))
    return verdict.proves === 'row' ? verdict.hosts : verdict.why
  }
  assert.deepEqual(await hosts(signed(hostA), signed(hostB)), accepted.toSorted())
  assert.deepEqual(await hosts(signed(hostB), signed(hostA), signed(stranger)), accepted.toSorted())
  assert.deepEqual(await hosts(signed(hostA), forged), [hostA.identity])
  const none = 'No accepted Host signed these rows.'
  for (const excerpts of [
    [],
    [signed(stranger)],
    [forged],
    [signed(hostA, others)],
    [signed(hostA, fewer)],
    [signed(hostA, { ...block, hash: otherHash })],
  ])
    assert.deepEqual(await hosts(...excerpts), none)
})

test('what a Host signed of another View as well counts for the View of the row', async (t) => {
  const leafOf = (view: string, { root, count }: PackedRows): ViewLeaf => {
    return { view, rowsRoot: root, count }
  }
  const first = `0x${'00'.repeat(32)}`
  const rows = block.rows ?? assert.fail('it has some')
  const leaves = [leafOf(first, madeRows('others', number, 1)), leafOf(madeView, rows)]
  const statement = signedLeaves(number, hash, leaves, { signer: hostA, network: testNetwork })
  const excerpt = excerptOf(statement, new Set([first, madeView])) ?? assert.fail('it says both')
  assert.deepEqual((await openVerdicts(t, { excerpts: [excerpt] }))(idOf(0)), proven)
})

test('the Generators that count are accepted, and sealed the root that most did', async (t) => {
  const forged = { ...sealed(two), signatureValue: sealed(one).signatureValue }
  const signersOf = async (...seals: Seal[]): Promise<unknown> => {
    const verdict = (await openVerdicts(t, { seals }))(idOf(0))
    return verdict.proves === 'row' && verdict.signers
  }
  const both = [one, two].map(({ identity }) => identity).toSorted()
  assert.deepEqual(await signersOf(sealed(one), sealed(two)), both)
  assert.deepEqual(await signersOf(sealed(two), sealed(one), sealed(stranger)), both)
  assert.deepEqual(await signersOf(sealed(one), forged), [one.identity])
  assert.deepEqual(
    await signersOf(sealed(one), sealed(stranger), sealed(two, 'another document')),
    [one.identity],
  )
  assert.deepEqual(await signersOf(sealed(one), sealed(two, 'a document', otherHash)), [
    one.identity,
  ])
  assert.deepEqual(await signersOf(sealed(stranger)), [])
})

test('rows that cannot be read any more prove nothing', async (t) => {
  const rows = madeRows('0', number, 2)
  const bytes = Uint8Array.from(rows.bytes, (byte, at) =>
    at < rows.bytes.length - 8 ? byte : 0xff,
  )
  const verify = await openVerdicts(t, { rows: { ...rows, bytes } })
  assert.deepEqual(verify(idOf(0)), nothing('The stored rows are damaged.'))
})

test('a store that fails while a row is checked fails the check', async (t) => {
  const { state } = await openState(t)
  const { views, store } = state.parts
  const view = views.find(madeView) ?? assert.fail('it is known')
  const pending = [{ ...block, sinceMs: 0 }]
  await state.blocks.put(view, pending, null, { seals: () => [], excerpts: () => [] })
  const parts = { views, isAcceptedHost: () => true, signers: new Set<string>() }
  store.reader.read((snapshot) => {
    const rows = snapshot.viewRows(view.slot, number) ?? assert.fail('it has rows')
    for (const readable of [0, 1]) {
      let left = readable
      const openChunk = (index: number): ReturnType<typeof rows.openChunk> => {
        if (left-- > 0) return rows.openChunk(index)
        throw new Error('the disk is gone')
      }
      const failing = { ...snapshot, viewRows: () => ({ ...rows, openChunk }) }
      assert.throws(() => verifyRow(failing, idOf(0), parts), /the disk is gone/)
    }
  })
})
