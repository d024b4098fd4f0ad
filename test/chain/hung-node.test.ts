/** A node that hangs keeps its connections open and answers nothing: that is known long before requests time out. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import {
  type NodeClient,
  type NodeClientOptions,
  openNodeClient,
} from '../../src/chain/node-client.ts'
import { assertExplained } from '../docs/support/explained.ts'
import { type CapturedLog, captureLog } from '../support/captured-log.ts'
import { type Anvil, startAnvil } from '../support/chain/anvil.ts'

const fails = 'execution node fails, will try again until it answers'
const answers = 'execution node answers again'

interface Setting {
  readonly anvil: Anvil
  readonly client: NodeClient
  readonly log: CapturedLog
}

async function openBeside(
  t: TestContext,
  options: (anvil: Anvil) => Partial<NodeClientOptions> = () => ({}),
): Promise<Setting> {
  const anvil = await startAnvil()
  t.after(() => anvil.close())
  const log = captureLog()
  const client = openNodeClient(
    { rpcUrls: [anvil.url], lateMs: 1_000, pollIntervalMs: 20, ...options(anvil) },
    { log: log.log, registry: new Registry() },
  )
  t.after(() => client.close())
  return { anvil, client, log }
}

/** Heads as the client follows them, until the test is over. */
function follow(t: TestContext, client: NodeClient): AsyncIterator<{ readonly number: number }> {
  const stop = new AbortController()
  t.after(() => stop.abort())
  return client.heads(stop.signal)[Symbol.asyncIterator]()
}

for (const [transport, options] of [
  ['HTTP', () => ({})],
  ['an open WebSocket', ({ wsUrl }: Anvil) => ({ wsUrl, maxSilenceMs: 50 })],
] as const)
  test(`a node that hangs over ${transport} is offline within lateMs of being asked, and comes back`, async (t) => {
    const { anvil, client, log } = await openBeside(t, options)
    const heads = follow(t, client)
    await heads.next()
    if (transport !== 'HTTP') await log.line('follows heads over the WebSocket')
    assert.equal(client.failure(), null)

    anvil.hang()
    const { code, reason } = await log.line(fails)
    assert.deepEqual(
      [code, reason],
      ['CHAIN_TIMEOUT', `${new URL(anvil.url).host} did not answer within 1000 ms`],
    )
    const failure = client.failure() ?? assert.fail()
    assertExplained(failure)
    assert.deepEqual([client.mode(), failure.code], ['offline', 'CHAIN_TIMEOUT'])

    anvil.resume()
    await log.line(answers)
    assert.equal(client.failure(), null)
    await anvil.rpc('evm_mine')
    assert.equal((await heads.next()).value?.number, 1)
  })

test('what a slow node answers at last is taken: the request was not given up', async (t) => {
  const { anvil, client, log } = await openBeside(t)
  anvil.hang()
  const head = client.head(new AbortController().signal)
  await log.line(fails)
  anvil.resume()
  assert.equal((await head).number, 0)
  assert.deepEqual(log.messages('info'), [answers])
})

test('of several URLs the last one to be tried decides whether the node is offline', async (t) => {
  const second = await startAnvil()
  t.after(() => second.close())
  const { anvil, client, log } = await openBeside(t, ({ url }) => ({
    rpcUrls: [url, second.url],
    timeoutMs: 1_500,
  }))
  anvil.hang()
  assert.equal((await client.head(new AbortController().signal)).number, 0)
  assert.deepEqual(log.messages('warn'), [])
})
