/**
 * Hostile requests against a running Host that takes in blocks
 * meanwhile: all at once, and by clients that read no answers.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { defaultQueryLimits } from '../../../src/graphql/budget/limits.ts'
import { retryAfter } from '../../../src/graphql/http/route.ts'
import { hostHeapOption, hostResidentBytes } from '../../generate/query-limits.ts'
import { type ChainBlock, createChain, shapes } from '../../support/chain/block-factory.ts'
import { type Program, pause, prepareProgram } from '../../support/programs.ts'
import { openTestGenerator } from '../../support/test-generator.ts'
import type { HostileRequest } from '../support/costly-requests.ts'
import { type HealthProbe, openHealthProbe } from '../support/health-probe.ts'
import { hostileRequests } from '../support/hostile-requests.ts'

/** How soon a Host says how it is, whatever else it is asked, on a machine that is slow and has other work as well. */
const healthMs = 1_000

interface Scene {
  readonly host: Program
  readonly probe: HealthProbe
  /** Publishes one more block. */
  publish(): Promise<void>
  /** Waits until the Host has every block that was published. */
  caughtUp(): Promise<void>
}

/** A Host with two blocks of very much calldata and 26 that are as full as any. */
async function openScene(t: TestContext): Promise<Scene> {
  const large = { transactions: 20, logs: 20, entries: 0, calldataBytes: 100_000 }
  const many = { ...shapes.full, logs: 900 }
  const first = createChain({ count: 2, shape: large })
  const others = createChain({ count: 26, parent: first[1] as ChainBlock, shape: many })
  const blocks = [...first, ...others]
  const generator = await openTestGenerator(t, 'generator', blocks)
  const host = await prepareProgram('host', {
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    BOOTSTRAP_PEERS: generator.room.address,
    NODE_OPTIONS: hostHeapOption,
    HOST_TRUSTED_SIGNERS: generator.signer.identity,
  })
  t.after(() => host.close())
  await host.start()
  let top = blocks[27] as ChainBlock
  const caughtUp = async (): Promise<void> => {
    while ((await host.health()).head !== top.number) await pause(20)
  }
  await caughtUp()
  const shape = { ...shapes.full, transactions: 20, logs: 50, entries: 6 }
  const publish = async (): Promise<void> => {
    const next = createChain({ count: 1, parent: top, shape })
    top = next[0] as ChainBlock
    await generator.publish(next)
  }
  return { host, probe: openHealthProbe(host.healthUrl), publish, caughtUp }
}

/** How a request was met. */
interface Met {
  readonly status: number
  readonly retryAfter: string | null
  /** Null where it was answered. */
  readonly code: string | null
  readonly message: string
}

/** Asks, and reads the whole answer, of which the beginning says how the request was met. */
async function ask({ host }: Scene, { query, variables }: HostileRequest): Promise<Met> {
  const body = JSON.stringify({ query, variables })
  const { status, headers, body: answer } = await fetch(host.graphqlUrl, { method: 'POST', body })
  let start = ''
  for await (const piece of answer?.pipeThrough(new TextDecoderStream()) ?? []) {
    if (start.length < 8_192) start += piece.slice(0, 8_192)
  }
  return {
    status,
    retryAfter: headers.get('retry-after'),
    code: /"code":"(\w+)"/.exec(start)?.[1] ?? null,
    message: /"message":"((?:[^"\\]|\\.)*)"/.exec(start)?.[1] ?? '',
  }
}

/** A figure and, after it, another sentence. */
const limitAndRemedy = /\d.*\. [A-Z`_].*\.$/

function assertMet(name: string, request: HostileRequest, met: Met): void {
  const { status, code, message } = met
  assert.deepEqual({ name, status, code }, { name, status: 200, code: request.code }, message)
  assertExplained(met)
}

function assertExplained({ code, message }: Met): void {
  if (code?.endsWith('_LIMIT')) assert.match(message, limitAndRemedy)
}

/** Each is met as when it is alone, unless the others leave it no memory or no time. */
async function askAllAtOnce(scene: Scene): Promise<void> {
  const asked = Object.entries(hostileRequests).map(async ([name, request]) => {
    const met = await ask(scene, request)
    if (met.code === 'GRAPHQL_BUSY') {
      assert.deepEqual([met.status, met.retryAfter], [503, retryAfter])
      assert.match(met.message, limitAndRemedy)
    } else if (met.code === 'GRAPHQL_TIME_LIMIT') assertExplained(met)
    else assertMet(name, request, met)
  })
  for (let block = 0; block < 20; block++) await scene.publish()
  await Promise.all(asked)
}

/** Answers of 16 MB for 40 clients: some are held until they are read, and for others there is no room. */
async function askWithoutReading({ host }: Scene): Promise<void> {
  const query = '{ Transaction(filter: {blockNumber: {_le: 2}}) { a: input b: input } }'
  const clients: ClientRequest[] = Array.from({ length: 40 }, () => {
    const client = httpRequest(host.graphqlUrl, { method: 'POST' })
    client.on('error', () => undefined)
    client.end(JSON.stringify({ query }))
    return client
  })
  const statuses = await Promise.all(clients.map(statusOf))
  assert.deepEqual([...new Set(statuses)].sort(), ['200 undefined', `503 ${retryAfter}`])
  const held = await host.metric('viewmesh_graphql_held_bytes')
  assert.ok(held > 0 && held <= defaultQueryLimits.maxHeldBytes, `${held} bytes held`)
  for (const client of clients) client.destroy()
  while ((await host.metric('viewmesh_graphql_held_bytes')) > 0) await pause(20)
}

async function statusOf(client: ClientRequest): Promise<string> {
  const [response] = (await once(client, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return `${response.statusCode} ${response.headers['retry-after']}`
}

test('a Host answers hostile requests and stays responsive while blocks arrive', async (t) => {
  assert.ok(Object.keys(hostileRequests).length >= 60)
  const scene = await openScene(t)
  const { host, probe } = scene
  await askAllAtOnce(scene)
  await askWithoutReading(scene)
  await scene.caughtUp()
  const times = await probe.stop()
  // On a machine with more to do than processors, any program is late now and then.
  const slow = times.filter((ms) => ms > healthMs)
  assert.ok(slow.length * 10 <= times.length, `${slow.length} of ${times.length} reports were late`)
  const { peakBytes } = host.memory()
  assert.ok(peakBytes < hostResidentBytes, `${peakBytes} bytes were resident`)
  const { Block } = await host.query<{ Block: unknown[] }>('{ Block(limit: 1) { number } }')
  assert.equal(Block.length, 1)
})
