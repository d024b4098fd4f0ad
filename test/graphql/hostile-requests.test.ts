import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ChainBlock, createChain, shapes } from '../support/block-factory.ts'
import { type HostileRequest, hostileRequests } from '../support/hostile-requests.ts'
import { type Program, pause, prepareProgram } from '../support/programs.ts'
import { openTestGenerator, type TestGenerator } from '../support/test-generator.ts'

const mib = 1024 * 1024

test('a Host lives through whatever is asked of it', async (t) => {
  const heavy = createChain({
    count: 2,
    shape: { transactions: 20, logs: 20, entries: 0, calldataBytes: 100_000 },
  })
  const full = createChain({ count: 40, parent: heavy[1] as ChainBlock, shape: shapes.full })
  const generator = await openTestGenerator(t, 'generator', [...heavy, ...full])
  const host = await prepareProgram('host', {
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    BOOTSTRAP_PEERS: generator.room.address,
    NODE_OPTIONS: '--max-old-space-size=1024',
  })
  t.after(() => host.close())
  await host.start()
  await until(async () => (await host.health()).head === 42)
  const t0 = performance.now()
  let maxHealth = 0
  let on = true
  const healthLoop = (async () => {
    while (on) {
      const s = performance.now()
      await (await fetch(host.healthUrl)).text()
      maxHealth = Math.max(maxHealth, performance.now() - s)
      await pause(20)
    }
  })()
  console.log(
    'before',
    host.memory().residentBytes / mib,
    host.memory().peakBytes / mib,
    host.memory().ownBytes / mib,
  )
  await host.metric('viewmesh_service_event_loop_delay_seconds{thread="main",quantile="1"}')
  for (const [name, request] of Object.entries(hostileRequests)) {
    const s = performance.now()
    maxHealth = 0
    const response = await fetch(host.graphqlUrl, {
      method: 'POST',
      body: JSON.stringify({ query: request.query, variables: request.variables }),
    })
    const body = await response.text()
    const code = body.slice(0, 5000).match(/"code":"(\w+)"/)?.[1] ?? null
    const blocked = await host.metric(
      'viewmesh_service_event_loop_delay_seconds{thread="main",quantile="1"}',
    )
    console.log(
      code === request.code ? 'ok  ' : `DIFF ${code} ${response.status}`,
      name.slice(0, 50),
      (performance.now() - s).toFixed(0),
      'health',
      maxHealth.toFixed(0),
      'blocked',
      (blocked * 1000).toFixed(0),
      'rss',
      (host.memory().residentBytes / mib).toFixed(0),
      'own',
      (host.memory().ownBytes / mib).toFixed(0),
    )
  }
  console.log('sequential', performance.now() - t0, 'peak', host.memory().peakBytes / mib)
  maxHealth = 0
  const t1 = performance.now()
  const out: Record<string, number> = {}
  const sizes: number[] = []
  await Promise.all(
    Object.entries(hostileRequests).map(async ([name, request]) => {
      const response = await fetch(host.graphqlUrl, {
        method: 'POST',
        body: JSON.stringify({ query: request.query, variables: request.variables }),
      })
      const body = await response.text()
      const code = body.slice(0, 5000).match(/"code":"(\w+)"/)?.[1] ?? 'ok'
      out[`${response.status} ${code}`] = (out[`${response.status} ${code}`] ?? 0) + 1
      sizes.push(body.length)
    }),
  )
  console.log(
    'together',
    performance.now() - t1,
    'peak',
    host.memory().peakBytes / mib,
    'health',
    maxHealth,
    'blocked',
    await host.metric('viewmesh_service_event_loop_delay_seconds{thread="main",quantile="1"}'),
    out,
    await host.metric('viewmesh_graphql_held_bytes'),
  )
  on = false
  await healthLoop
})

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(20)
}
