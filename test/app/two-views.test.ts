/** Two Views of which one cannot be stored: the other goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostFrame } from '../../src/follow/host-frames.ts'
import type { OpenFrame } from '../../src/follow/open-frames.ts'
import { createSigner, type DigestSigner } from '../../src/identity/signature.ts'
import {
  decodeStatementExcerpt,
  encodeStatementExcerpt,
  excerptOf,
} from '../../src/row-votes/statement-excerpt.ts'
import { sortLeaves } from '../../src/row-votes/view-leaf.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'
import { testNetwork } from '../support/p2p-room.ts'
import { signedLeaves } from '../support/signed-statements.ts'
import { largeRows } from './support/large-rows.ts'
import { createMadeChain, type MadeBlock, madeView } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

const heavyView = namedHash('a View of much')
const rows = largeRows('much')

/** Rows of the second View, where they were asked for. */
function heavyRows({ number, hash, parent }: MadeBlock, { views }: OpenFrame): HostFrame[] {
  if (!views.some(({ view, withRows }) => view === heavyView && withRows)) return []
  const place = { view: heavyView, number, hash, parent }
  return [{ kind: 'rows', ...place, count: rows.count, part: 0, last: true, bytes: rows.bytes }]
}

/** What a Host signs that computed both. */
function excerptOfBoth(block: MadeBlock, signer: DigestSigner): Uint8Array {
  const leaves = sortLeaves([
    { view: madeView, rowsRoot: block.rows?.root ?? '', count: block.rows?.count ?? 0 },
    { view: heavyView, rowsRoot: rows.root, count: rows.count },
  ])
  const statement = signedLeaves(block.number, block.hash, leaves, { signer, network: testNetwork })
  const excerpt = excerptOf(statement, new Set([madeView, heavyView]))
  assert.ok(excerpt)
  return encodeStatementExcerpt(excerpt)
}

test('a View that one of two Hosts does not sign is waited for, and holds up no other', {
  timeout: 60_000,
}, async (t) => {
  const chain = createMadeChain()
  chain.grow(60)
  const blockOf = (excerpt: Uint8Array): MadeBlock => {
    const { blockNumber } = decodeStatementExcerpt(excerpt)
    const block = chain.blocks()[blockNumber]
    assert.ok(block)
    return block
  }
  const signer = createSigner({ type: 'Ed25519', privateKey: new Uint8Array(32).fill(7) })
  const both = await openMadeHost(t, {
    chain,
    signer,
    replace: (frame, open) => {
      if (frame.kind !== 'statement') return [frame]
      const block = blockOf(frame.excerpt)
      return [...heavyRows(block, open), { ...frame, excerpt: excerptOfBoth(block, signer) }]
    },
  })
  // The first feeds both Views, since this one begins above.
  const one = await openMadeHost(t, {
    chain,
    replace: (frame) => {
      if (frame.kind !== 'welcome') return [frame]
      return [{ ...frame, views: frame.views.map((view) => ({ ...view, tail: 1 })) }]
    },
  })
  const app = await openTestApp(t, {
    hosts: [both, one],
    views: [madeView, heavyView],
    minimumHosts: 2,
  })
  await untilState(app, (state) => topOf(state) === 59)
  chain.grow(5)
  const { views } = await untilState(app, (state) => topOf(state) === 64)
  assert.equal(views[1]?.rows, 0)
})
