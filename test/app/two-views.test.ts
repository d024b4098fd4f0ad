/** Two Views of which one cannot be stored: the other goes on. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { HostFrame } from '../../src/follow/host-frames.ts'
import { createSigner, type DigestSigner } from '../../src/identity/signature.ts'
import {
  decodeStatementExcerpt,
  encodeStatementExcerpt,
  excerptOf,
} from '../../src/row-votes/statement-excerpt.ts'
import { sortLeaves } from '../../src/row-votes/view-leaf.ts'
import { captureLog } from '../support/captured-log.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { signedLeaves } from '../support/signed-statements.ts'
import { largeRows } from './support/large-rows.ts'
import { createMadeChain, type MadeBlock, type MadeChain, madeView } from './support/made-chain.ts'
import { type MadeHost, openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

const heavyView = namedHash('a View of much')
const views = [madeView, heavyView]
const rows = largeRows('much')

/** What a Host signs that computed both. */
function excerptOfBoth(block: MadeBlock, signer: DigestSigner): Uint8Array {
  const leaves = sortLeaves([
    { view: madeView, rowsRoot: block.rows?.root ?? '', count: block.rows?.count ?? 0 },
    { view: heavyView, rowsRoot: rows.root, count: rows.count },
  ])
  const statement = signedLeaves(block.number, block.hash, leaves, { signer, network: testNetwork })
  const excerpt = excerptOf(statement, new Set(views))
  assert.ok(excerpt)
  return encodeStatementExcerpt(excerpt)
}

/** The rows of both Views are in the chain, and those of the second are large. */
function openHost(t: TestContext, chain: MadeChain, signsHeavy: () => boolean): Promise<MadeHost> {
  const signer = createSigner({ type: 'Ed25519', privateKey: randomBytes(32) })
  const signed = (excerpt: Uint8Array): Uint8Array[] => {
    const { blockNumber, leaves } = decodeStatementExcerpt(excerpt)
    const block = chain.blocks()[blockNumber]
    assert.ok(block)
    if (signsHeavy()) return [excerptOfBoth(block, signer)]
    return leaves.some(({ view }) => view === heavyView) ? [] : [excerpt]
  }
  const replace = (frame: HostFrame): HostFrame[] => {
    if (frame.kind === 'statement')
      return signed(frame.excerpt).map((excerpt) => ({ ...frame, excerpt }))
    const isHeavy = frame.kind === 'rows' && frame.view === heavyView
    return [isHeavy ? { ...frame, count: rows.count, bytes: rows.bytes } : frame]
  }
  return openMadeHost(t, { chain, signer, views, replace })
}

test('a View that one of two Hosts does not sign is waited for, and holds up no other', async (t) => {
  const chain = createMadeChain()
  let isHeavySigned = false
  const both = await openHost(t, chain, () => true)
  const one = await openHost(t, chain, () => isHeavySigned)
  const { log, lines } = captureLog()
  const app = await openTestApp(t, {
    ...{ hosts: [both, one], views, log, minimumHosts: 2 },
    patience: { checkMs: 50, fullMs: 300 },
  })
  await untilState(app, (state) => state.views.every((view) => view.state === 'catching-up'))
  // Whichever Host feeds the second View, what it signs of the first is behind the rows for which there is no room.
  chain.grow(60)
  const { views: reports } = await untilState(app, (state) => topOf(state) === 59)
  const paused = lines.filter(({ msg }) =>
    msg.startsWith('a View is not fed, since its blocks wait'),
  )
  assert.deepEqual(
    paused.map(({ view }) => view),
    [heavyView],
  )
  assert.equal(reports[1]?.rows, 0)
  chain.grow(5)
  await untilState(app, (state) => topOf(state) === 64)
  isHeavySigned = true
  one.drop()
  const { views: whole } = await untilState(app, (state) => state.views[1]?.done.at(-1)?.to === 64)
  const done = [{ from: 0, to: 64 }]
  assert.deepEqual(
    whole.map((view) => [view.done, view.rows]),
    [
      [done, 65 * 2],
      [done, 65 * rows.count],
    ],
  )
})
