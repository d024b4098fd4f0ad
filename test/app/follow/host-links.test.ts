/** How Hosts stand, when streams to them are opened, and what the end of one leads to. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RowFollower } from '../../../src/app/follow/follower.ts'
import { type HostLinks, openHostLinks } from '../../../src/app/follow/host-links.ts'
import { type Patience, usualPatience } from '../../../src/app/follow/patience.ts'
import { ServiceError } from '../../../src/errors.ts'
import { recordWaits } from '../../support/chain/recorded-waits.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { connect, openRoom, testNetwork, until } from '../../support/p2p-room.ts'
import { madeBlocks } from '../support/follower-stream.ts'
import { createHostWires, type HostWires, reportOf } from '../support/host-wires.ts'
import { createMadeChain, madeView, otherView, sdlOf } from '../support/made-chain.ts'
import { madeExcerpt, openMadeHost } from '../support/made-host.ts'
import { clockOf } from '../support/test-clock.ts'
import { openTestFollower } from '../support/test-follower.ts'

const A = testSigner('A', 'Ed25519')
const B = testSigner('B', 'Ed25519')

interface Linked {
  readonly wires: HostWires
  readonly links: HostLinks
  readonly changes: { count: number }
  readonly fatal: readonly unknown[]
}

/** Hosts A and B are followed, and neither is in reach yet. */
async function openLinked(
  t: TestContext,
  {
    views = [madeView] as readonly string[],
    patience = {} as Partial<Patience>,
    change = (follower: RowFollower): RowFollower => follower,
    isPatient = true,
  } = {},
): Promise<Linked> {
  // What has to wait before it is tried again waits longer than a test.
  if (isPatient) t.mock.method(Math, 'random', () => 1_000)
  const opened = await openTestFollower(t, { views, hosts: [A.identity, B.identity] })
  for (const view of views) await opened.parts.views.hear(A.identity, view, sdlOf(view))
  const wires = createHostWires({ A, B })
  const changes = { count: 0 }
  const fatal: unknown[] = []
  const links = openHostLinks(
    {
      ...{ network: testNetwork, peers: ['A', 'B'], views, minimumHosts: 1 },
      patience: { ...usualPatience, ...patience },
    },
    {
      ...{ p2p: wires.p2p, follower: change(opened.follower), log: opened.log },
      onChange: () => void changes.count++,
      onFatal: (error) => void fatal.push(error),
    },
  )
  t.after(() => links.close())
  return { wires, links, changes, fatal }
}

const away = { identity: null, role: 'away', head: null, views: {}, error: null }

test('a Host is away until it is connected, then feeds, and the next one votes', async (t) => {
  const { wires, links, changes } = await openLinked(t)
  assert.deepEqual(links.reports(), [
    { peer: 'A', ...away },
    { peer: 'B', ...away },
  ])
  wires.connect('a stranger')
  wires.disconnect('A')
  assert.equal(wires.waiting(), 2)
  wires.connect('A')
  const a = await wires.wire('A')
  assert.equal(links.isFed(madeView), false)
  a.welcome({ head: 9 })
  await until(() => links.isFed(madeView))
  wires.connect('B')
  const b = await wires.wire('B')
  b.welcome()
  await until(() => reportOf(links, 'B').role === 'votes')
  const views = { [madeView]: 'live' }
  assert.deepEqual(links.reports(), [
    { peer: 'A', identity: A.identity, role: 'feeds', head: 9, views, error: null },
    { peer: 'B', identity: B.identity, role: 'votes', head: null, views, error: null },
  ])
  assert.deepEqual(
    [...wires.to('A'), ...wires.to('B')].map(({ open }) => open.views[0]?.withRows),
    [true, false],
  )
  assert.equal(wires.waiting(), 0)
  const before = changes.count
  a.send({ kind: 'head', number: 12, hash: madeView })
  await until(() => reportOf(links, 'A').head === 12)
  assert.equal(changes.count, before + 1)
})

test('a Host whose stream ends says why, and another one feeds in its place', async (t) => {
  const { wires, links } = await openLinked(t)
  for (const peer of ['A', 'B']) {
    wires.connect(peer)
    const wire = await wires.wire(peer)
    wire.welcome()
    await until(() => reportOf(links, peer).role !== 'away')
  }
  const sinceMs = links.servingSinceMs(madeView, 0)
  const [a] = wires.to('A')
  a?.send({ kind: 'error', error: 'unavailable', tail: null })
  const again = await wires.wire('B', 2)
  assert.equal(again.open.views[0]?.withRows, true)
  again.welcome()
  await until(() => reportOf(links, 'B').role === 'feeds')
  const { role, error } = reportOf(links, 'A')
  assert.deepEqual([role, error], ['away', 'The Host is stopping.'])
  assert.equal(a?.isEnded(), true)
  assert.equal(links.servingSinceMs(madeView, 0), sinceMs, 'B has been followed all the time')
  assert.equal(wires.to('A').length, 1)
})

test('a View that a Host lacks is left to another one, and the Host is asked for the others', async (t) => {
  const { wires, links } = await openLinked(t, { views: [madeView, otherView] })
  const asked = async (peer: string, number: number): Promise<unknown> =>
    (await wires.wire(peer, number)).open.views.map(({ withRows }) => withRows)
  wires.connect('A')
  assert.deepEqual(await asked('A', 1), [true, true])
  ;(await wires.wire('A')).welcome({ lacks: [otherView] })
  assert.deepEqual(await asked('A', 2), [true, false])
  assert.equal(links.isFed(otherView), false)
  wires.connect('B')
  assert.deepEqual(await asked('B', 1), [false, true])
  ;(await wires.wire('B')).welcome()
  await until(() => links.isFed(otherView))
})

test('a Host that pruned what comes next is asked at once, above that', async (t) => {
  const floors: number[] = []
  const { wires } = await openLinked(t, {
    change: (follower) => ({
      ...follower,
      opening: (role) => {
        if (role.peer === 'A') floors.push(role.floor)
        return follower.opening(role)
      },
    }),
  })
  wires.connect('A')
  const first = await wires.wire('A')
  first.welcome()
  first.send({ kind: 'error', error: 'pruned', tail: 7 })
  await wires.wire('A', 2)
  assert.deepEqual(floors, [0, 7])
})

test('a Host that sent something of use is asked at once where the application was slow', async (t) => {
  const { wires } = await openLinked(t)
  const [block] = madeBlocks(1)
  assert.ok(block)
  wires.connect('A')
  const first = await wires.wire('A')
  first.welcome()
  first.send({ kind: 'statement', excerpt: madeExcerpt(block, A) })
  first.send({ kind: 'error', error: 'slow', tail: null })
  const second = await wires.wire('A', 2)
  second.welcome()
  second.send({ kind: 'error', error: 'slow', tail: null })
  await until(() => second.isEnded())
  assert.equal(wires.to('A').length, 2)
})

test('a Host whose streams end is asked after waits that double until it sends something of use', async (t) => {
  const waits = recordWaits(t)
  const { wires } = await openLinked(t, { isPatient: false })
  const [block = assert.fail('there is one')] = madeBlocks(1)
  wires.connect('A')
  for (let stream = 1; stream <= 5; stream++) {
    const wire = await wires.wire('A', stream)
    wire.welcome()
    if (stream === 4) wire.send({ kind: 'statement', excerpt: madeExcerpt(block, A) })
    if (stream % 2 === 0) wire.send({ kind: 'error', error: 'busy', tail: null })
    else wire.break()
  }
  await wires.wire('A', 6)
  const ofTest = 10
  assert.deepEqual(
    waits.filter((ms) => ms !== ofTest),
    [250, 500, 1_000, 250, 500],
  )
})

test('why a peer cannot be reached is said, unless it broke the protocol', async (t) => {
  const { wires, links } = await openLinked(t)
  const message = 'nobody answers'
  for (const peer of ['B', 'A'])
    wires.failures.push(
      new ServiceError('P2P_ALL_DIALS_FAILED', `${message} for ${peer}`, {
        ...{ facts: { peer }, remedy: 'Start it.' },
      }),
    )
  assert.equal(reportOf(links, 'A').error, 'nobody answers for A')
  wires.connect('A')
  const a = await wires.wire('A')
  a.send({ kind: 'head', number: 1, hash: madeView })
  await until(() => a.isEnded())
  await until(() => reportOf(links, 'A').error !== 'nobody answers for A')
  assert.match(reportOf(links, 'A').error ?? '', /a Host breaks the protocol: .*no welcome first/)
  assert.deepEqual(wires.penalised, ['A'])
  wires.connect('B')
  const b = await wires.wire('B')
  b.welcome()
  await until(() => reportOf(links, 'B').role === 'feeds')
  assert.equal(reportOf(links, 'B').error, null)
  b.break()
  await until(() => reportOf(links, 'B').role === 'away')
  assert.equal(reportOf(links, 'B').error, 'nobody answers for B')
  wires.failures.splice(0)
  assert.equal(reportOf(links, 'B').error, 'the stream broke')
  assert.equal(links.servingSinceMs(madeView, 0), null)
})

test('when the last Host came that may have a height is known, and null without one', async (t) => {
  const { pass } = clockOf(t, 1_000)
  const { wires, links } = await openLinked(t)
  for (const [peer, tail] of [
    ['A', 3],
    ['B', 5],
  ] as const) {
    wires.connect(peer)
    const wire = await wires.wire(peer)
    pass(1_000)
    wire.welcome({ tail })
    await until(() => reportOf(links, peer).role !== 'away')
  }
  assert.deepEqual(
    [2, 3, 4, 5, 6].map((height) => links.servingSinceMs(madeView, height)),
    [null, 2_000, 2_000, 3_000, 3_000],
  )
  assert.equal(links.servingSinceMs(otherView, 9), null)
  assert.equal(links.isFed(otherView), false)
})

test('a store that fails while a stream is read is reported, and the stream is not opened again', async (t) => {
  const failed = new ServiceError('STORE_WRITE_FAILED', 'the disk is full', { remedy: '' })
  const { wires, links, fatal } = await openLinked(t, {
    change: (follower) => ({
      ...follower,
      listener: (source, views) => ({
        ...follower.listener(source, views),
        onWelcome: () => Promise.reject(failed),
      }),
    }),
  })
  wires.connect('A')
  ;(await wires.wire('A')).welcome()
  await until(() => fatal.length > 0)
  assert.deepEqual(fatal, [failed])
  assert.equal(reportOf(links, 'A').role, 'away')
})

test('what waits is checked every time, and a check that fails is reported', async (t) => {
  const failed = new Error('the disk is gone')
  let [woken, isFailing] = [0, false]
  const { fatal } = await openLinked(t, {
    patience: { checkMs: 5 },
    change: (follower) => ({
      ...follower,
      wake: () => {
        woken += 1
        if (isFailing) throw failed
      },
    }),
  })
  await until(() => woken > 2)
  assert.deepEqual(fatal, [])
  isFailing = true
  await until(() => fatal.length > 0)
  assert.equal(fatal[0], failed)
})

test('a Host whose signature is missed is asked again at a check', async (t) => {
  const { wires, links } = await openLinked(t, { patience: { checkMs: 5, unheardMs: 0 } })
  for (const peer of ['A', 'B']) {
    wires.connect(peer)
    ;(await wires.wire(peer)).welcome({ head: 9 })
    await until(() => reportOf(links, peer).role !== 'away')
  }
  const [block] = madeBlocks(1)
  const { rows, ...place } = block ?? assert.fail('there is one')
  assert.ok(rows)
  const { count, bytes } = rows
  wires
    .to('A')[0]
    ?.send({ kind: 'rows', ...place, view: madeView, count, part: 0, last: true, bytes })
  await wires.wire('B', 2)
})

test('closing ends what is waited for: connections, streams and the next try', async (t) => {
  const { wires, links, fatal } = await openLinked(t)
  assert.equal(wires.waiting(), 2)
  wires.connect('A')
  const a = await wires.wire('A')
  a.welcome()
  await until(() => links.isFed(madeView))
  await links.close()
  assert.deepEqual([wires.waiting(), a.isEnded(), links.isFed(madeView)], [0, true, false])
  const later = await openLinked(t)
  later.wires.connect('A')
  const ending = await later.wires.wire('A')
  ending.send({ kind: 'error', error: 'busy', tail: null })
  await until(() => reportOf(later.links, 'A').error !== null)
  await later.links.close()
  assert.deepEqual([fatal, later.fatal], [[], []])
})

test('a Host is asked again for a View that it did not have, and feeds it once it has', async (t) => {
  const chain = createMadeChain()
  chain.grow(3)
  let had = [madeView]
  const host = await openMadeHost(t, {
    chain,
    get views() {
      return had
    },
  })
  const application = await openRoom(t)
  await connect(application, host.room)
  const views = [madeView, otherView]
  const { follower, log, onFatal } = await openTestFollower(t, { views, hosts: [host.identity] })
  const links = openHostLinks(
    {
      network: testNetwork,
      peers: [host.room.id],
      views,
      minimumHosts: 1,
      patience: { ...usualPatience, checkMs: 100, askServedMs: 100 },
    },
    { p2p: application.p2p, follower, log, onChange: () => undefined, onFatal },
  )
  t.after(() => links.close())
  const top = (view: string): number => follower.progress(view).stored
  await until(() => top(madeView) === 2)
  const { rows, votes } = host.opened
  await until(() => host.opened.rows + host.opened.votes > rows + votes)
  assert.deepEqual([top(otherView), links.isFed(otherView)], [-1, false])
  had = views
  await until(() => top(otherView) === 2 && links.isFed(otherView) && links.isFed(madeView))
  chain.grow(2)
  await until(() => top(madeView) === 4 && top(otherView) === 4)
  await links.close()
})
