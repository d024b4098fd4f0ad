/** How many Generators vouch for the blocks of rows, and which rows are seen for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostFrame } from '../../src/follow/host-frames.ts'
import { signSeal, testSigner } from '../support/chain/sealed-blocks.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { createMadeChain, type MadeBlock } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

const generators = ['one', 'another', 'a stranger'].map((name) => testSigner(`Generator ${name}`))
const signers = generators.slice(0, 2).map(({ identity }) => identity)

/** Seals of a block come before its rows, as a Host sends them: of blocks from 2 on one less. */
function sealing(frame: HostFrame): readonly HostFrame[] {
  if (frame.kind !== 'rows' || frame.part > 0) return [frame]
  const { number, hash } = frame
  const cids = [Buffer.from(`document of ${number}`)]
  const [first, ...others] = generators.map((signer) =>
    signSeal({ network: testNetwork, number, hash, cids }, signer),
  )
  const seals = first === undefined || number < 2 ? [first, ...others] : others
  return [{ kind: 'seals', number, hash, seals: seals.flatMap((seal) => seal ?? []) }, frame]
}

test('rows are seen where as many accepted Generators sealed their block as is asked for', async (t) => {
  const chain = createMadeChain()
  chain.grow(4)
  const host = await openMadeHost(t, { chain, replace: sealing })
  const app = await openTestApp(t, { hosts: [host], signers, minimumAttestations: 2 })
  await untilState(app, (state) => topOf(state) === 3)
  const query = '{ Payment { _blockNumber _attestations } }'
  type Answer = { Payment: { _blockNumber: number; _attestations: number }[] }
  const seen = async (minimumAttestations?: number): Promise<string[]> => {
    const options = minimumAttestations === undefined ? {} : { minimumAttestations }
    const { data } = await app.query<Answer, object>(query, {}, options)
    return [...new Set(data.Payment.map((row) => `${row._blockNumber}: ${row._attestations}`))]
  }
  assert.deepEqual(await seen(), ['0: 2', '1: 2'])
  assert.deepEqual(await seen(1), ['0: 2', '1: 2', '2: 1', '3: 1'])
  await assert.rejects(seen(3), { code: 'APP_OPTION_INVALID' })
  const { data } = await app.query<{ Payment: object[] }, object>(
    '{ Payment(limit: 1) { _docID } }',
  )
  const verdict = app.verifyDocument(data.Payment[0])
  assert.deepEqual(verdict.proves === 'row' && verdict.signers, [...signers].sort())
})

test('subscribers are notified late of blocks that get their attestations late', async (t) => {
  const chain = createMadeChain()
  chain.grow(3, 1)
  const [, second] = chain.blocks()
  assert.ok(second !== undefined)
  const sealsOf = ({ number, hash }: MadeBlock): HostFrame => {
    const cids = [Buffer.from(`document of ${number}`)]
    const seals = generators.map((signer) =>
      signSeal({ network: testNetwork, number, hash, cids }, signer),
    )
    return { kind: 'seals', number, hash, seals }
  }
  // A block gets its seals before a further one comes.
  const replace = (frame: HostFrame): readonly HostFrame[] =>
    frame.kind === 'rows' && frame.number === 3 ? [sealsOf(second), frame] : [frame]
  const host = await openMadeHost(t, { chain, replace })
  const app = await openTestApp(t, { hosts: [host], signers, minimumAttestations: 2 })
  await app.untilReady()
  const notified = app.subscribe<{ Payment: { _blockNumber: number }[] }>(
    'subscription { Payment { _blockNumber } }',
  )
  await untilState(app, (state) => topOf(state) === 2)
  chain.grow(1)
  const { value } = await notified.next()
  assert.deepEqual(value.Payment, [{ _blockNumber: 1 }])
  await notified.return()
  const { data } = await app.query('{ Payment { _blockNumber } }')
  assert.deepEqual(data, { Payment: [{ _blockNumber: 1 }] })
})
