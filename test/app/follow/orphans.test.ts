/**
 * A block that gave way while the Hosts that say so were away, and that a lying one made an application build on: it goes
 * once enough of them are back and say which block is at its height, and not before.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import type { FollowedBlock } from '../../../src/follow/open-frames.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { connect, type OpenedFollower, storedTo } from '../support/follower-stream.ts'
import { createMadeChain, type MadeBlock, type MadeChain, madeView } from '../support/made-chain.ts'
import { madeExcerpt } from '../support/made-host.ts'
import { openTestFollower } from '../support/test-follower.ts'

type Stream = Awaited<ReturnType<typeof connect>>

interface Orphaned {
  readonly opened: OpenedFollower
  readonly options: Parameters<typeof openTestFollower>[1] & { readonly minimumHosts: number }
  /** As the honest Hosts have it now. */
  readonly chain: MadeChain
  /** The height of the block that gave way. */
  readonly at: number
  /** What is stored: the chain but for the one block that gave way. */
  readonly stored: readonly MadeBlock[]
  /** The stream of the first liar, which feeds. */
  readonly feeding: Stream
  readonly liars: readonly DigestSigner[]
  readonly honest: readonly DigestSigner[]
}

interface Plan {
  readonly liars?: number
  readonly honest?: number
  /** Blocks that are stored above the one that gave way. */
  readonly above?: number
  /** Heights above it that the liar leaves out. */
  readonly leftOut?: number
}

/** As many as the honest Hosts have to agree. They were heard up to block 5, which gave way while they were away. */
async function openOrphaned(t: TestContext, plan: Plan = {}): Promise<Orphaned> {
  const { above = 1, leftOut = 0 } = plan
  const signers = (name: string, count: number): DigestSigner[] =>
    Array.from({ length: count }, (_, index) => testSigner(`${name} ${index}`, 'Ed25519'))
  const liars = signers('a liar', plan.liars ?? 1)
  const honest = signers('honest', plan.honest ?? 2)
  const options = {
    views: [madeView],
    hosts: [...liars, ...honest].map(({ identity }) => identity),
    minimumHosts: honest.length,
    patience: { ...usualPatience, unseenMs: 0 },
  }
  const opened = await openTestFollower(t, options)
  const chain = createMadeChain()
  chain.grow(6)
  const [first] = liars
  const gone = chain.blocks()[5]
  assert.ok(first && gone)
  for (const host of [...liars.slice(1), ...honest]) {
    const voting = await connect(t, opened, host, { feeds: [] })
    await say(voting, host, chain.blocks())
    voting.end()
  }
  const feeding = await connect(t, opened, first)
  await feeding.feed(chain.blocks())
  await storedTo(opened, 5)
  chain.reorganise(1)
  chain.grow(above + leftOut - 1)
  const [next, ...later] = chain.blocks().slice(6 + leftOut)
  assert.ok(next)
  const lie = [{ ...next, parent: gone.hash }, ...later]
  await feeding.feed(lie)
  for (const host of [...liars.slice(1), ...honest.slice(1)])
    await feeding.onVotes(lie.map((block) => madeExcerpt(block, host)))
  const top = chain.blocks().at(-1)?.number ?? 0
  await until(() => {
    opened.follower.wake()
    return opened.follower.progress(madeView).stored === top
  })
  await opened.parts.inTurn(async () => undefined)
  const stored = [...chain.blocks().slice(0, 5), gone, ...lie]
  return { opened, options, chain, at: gone.number, stored, feeding, liars, honest }
}

async function say(
  stream: Stream,
  host: DigestSigner,
  blocks: readonly MadeBlock[],
): Promise<void> {
  for (const block of blocks) await stream.onStatement(madeExcerpt(block, host))
}

/** A Host comes back, and says what its chain has above the newest block of the cursor that is on it. */
async function comeBack(
  t: TestContext,
  opened: OpenedFollower,
  host: DigestSigner,
  blocks: readonly MadeBlock[],
  feeds: readonly string[] = [],
): Promise<Stream> {
  const cursor = cursorOf(opened, host)
  const stream = await connect(t, opened, host, { feeds })
  const isOurs = ({ hash }: FollowedBlock): boolean => blocks.some((block) => block.hash === hash)
  const place = cursor.find(isOurs) ?? null
  if (cursor[0] !== undefined && place !== cursor[0]) stream.onRetract(madeView, place)
  const next = blocks.filter(({ number }) => number > (place?.number ?? -1))
  if (feeds.length > 0) await stream.feed(next)
  else await say(stream, host, next)
  return stream
}

function cursorOf({ follower }: OpenedFollower, host: DigestSigner): readonly FollowedBlock[] {
  const opening = follower.opening({ peer: host.identity, feeds: new Set(), floor: 0 })
  return opening.views[0]?.cursor ?? []
}

function hashesOf({ parts }: OpenedFollower): readonly (string | undefined)[] {
  return parts.store.reader.read(({ rowBlocks }) =>
    [...rowBlocks.heights(0, 10_000, false)].map((height) => rowBlocks.header(height)?.hash),
  )
}

const hashes = (blocks: readonly MadeBlock[]): readonly string[] => blocks.map(({ hash }) => hash)

const named = (hosts: readonly DigestSigner[]): readonly string[] =>
  hosts.map(({ identity }) => identity)

/** Resolves once the store has what the chain has. */
async function untilWhole({ chain }: Orphaned, opened: OpenedFollower): Promise<void> {
  const due = hashes(chain.blocks()).join()
  await until(() => hashesOf(opened).join() === due)
}

test('a false parent is found out once enough Hosts are back, though no further block comes', async (t) => {
  for (const plan of [{}, { above: 100 }, { leftOut: 1 }, { liars: 2, honest: 3 }]) {
    const orphaned = await openOrphaned(t, plan)
    const { opened, chain, at, stored, honest } = orphaned
    const { follower, reported } = opened
    assert.deepEqual(hashesOf(opened), hashes(stored))
    for (const [index, host] of honest.entries()) {
      assert.ok(follower.progress(madeView).leaving.length <= index)
      await comeBack(t, opened, host, chain.blocks())
    }
    assert.deepEqual(follower.progress(madeView).leaving, named(honest))
    const before = reported.length
    const [first] = honest
    assert.ok(first)
    await comeBack(t, opened, first, chain.blocks(), [madeView])
    assert.deepEqual(follower.progress(madeView).leaving, [])
    await untilWhole(orphaned, opened)
    const heights = chain.blocks().slice(at)
    await until(() => reported.length === before + 1 + heights.length)
    assert.deepEqual(reported.slice(before), [
      `removed above ${at - 1}`,
      ...heights.map(({ number }) => `height ${number}`),
    ])
  }
})

test('nothing is built on such a block once enough Hosts are back, whoever of them feeds', async (t) => {
  const { opened, chain, feeding, honest } = await openOrphaned(t)
  for (const host of honest) await comeBack(t, opened, host, chain.blocks())
  chain.grow(1)
  const next = chain.blocks().at(-1)
  assert.ok(next)
  const before = [...opened.reported]
  await feeding.feed([next])
  for (const host of honest) await feeding.onVotes([madeExcerpt(next, host)])
  await until(() => opened.follower.progress(madeView).differing.length > 0)
  assert.deepEqual(opened.follower.progress(madeView).differing, named(honest))
  assert.deepEqual(opened.reported, before)
})

test('a Host that was heard up to a height is asked above it, also after a restart', async (t) => {
  const orphaned = await openOrphaned(t, { above: 300 })
  const { opened, options, chain, at, liars, honest } = orphaned
  const [liar, back, away] = [...liars, ...honest]
  assert.ok(liar && back && away)
  const newest = (of: OpenedFollower, host: DigestSigner): number | undefined =>
    cursorOf(of, host)[0]?.number
  const head = chain.blocks().length - 1
  assert.deepEqual([newest(opened, liar), newest(opened, back)], [head, at])
  // It is heard, and then the application is restarted before the other one is.
  await comeBack(t, opened, back, chain.blocks())
  assert.equal(newest(opened, back), at - 1)
  await opened.follower.close()
  const again = await openTestFollower(t, options, opened)
  assert.deepEqual([newest(again, liar), newest(again, back)], [head, at - 1])
  assert.equal(newest(again, away), at)
  await connect(t, again, liar)
  for (const host of [back, away]) await comeBack(t, again, host, chain.blocks())
  assert.deepEqual(again.follower.progress(madeView).leaving, named(honest))
  await comeBack(t, again, back, chain.blocks(), [madeView])
  await untilWhole(orphaned, again)
})

test('liars that are too few remove nothing, however many blocks they say gave way', async (t) => {
  for (const { liars, honest, above } of [
    { liars: 1, honest: 2, above: 1_000 },
    { liars: 2, honest: 3, above: 100 },
  ]) {
    const orphaned = await openOrphaned(t, { liars, honest, above })
    const { opened, options, chain, ...hosts } = orphaned
    for (const host of hosts.honest) await comeBack(t, opened, host, chain.blocks())
    const [first] = hosts.honest
    assert.ok(first)
    const feeding = await comeBack(t, opened, first, chain.blocks(), [madeView])
    await untilWhole(orphaned, opened)
    const head = chain.blocks().length - 1
    await storedTo(opened, head)
    const before = opened.reported.length
    const others = chain
      .blocks()
      .map((block) => ({ ...block, hash: namedHash(`no ${block.hash}`) }))
    for (let round = 0; round < 2; round++)
      for (const liar of hosts.liars) {
        const voting = await connect(t, opened, liar, { feeds: [] })
        await say(voting, liar, others)
        voting.end()
      }
    assert.deepEqual(opened.follower.progress(madeView).leaving, named(hosts.liars))
    assert.ok(hosts.liars.length < options.minimumHosts)
    chain.grow(1)
    const next = chain.blocks().slice(-1)
    for (const host of hosts.honest.slice(1)) await say(await voterOf(t, opened, host), host, next)
    await feeding.feed(next)
    await storedTo(opened, head + 1)
    assert.deepEqual(opened.reported.slice(before), [`height ${head + 1}`])
    await untilWhole(orphaned, opened)
    for (const host of hosts.honest) assert.equal(cursorOf(opened, host)[0]?.number, head + 1)
  }
})

const voterOf = (t: TestContext, opened: OpenedFollower, host: DigestSigner): Promise<Stream> =>
  connect(t, opened, host, { feeds: [] })
