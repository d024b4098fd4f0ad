/** What Hosts say themselves gave way, and that one which lies about it neither removes nor keeps anything. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listen } from '../../../src/app/follow/incoming.ts'
import { createLeftBlocks } from '../../../src/app/follow/left-blocks.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import { openReportedHeights } from '../../../src/app/follow/reported-heights.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { hostA, openState } from '../support/follower-state.ts'
import { connect, madeBlocks, type OpenedFollower, storedTo } from '../support/follower-stream.ts'
import { createMadeChain, type MadeBlock, type MadeChain, madeView } from '../support/made-chain.ts'
import { madeExcerpt } from '../support/made-host.ts'
import { openTestFollower } from '../support/test-follower.ts'

test('a Host has what is stored again once it says so of the highest that it left', () => {
  const left = createLeftBlocks(openReportedHeights(null))
  assert.equal(left.leftAbove('A'), Infinity)
  left.leave('A', 7, 9)
  left.leave('A', 8, 9)
  assert.equal(left.leftAbove('A'), 7)
  left.have('A', 8)
  assert.equal(left.leftAbove('A'), 8)
  left.have('A', 3)
  assert.equal(left.leftAbove('A'), 8)
  left.have('A', 9)
  assert.equal(left.leftAbove('A'), Infinity)
  left.leave('A', 9, 9)
  left.leave('B', 0, 0)
  for (const host of ['A', 'B'])
    assert.equal(left.leftAbove(host), Infinity, 'nothing is stored above')
})

test('what a Host left is no longer left once it is removed, or the Host begins again', () => {
  const left = createLeftBlocks(openReportedHeights(null))
  left.leave('A', 7, 9)
  left.leave('B', 3, 9)
  left.removed(8)
  assert.deepEqual([left.leftAbove('A'), left.leftAbove('B')], [7, 3])
  left.removed(7)
  assert.deepEqual([left.leftAbove('A'), left.leftAbove('B')], [Infinity, 3])
  left.forget('B')
  assert.equal(left.leftAbove('B'), Infinity)
})

test('another block at a stored height counts until the Host has that one, or it is removed', () => {
  const left = createLeftBlocks(openReportedHeights(null))
  left.haveOther('A', 7)
  left.haveOther('A', 5)
  left.haveOther('A', 6)
  left.have('A', 9)
  assert.equal(left.leftAbove('A'), 4, 'what stands above it says nothing of it')
  left.removed(5)
  assert.equal(left.leftAbove('A'), 4)
  left.have('A', 5)
  assert.equal(left.leftAbove('A'), Infinity)
  left.haveOther('A', 5)
  left.removed(4)
  assert.equal(left.leftAbove('A'), Infinity)
  left.haveOther('A', 5)
  left.leave('A', 2, 6)
  assert.equal(left.leftAbove('A'), 2)
  left.have('A', 6)
  assert.equal(left.leftAbove('A'), Infinity, 'it went back from the other block')
})

test('a Host is asked again from where it does not have what is stored', () => {
  const reported = openReportedHeights(null)
  const left = createLeftBlocks(reported)
  reported.prove('a peer', 'A', 0)
  reported.prove('another', 'B', 0)
  const askedAbove = (change: () => void): unknown[] => {
    change()
    return [reported.of('a peer')?.to, reported.of('another')?.to]
  }
  const have = (): void => {
    for (const host of ['A', 'B']) left.have(host, 9)
  }
  assert.deepEqual(askedAbove(have), [9, 9])
  assert.deepEqual(
    askedAbove(() => left.leave('A', 7, 9)),
    [7, 9],
  )
  assert.deepEqual(
    askedAbove(() => left.haveOther('A', 5)),
    [4, 9],
  )
  assert.deepEqual(askedAbove(have), [4, 9])
  assert.deepEqual(
    askedAbove(() => left.have('A', 5)),
    [5, 9],
  )
  assert.deepEqual(
    askedAbove(() => left.removed(8)),
    [5, 8],
  )
})

test('what gave way for a Host that is not accepted is not remembered', async (t) => {
  const { state } = await openState(t)
  const view = state.parts.views.find(madeView) ?? assert.fail('it is not known')
  const stored = madeBlocks(1).map((block) => ({ ...block, sinceMs: 0 }))
  await state.blocks.put(view, stored, null, { seals: () => [], excerpts: () => [] })
  const hosts = [hostA.identity, testSigner('a stranger', 'Ed25519').identity]
  const nothing = (): void => undefined
  for (const identity of hosts) {
    const { signal } = new AbortController()
    const { onWelcome, onRetract } = listen(
      state,
      { peer: identity, signal, onWelcome: nothing, onProgress: nothing, onHead: nothing },
      [{ view: madeView, cursor: [], withRows: false }],
    )
    await onWelcome({ identity, genesis: null, views: [] })
    onRetract(madeView, null)
  }
  assert.deepEqual(hosts.map(state.left.leftAbove), [-1, Infinity])
})

const liar = testSigner('a liar', 'Ed25519')
const B = testSigner('B', 'Ed25519')
const C = testSigner('C', 'Ed25519')

interface Voter {
  readonly identity: string
  /** It goes back to a block, where there is one, and says what it signed of others. */
  says(back: MadeBlock | undefined, blocks: readonly MadeBlock[]): Promise<void>
}

interface Followed {
  readonly opened: OpenedFollower
  readonly chain: MadeChain
  /** The stream of the liar. */
  readonly feeding: Awaited<ReturnType<typeof connect>>
  readonly b: Voter
  readonly c: Voter
}

/** Two of three Hosts are believed, and the one that lies feeds; the chain has blocks 0 to 5, of which 0 to 4 are stored. */
async function openFollowed(t: TestContext): Promise<Followed> {
  const opened = await openTestFollower(t, {
    views: [madeView],
    hosts: [liar, B, C].map(({ identity }) => identity),
    minimumHosts: 2,
    patience: { ...usualPatience, unseenMs: 0 },
  })
  const voter = async (signer: DigestSigner): Promise<Voter> => {
    const stream = await connect(t, opened, signer, { feeds: [] })
    return {
      identity: signer.identity,
      says: async (back, blocks) => {
        if (back !== undefined) stream.onRetract(madeView, back)
        for (const block of blocks) await stream.onStatement(madeExcerpt(block, signer))
      },
    }
  }
  const [b, c] = [await voter(B), await voter(C)]
  const feeding = await connect(t, opened, liar)
  const chain = createMadeChain()
  chain.grow(6)
  const stored = chain.blocks().slice(0, 5)
  await feeding.feed(stored)
  for (const { says } of [b, c]) await says(undefined, stored)
  await storedTo(opened, 4)
  return { opened, chain, feeding, b, c }
}

/** Resolves once the voters differ from what waits; nothing was removed or stored then. */
async function untilDenied({ opened, b, c }: Followed): Promise<void> {
  const { follower, reported } = opened
  const before = [...reported]
  const isDenied = ({ identity }: Voter): boolean =>
    follower.progress(madeView).differing.includes(identity)
  await until(() => {
    follower.wake()
    return [b, c].every(isDenied)
  })
  assert.deepEqual(reported, before)
}

test('a Host that goes back far and leaves out what is between removes nothing', async (t) => {
  const followed = await openFollowed(t)
  const { opened, chain, feeding, b, c } = followed
  const [, one, , , , five] = chain.blocks()
  assert.ok(one && five)
  for (const { says } of [b, c]) await says(undefined, [five])
  feeding.onRetract(madeView, one)
  await feeding.feed([{ ...five, parent: namedHash('another parent') }])
  await untilDenied(followed)
  await (await connect(t, opened, B)).feed([five])
  await storedTo(opened, 5)
  assert.deepEqual(opened.reported.slice(5), ['height 5'])
})

test('a block that gave way goes, though the Host that feeds calls it the parent of the next', async (t) => {
  for (const isLeftEarly of [false, true]) {
    const followed = await openFollowed(t)
    const { opened, chain, feeding, b, c } = followed
    const gone = chain.blocks()[5]
    chain.reorganise(1)
    const [, , , , four, five, six] = chain.blocks()
    assert.ok(gone && four && five && six)
    // Where a Host left the block before it was stored here, nothing that is stored gave way then.
    if (isLeftEarly) await b.says(four, [five])
    else await b.says(undefined, [gone])
    await c.says(undefined, [gone])
    await feeding.feed([gone])
    await storedTo(opened, 5)
    if (isLeftEarly) await b.says(undefined, [six])
    else await b.says(four, [five, six])
    await c.says(four, [five, six])
    await feeding.feed([{ ...six, parent: gone.hash }])
    await untilDenied(followed)
    const next = await connect(t, opened, B)
    next.onRetract(madeView, four)
    await next.feed([five, six])
    await storedTo(opened, 6)
    assert.deepEqual(opened.reported.slice(6), ['removed above 4', 'height 5', 'height 6'])
  }
})
