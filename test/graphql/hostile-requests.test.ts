/**
 * Requests of somebody who wishes a Host no good, against a running program that takes in blocks
 * meanwhile: one after the other, all at once, and by clients that read no answers.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { type ChainBlock, createChain, shapes } from '../support/block-factory.ts'
import { openHealthProbe } from '../support/health-probe.ts'
import { type HostileRequest, hostileRequests } from '../support/hostile-requests.ts'
import { type Program, pause, prepareProgram } from '../support/programs.ts'
import { openTestGenerator } from '../support/test-generator.ts'

const healthMs = 250

interface Scene {
  readonly host: Program
  /** Publishes one more block. */
  publish(): Promise<void>
  /** Waits until the Host has every block that was published. */
  caughtUp(): Promise<void>
}

/** A Host with two blocks of very much calldata and 40 as full as those of mainnet. */
async function openScene(t: TestContext): Promise<Scene> {
  const large = { transactions: 20, logs: 20, entries: 0, calldataBytes: 100_000 }
  const heavy = createChain({ count: 2, shape: large })
  const full = createChain({ count: 40, parent: heavy[1] as ChainBlock, shape: shapes.full })
  const generator = await openTestGenerator(t, 'generator', [...heavy, ...full])
  const host = await prepareProgram('host', {
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    BOOTSTRAP_PEERS: generator.room.address,
    HOST_TRUSTED_SIGNERS: generator.signer.identity,
  })
  t.after(() => host.close())
  await host.start()
  let top = full[39] as ChainBlock
  const caughtUp = async (): Promise<void> => {
    while ((await host.health()).head !== top.number) await pause(20)
  }
  await caughtUp()
  const shape = { ...shapes.full, transactions: 20, logs: 50, entries: 6 }
  return {
    host,
    caughtUp,
    async publish() {
      const [next] = createChain({ count: 1, parent: top, shape })
      top = next as ChainBlock
      await generator.publish([top])
    },
  }
}

/** What an answer says, as far as it says how the request was met. */
interface Met {
  readonly status: number
  readonly retryAfter: string | null
  readonly code: string | null
  readonly message: string
}

async function ask(host: Program, { query, variables }: HostileRequest): Promise<Met> {
  const body = JSON.stringify({ query, variables })
  const { status, headers, body: answer } = await fetch(host.graphqlUrl, { method: 'POST', body })
  const first = Buffer.alloc(4_096)
  let length = 0
  for await (const piece of answer ?? []) {
    length += Buffer.from(piece).copy(first, length)
  }
  const text = first.toString('utf8', 0, length)
  return {
    status,
    retryAfter: headers.get('retry-after'),
    code: /"code":"(\w+)"/.exec(text)?.[1] ?? null,
    message: /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? '',
  }
}

test('a Host lives through whatever is asked of it, while blocks arrive', async (t) => {
  const scene = await openScene(t)
  const { host } = scene
  console.log(host.memory())
  const probe = openHealthProbe(host.healthUrl)
  const t0 = performance.now()
  for (const [name, request] of Object.entries(hostileRequests)) {
    await scene.publish()
    const s = performance.now()
    const met = await ask(host, request)
    console.log(
      name,
      met.code === request.code ? 'ok' : 'DIFF ' + met.code,
      (performance.now() - s).toFixed(0),
      met.message.slice(0, 100),
    )
  }
  console.log('sequential', performance.now() - t0, host.memory().peakBytes / 1e6)
  await Promise.all(
    Object.values(hostileRequests).map(async (r, i) => {
      if (i % 8 === 0) await scene.publish()
      const m = await ask(host, r)
      if (m.code !== r.code) console.log(m)
    }),
  )
  console.log('together', performance.now() - t0, host.memory().peakBytes / 1e6)
  await scene.caughtUp()
  const times = await probe.stop()
  console.log(
    times.length,
    times.at(-1),
    times.at(Math.floor(0.99 * times.length)),
    times.at(Math.floor(0.5 * times.length)),
  )
})
