/**
 * Hosts over P2P of which one keeps a block that gave way while the others were away: an application that built on it
 * finds out when they are back, and one that restarts in between as well.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../src/app/app.ts'
import type { HostFrame } from '../../src/follow/host-frames.ts'
import { decodeStatementExcerpt } from '../../src/row-votes/statement-excerpt.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'
import { createMadeChain, type MadeBlock, type MadeChain } from './support/made-chain.ts'
import { type MadeHost, madeExcerpt, openMadeHost } from './support/made-host.ts'
import { openTestApp, temporaryFolder, topOf, untilState } from './support/test-app.ts'

/** A chain whose blocks the test sets. */
interface ShownChain extends Pick<MadeChain, 'blocks' | 'onChange'> {
  show(blocks: readonly MadeBlock[]): void
}

function createShownChain(): ShownChain {
  let shown: readonly MadeBlock[] = []
  const listeners = new Set<() => void>()
  return {
    blocks: () => shown,
    show: (blocks) => {
      shown = blocks
      for (const listener of listeners) listener()
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

interface Deceived {
  readonly path: string
  open(): Promise<App>
  /** As the two honest Hosts have it. */
  readonly chain: MadeChain
  readonly honest: readonly MadeHost[]
  /** These Hosts are followed from now on, and none of the others that are honest. */
  come(hosts: readonly MadeHost[]): void
}

const heightOfOrphan = 5
const patience = { checkMs: 50, stallMs: 300 }

/** Of three Hosts two are believed; what is stored has a block that gave way, and 100 that do not stand on it. */
async function openDeceived(t: TestContext): Promise<Deceived> {
  const chain = createMadeChain()
  chain.grow(heightOfOrphan + 1)
  let there: readonly MadeHost[] | null = null
  const honest: MadeHost[] = []
  for (const index of [0, 1]) {
    const replace = (frame: HostFrame): readonly HostFrame[] => {
      if (there !== null && !there.some((host) => host === honest[index]))
        throw new Error('it is away')
      return [frame]
    }
    honest.push(await openMadeHost(t, { chain, replace }))
  }
  const come = (hosts: readonly MadeHost[]): void => {
    there = hosts
    for (const host of honest) if (!hosts.includes(host)) host.drop()
  }
  const shown = createShownChain()
  shown.show(chain.blocks())
  /** Beside what it says itself it passes on what one of the others signed. */
  const liar = await openMadeHost(t, {
    chain: { ...chain, ...shown },
    replace: (frame) => {
      const block = frame.kind === 'rows' && shown.blocks().find(({ hash }) => hash === frame.hash)
      const [signer] = honest.map((host) => host.signer)
      if (!block || signer === undefined) return [frame]
      return [frame, { kind: 'votes', excerpts: [madeExcerpt(block, signer)] }]
    },
  })
  const path = await temporaryFolder(t)
  const open = (): Promise<App> =>
    openTestApp(t, { path, patience, hosts: [liar, ...honest], minimumHosts: 2 })
  const app = await open()
  await untilState(app, (state) => topOf(state) === heightOfOrphan)
  come([])
  await untilState(app, ({ hosts }) => hosts.filter(({ role }) => role === 'away').length === 2)
  const below = chain.blocks()
  chain.reorganise(1)
  chain.grow(99)
  const [next, ...later] = chain.blocks().slice(below.length)
  const parent = below.at(-1)?.hash
  assert.ok(next && parent)
  shown.show([...below, { ...next, parent }, ...later])
  await untilState(app, (state) => topOf(state) === heightOfOrphan + 100)
  assert.equal(await branchOf(app), '0')
  await app.close()
  return { path, open, chain, honest, come }
}

/** The branch that the rows at the height are of. */
async function branchOf(app: App): Promise<string | undefined> {
  const text = `{ Payment(filter: {_blockNumber: ${heightOfOrphan}}) { to } }`
  const { data } = await app.query<{ Payment: { to: string }[] }, object>(text)
  const branches = new Set(data.Payment.map(({ to }) => to))
  assert.ok(branches.size <= 1)
  return [...branches][0]
}

async function untilMended(app: App): Promise<void> {
  while ((await branchOf(app).catch(() => undefined)) !== '1') await delay(20)
  const { views } = await untilState(app, (state) => topOf(state) === heightOfOrphan + 100)
  assert.deepEqual(views[0]?.done, [{ from: 0, to: heightOfOrphan + 100 }])
  assert.equal(views[0].rows, 2 * (heightOfOrphan + 101))
}

test('rows of a block that gave way while others were away go when they are back', async (t) => {
  const { open, honest, come } = await openDeceived(t)
  const app = await open()
  await untilState(app, ({ hosts }) => hosts[0]?.role === 'feeds')
  const coming = app.subscribe('subscription { Payment { to _blockNumber } }')
  const first = coming.next()
  come(honest)
  await untilMended(app)
  const { value } = await first
  assert.deepEqual(value, {
    Payment: [1, 2].map(() => ({ to: '1', _blockNumber: heightOfOrphan })),
  })
})

test('one that comes back alone removes nothing, and is heard once more after a restart', async (t) => {
  const { open, honest, come } = await openDeceived(t)
  const early = await open()
  come(honest.slice(0, 1))
  await untilState(early, ({ hosts }) => hosts[1]?.role !== 'away')
  await delay(1_000)
  assert.equal(await branchOf(early), '0')
  assert.equal(early.state().views[0]?.rows, 2 * (heightOfOrphan + 101))
  await early.close()
  const app = await open()
  await untilState(app, ({ hosts }) => hosts[0]?.role === 'feeds' && hosts[1]?.role !== 'away')
  come(honest)
  await untilMended(app)
})

test('a Host that names another block at each of 1,000 heights lets nothing begin again', async (t) => {
  const chain = createMadeChain()
  chain.grow(1_000)
  const shown = createShownChain()
  shown.show(chain.blocks())
  const honest = [await openMadeHost(t, { chain }), await openMadeHost(t, { chain })]
  let named = Promise.withResolvers<void>()
  const liar = await openMadeHost(t, {
    chain: { ...chain, ...shown },
    replace: (frame) => {
      const isLast =
        frame.kind === 'statement' && decodeStatementExcerpt(frame.excerpt).blockNumber === 999
      if (isLast) named.resolve()
      return [frame]
    },
  })
  const options = {
    path: await temporaryFolder(t),
    hosts: [...honest, liar],
    minimumHosts: 2,
  }
  const early = await openTestApp(t, options)
  await untilState(early, (state) => topOf(state) === 999)
  await early.close()
  const app = await openTestApp(t, { ...options, patience })
  await untilState(app, ({ hosts }) => hosts.every(({ role }) => role !== 'away'))
  const opened = (): number[] => honest.map(({ opened: { rows, votes } }) => rows + votes)
  const before = opened()
  shown.show(chain.blocks().map((each) => ({ ...each, hash: namedHash(`no ${each.hash}`) })))
  for (let height = 1_000; height < 1_005; height++) {
    liar.drop()
    named = Promise.withResolvers()
    await named.promise
    chain.grow(1)
    await untilState(app, (state) => topOf(state) === height)
  }
  assert.equal(app.state().views[0]?.rows, 2 * 1_005)
  assert.ok(opened().every((count, index) => count <= (before[index] ?? 0) + 2))
})
