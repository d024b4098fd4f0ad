/** When bootstrap peers are dialled, and what is said of it, without a network and without waiting. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { createP2pMetrics } from '../../../src/p2p/limits/metrics.ts'
import { parsePeerAddress } from '../../../src/p2p/peers/address.ts'
import { type Bootstrap, createBootstrap } from '../../../src/p2p/peers/bootstrap.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { metricValue } from '../../support/metric-value.ts'

const peer = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'
const limits = { dialTimeoutMs: 5_000, redialMinMs: 100, redialMaxMs: 1_000, lastingMs: 60_000 }
const never = (): number => 0

interface Scene {
  readonly bootstrap: Bootstrap
  readonly captured: CapturedLog
  /** Hosts that were dialled. */
  readonly dialled: string[]
  /** How the next dials end: by host the message of an error; without one they connect. */
  readonly broken: Map<string, string>
  /** `held` is what dials wait for. */
  readonly state: { connected: boolean; banned: boolean; held: Promise<void> | null }
  /** Names the peer at these hosts. */
  name(...hosts: string[]): void
  /** Lets time pass, and what is due then happen. */
  pass(ms: number): Promise<void>
  failedDials(): Promise<number>
}

function openScene(t: TestContext, self = 'somebody else'): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(Math, 'random', () => 1)
  let nowMs = 1_000_000
  t.mock.method(performance, 'now', () => nowMs)
  const registry = new Registry()
  const captured = captureLog()
  const dialled: string[] = []
  const broken = new Map<string, string>()
  const state: Scene['state'] = { connected: false, banned: false, held: null }
  const figures = { peers: never, activeStreams: never, banned: never, bannedAddresses: never }
  const bootstrap = createBootstrap(self, limits, {
    log: captured.log,
    metrics: createP2pMetrics(registry, figures),
    dial: async (address) => {
      const [, , host = ''] = address.toString().split('/')
      dialled.push(host)
      await state.held
      const message = broken.get(host)
      if (message !== undefined) throw new Error(message)
      state.connected = true
    },
    isConnected: () => state.connected,
    isBanned: () => state.banned,
  })
  t.after(() => bootstrap.close())
  return {
    bootstrap,
    captured,
    dialled,
    broken,
    state,
    name: (...hosts) =>
      bootstrap.set(hosts.map((host) => parsePeerAddress(`/ip4/${host}/tcp/9171/p2p/${peer}`))),
    pass: async (ms) => {
      nowMs += ms
      t.mock.timers.tick(ms)
      await nextTurn()
    },
    failedDials: () => metricValue(registry, 'viewmesh_p2p_dial_failures_total'),
  }
}

const down = 'the machine is down'

test('a peer is dialled at once, at its addresses in turn until one works', async (t) => {
  const scene = openScene(t)
  scene.broken.set('10.0.0.1', down)
  scene.name('10.0.0.1', '10.0.0.2', '10.0.0.3')
  assert.equal(scene.bootstrap.has(peer), true)
  await scene.pass(0)
  assert.deepEqual(scene.dialled, ['10.0.0.1', '10.0.0.2'])
  assert.equal(await scene.failedDials(), 1)
  assert.deepEqual(scene.captured.messages('warn'), [])
  assert.deepEqual(scene.captured.messages('info'), ['bootstrap peer connected'])
  await scene.pass(1_000_000)
  assert.equal(scene.dialled.length, 2, 'it is connected')
})

test('a peer that is named again is not dialled a second time beside the first', async (t) => {
  const scene = openScene(t)
  const held = Promise.withResolvers<void>()
  scene.state.held = held.promise
  scene.name('10.0.0.1')
  await scene.pass(0)
  scene.name('10.0.0.1', '10.0.0.2')
  await scene.pass(0)
  assert.deepEqual(scene.dialled, ['10.0.0.1'])
  held.resolve()
  await scene.pass(0)
  assert.deepEqual(scene.dialled, ['10.0.0.1'])
  assert.deepEqual(scene.captured.messages('info'), ['bootstrap peer connected'])
})

test('pauses between failures double up to the longest', async (t) => {
  const scene = openScene(t)
  scene.broken.set('10.0.0.1', down)
  scene.name('10.0.0.1')
  await scene.pass(0)
  for (const [index, pauseMs] of [200, 400, 800, 1_000, 1_000].entries()) {
    await scene.pass(pauseMs - 1)
    assert.equal(scene.dialled.length, index + 1)
    await scene.pass(1)
    assert.equal(scene.dialled.length, index + 2)
  }
})

test('a reason is a warning when it is new, and as long as it stays a detail', async (t) => {
  const scene = openScene(t)
  scene.broken.set('10.0.0.1', down)
  scene.name('10.0.0.1')
  for (let dial = 0; dial < 2; dial += 1) await scene.pass(1_000)
  scene.broken.set('10.0.0.1', 'the line is down')
  for (let dial = 0; dial < 2; dial += 1) await scene.pass(1_000)
  const said = scene.captured.lines.map(({ level, failures, causes }) => [level, failures, causes])
  const text = (reason: string): string =>
    `[/ip4/10.0.0.1/tcp/9171] dial tcp4 10.0.0.1:9171: ${reason}`
  assert.deepEqual(said, [
    ['warn', 1, text(down)],
    ['debug', 2, text(down)],
    ['warn', 3, text('the line is down')],
    ['debug', 4, text('the line is down')],
  ])
  scene.name('10.0.0.1')
  await scene.pass(0)
  assert.partialDeepStrictEqual(scene.captured.lines.at(-1), { level: 'warn', failures: 1 })
})

test('a peer is reported once it has been missing for as long as lasts, until it comes', async (t) => {
  const scene = openScene(t)
  scene.broken.set('10.0.0.1', down)
  scene.name('10.0.0.1')
  await scene.pass(0)
  await scene.pass(limits.lastingMs - 1)
  assert.deepEqual(scene.bootstrap.unreachable(), [])
  await scene.pass(1)
  assert.deepEqual(
    scene.bootstrap.unreachable().map(({ code }) => code),
    ['P2P_ALL_DIALS_FAILED'],
  )
  scene.name('10.0.0.1')
  assert.equal(scene.bootstrap.unreachable().length, 1, 'the same list says nothing new')
  scene.name('10.0.0.2')
  assert.deepEqual(scene.bootstrap.unreachable(), [], 'of another address nothing is known')
  await scene.pass(0)
  assert.equal(scene.state.connected, true)
  assert.deepEqual(scene.bootstrap.unreachable(), [])
})

test('a connection that lasted starts the pauses again, one that ended soon goes on with them', async (t) => {
  const scene = openScene(t)
  const end = (): void => {
    scene.state.connected = false
    scene.bootstrap.disconnected(peer)
  }
  scene.name('10.0.0.1')
  await scene.pass(0)
  await scene.pass(limits.redialMaxMs)
  end()
  await scene.pass(99)
  assert.equal(scene.dialled.length, 1)
  await scene.pass(1)
  assert.equal(scene.dialled.length, 2)
  await scene.pass(limits.redialMaxMs - 1)
  end()
  await scene.pass(199)
  assert.equal(scene.dialled.length, 2)
  await scene.pass(1)
  assert.equal(scene.dialled.length, 3)
  end()
  await scene.pass(399)
  assert.equal(scene.dialled.length, 3)
  await scene.pass(1)
  assert.equal(scene.dialled.length, 4)
})

test('a banned peer is not dialled before the longest pause is over, and then if it may be', async (t) => {
  const scene = openScene(t)
  scene.state.banned = true
  scene.name('10.0.0.1')
  await scene.pass(0)
  scene.state.banned = false
  await scene.pass(limits.redialMaxMs - 1)
  assert.deepEqual(scene.dialled, [])
  await scene.pass(1)
  assert.deepEqual(scene.dialled, ['10.0.0.1'])
})

test('a node does not dial itself', async (t) => {
  const { bootstrap, dialled, name, pass } = openScene(t, peer)
  name('10.0.0.1')
  await pass(1_000_000)
  assert.deepEqual([dialled, bootstrap.has(peer)], [[], false])
})

test('nobody dials who is named no more, or anybody once it is closed', async (t) => {
  const scene = openScene(t)
  scene.broken.set('10.0.0.1', down)
  scene.name('10.0.0.1')
  await scene.pass(0)
  scene.name()
  assert.deepEqual([scene.bootstrap.has(peer), scene.bootstrap.unreachable()], [false, []])
  scene.bootstrap.disconnected(peer)
  await scene.pass(1_000_000)
  assert.equal(scene.dialled.length, 1)
  scene.name('10.0.0.1')
  scene.bootstrap.close()
  await scene.pass(1_000_000)
  assert.equal(scene.dialled.length, 1)
  scene.bootstrap.disconnected(peer)
  await scene.pass(1_000_000)
  assert.equal(scene.dialled.length, 1)
})

test('a peer that is named again is dialled at once, and then after one pause', async (t) => {
  const scene = openScene(t)
  scene.broken.set('10.0.0.1', down)
  scene.name('10.0.0.1')
  await scene.pass(0)
  await scene.pass(100)
  scene.name('10.0.0.1')
  const dials: number[] = []
  for (const ms of [0, 100, 99, 1]) {
    await scene.pass(ms)
    dials.push(scene.dialled.length)
  }
  assert.deepEqual(dials, [2, 2, 2, 3])
})

test('a peer that came by itself is not dialled', async (t) => {
  const scene = openScene(t)
  scene.broken.set('10.0.0.1', down)
  scene.name('10.0.0.1')
  await scene.pass(0)
  scene.state.connected = true
  await scene.pass(1_000_000)
  assert.deepEqual(scene.dialled, ['10.0.0.1'])
})

test('what comes of a dial is nothing where the peer came meanwhile, or is dialled no more', async (t) => {
  const endings: readonly ((scene: Scene) => void)[] = [
    ({ state }) => {
      state.connected = true
    },
    ({ bootstrap }) => bootstrap.close(),
  ]
  for (const end of endings) {
    const scene = openScene(t)
    const held = Promise.withResolvers<void>()
    scene.state.held = held.promise
    scene.broken.set('10.0.0.1', down)
    scene.name('10.0.0.1', '10.0.0.2')
    await scene.pass(0)
    end(scene)
    held.resolve()
    await scene.pass(1_000_000)
    assert.deepEqual(scene.dialled, ['10.0.0.1'])
    assert.equal(await scene.failedDials(), 0)
    assert.deepEqual(scene.captured.messages('warn'), [])
    t.mock.reset()
  }
})

test('a dial that ends when its peer is named no more is said by nobody, and not tried again', async (t) => {
  for (const isBroken of [true, false]) {
    const scene = openScene(t)
    const held = Promise.withResolvers<void>()
    scene.state.held = held.promise
    if (isBroken) scene.broken.set('10.0.0.1', down)
    scene.name('10.0.0.1')
    await scene.pass(0)
    scene.name()
    held.resolve()
    await scene.pass(1_000_000)
    assert.deepEqual(scene.dialled, ['10.0.0.1'])
    assert.deepEqual(scene.captured.lines, [])
    t.mock.reset()
  }
})
