/** `viewmesh host` as a process: what it answers, how it stops, and that it survives being killed. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { verifyBody } from '../../src/primitives/body/body.ts'
import type { HealthReport } from '../../src/service/contract.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { createChain, shapes } from '../support/chain/block-factory.ts'
import { type ChildProgram, startChild } from '../support/child-program.ts'
import { freePorts } from '../support/free-port.ts'
import { onRoomyDisk } from '../support/machine-disk.ts'
import { pause } from '../support/programs.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { openTestGenerator } from '../support/test-generator.ts'
import { storedChain, testDirectory } from '../support/test-store.ts'

const network = 'Local__Devnet'

interface HostProgram {
  readonly home: string
  readonly storePath: string
  readonly child: ChildProgram
  /** Null while nobody listens. */
  health(): Promise<{ status: number; report: HealthReport } | null>
  /** Waits until the highest stored block has this height. */
  reached(height: number): Promise<void>
  metrics(accept?: string): Promise<string>
  query<T>(query: string): Promise<T>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

async function startHost(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  home: string = testDirectory(t),
): Promise<HostProgram> {
  const [health = 0, api = 0, playground = 0, p2p = 0] = await hostPorts()
  assert.equal(playground, api + 1)
  const child = startChild('src/main.ts', {
    args: ['host'],
    env: {
      HOME: home,
      DB_KEYRING_SECRET: 'a secret of tests only',
      DB_API_ADDR: `127.0.0.1:${api}`,
      DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
      HEALTH_ADDR: `127.0.0.1:${health}`,
      CHAIN_NAME: 'Local',
      CHAIN_NETWORK: 'Devnet',
      ...env,
    },
  })
  const end = once(child.process, 'exit')
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.process.exitCode === null && child.process.signalCode === null) {
      child.process.kill(signal)
      await end
    }
    return child.process.exitCode
  }
  t.after(() => stop('SIGKILL'))
  const url = `http://127.0.0.1:${health}`
  const readHealth = async (): Promise<{ status: number; report: HealthReport } | null> => {
    const response = await fetch(`${url}/health`).catch(() => null)
    if (response === null) return null
    return { status: response.status, report: onRoomyDisk((await response.json()) as HealthReport) }
  }
  return {
    home,
    storePath: join(home, '.viewmesh', 'host'),
    child,
    stop,
    health: readHealth,
    reached: (height) => until(async () => ((await readHealth())?.report.head ?? -1) >= height),
    metrics: async (accept = 'text/plain') =>
      (await fetch(`${url}/metrics`, { headers: { accept } })).text(),
    query: async <T>(query: string) => {
      const response = await fetch(`http://127.0.0.1:${api}/api/v0/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const { data, errors } = (await response.json()) as { data: T; errors?: unknown }
      assert.equal(errors, undefined)
      return data
    },
  }
}

/** Free ports, two of them neighbours: the playground is one above the API. */
async function hostPorts(): Promise<number[]> {
  const [health = 0, p2p = 0] = await freePorts(2)
  const random = 20_000 + Math.floor(Math.random() * 10_000) * 2
  return [health, random, random + 1, p2p]
}

/** Waits for what a process reports only when asked. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(20)
}

test('a Host that runs answers health, metrics and queries, and stops within five seconds', async (t) => {
  const chain = createChain({ count: 12, from: 1, shape: shapes.tiny })
  const alice = await openTestGenerator(t, 'alice', chain)
  const bob = await openTestGenerator(t, 'bob', chain)
  const peers = [alice.room.address, bob.room.address]
  const host = await startHost(t, { BOOTSTRAP_PEERS: peers.join(',') })
  await host.reached(12)
  const next = createChain({ count: 1, parent: chain[11] as (typeof chain)[number] })
  for (const { room } of [alice, bob])
    await until(() => room.p2p.peers().some(({ subscribed }) => subscribed))
  await alice.publish(next)
  await bob.publish(next)
  await host.reached(13)

  await until(async () => (await host.health())?.report.source_head === 13)
  const answer = await host.health()
  assert.equal(answer?.status, 200)
  const report = answer?.report
  assert.deepEqual(
    {
      status: report?.status,
      program: report?.program,
      chain: report?.chain,
      network: report?.network,
      tail: report?.tail,
      head: report?.head,
      current_block: report?.current_block,
      source_head: report?.source_head,
      lag: report?.lag,
      gaps: report?.gaps,
      schema: report?.schema,
      error: report?.error,
      defradb_connected: report?.defradb_connected,
    },
    {
      status: 'healthy',
      program: 'host',
      chain: 'Local',
      network: 'Devnet',
      tail: 1,
      head: 13,
      current_block: 13,
      source_head: 13,
      lag: 0,
      gaps: [],
      schema: { state: 'embedded', differing: [] },
      error: null,
      defradb_connected: true,
    },
  )
  assert.match(report?.p2p.self?.id ?? '', /^12D3KooW/)
  assert.deepEqual(
    report?.p2p.peers.map(({ id }) => id).sort(),
    [alice.room.id, bob.room.id].sort(),
  )

  const text = await host.metrics()
  for (const line of [
    /^viewmesh_host_blocks_processed_total 13$/m,
    /^viewmesh_host_transactions_processed_total 26$/m,
    /^viewmesh_host_head_height 13$/m,
    /^viewmesh_host_lag_blocks 0$/m,
    /^viewmesh_host_stands_still_seconds 0$/m,
    /event_loop_delay_seconds\{.*thread="writer"/,
  ])
    assert.match(text, line)
  const { metrics } = JSON.parse(await host.metrics('application/json'))
  assert.equal(metrics.blocks_processed, 13)
  assert.equal(metrics.logs_processed, 39)

  interface Answer {
    Block: { number: number; transactions: { logs: unknown[] }[] }[]
    AttestationRecord: { vote_count: number; source_doc: string[] }[]
  }
  await until(async () => {
    const { AttestationRecord } = await host.query<Answer>(
      '{ AttestationRecord(filter: {attested_doc: {_like: "block:13:%"}}) { vote_count } }',
    )
    return AttestationRecord[0]?.vote_count === 2
  })
  const { Block } = await host.query<Answer>(
    '{ Block(filter: {number: {_eq: 7}}) { number transactions { hash logs { address } } } }',
  )
  assert.deepEqual(
    Block.map(({ number, transactions }) => [
      number,
      transactions.flatMap(({ logs }) => logs).length,
    ]),
    [[7, 3]],
  )

  const stopping = AbortSignal.timeout(30_000)
  assert.equal(await host.stop(), 0)
  assert.equal(stopping.aborted, false)
  assert.match(host.child.stdout(), /"msg":"stopped"/)
})

test('a Host that is killed while it catches up has whole blocks with their seals, and goes on', async (t) => {
  const random = createSeededRandom('kill the host')
  const chain = createChain({ count: 150, from: 1, shape: shapes.tiny })
  const alice = await openTestGenerator(t, 'alice', chain)
  const home = testDirectory(t)
  const env = { BOOTSTRAP_PEERS: alice.room.address }
  const killed = await startHost(t, env, home)
  await killed.reached(1 + random.int(60))
  await killed.stop('SIGKILL')
  assert.notEqual(await assertWhole(killed.storePath, alice.chain), 0)
  const next = await startHost(t, env, home)
  await next.reached(150)
  assert.equal(await next.stop(), 0)
  assert.equal(await assertWhole(next.storePath, alice.chain), 150)
})

/** Every stored block equals the Generator's, documents, root and one seal; answers how many there are. */
async function assertWhole(
  path: string,
  truth: ReadonlyMap<number, { hash: string; seal: { merkleRoot: string } }>,
): Promise<number> {
  const store = await openWriter(
    { path, network, retainBlocks: 1000 },
    { log: pino({ enabled: false }) },
  )
  try {
    const heights = storedChain(store.reader)
    store.reader.read((snapshot) => {
      for (const [height, hash] of heights) {
        const expected = truth.get(height)
        assert.equal(hash, expected?.hash)
        const { root } = verifyBody(network, snapshot.body(height) ?? new Uint8Array())
        assert.equal(root, expected?.seal.merkleRoot)
        assert.deepEqual(
          snapshot.seals(height).map(({ merkleRoot }) => merkleRoot),
          [root],
        )
      }
      assert.deepEqual(snapshot.gaps(1), [])
    })
    return heights.length
  } finally {
    await store.close()
  }
}
