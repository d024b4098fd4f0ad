/** `viewmesh generator` as a container runs it, beside a real node, looked at from outside. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { HealthReport } from '../../src/service/contract.ts'
import { type Anvil, deployEmitter, mineBusyBlocks, startAnvil } from '../support/chain/anvil.ts'
import { type ChildProgram, startChild } from '../support/child-program.ts'
import { freePorts } from '../support/free-port.ts'
import { onRoomyDisk } from '../support/machine-disk.ts'
import { testDirectory } from '../support/test-store.ts'

interface Program {
  readonly anvil: Anvil
  readonly child: ChildProgram
  readonly healthUrl: string
  readonly apiUrl: string
  readonly env: Readonly<Record<string, string>>
  health(): Promise<HealthReport>
  /** Waits until the report is so. */
  reports(isSo: (report: HealthReport) => boolean): Promise<HealthReport>
  /** Waits until the newest stored block is the node's. */
  caughtUp(): Promise<void>
  query<T>(text: string): Promise<T>
  /** Starts it again on its folder. */
  restart(): Promise<void>
}

/** A Generator on free ports and an empty folder, ready. */
async function startGenerator(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const anvil = await startAnvil()
  const folder = testDirectory(t)
  const [health = 0, api = 0, p2p = 0] = await freePorts(3)
  const env = {
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    DB_STORE_PATH: join(folder, 'store'),
    DB_KEY_PATH: join(folder, 'keys'),
    DB_KEYRING_SECRET: 'a secret for the tests',
    DB_API_ADDR: `127.0.0.1:${api}`,
    DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
    HEALTH_ADDR: `127.0.0.1:${health}`,
    NODE_RPC_URL: anvil.url,
    NODE_WS_URL: anvil.wsUrl,
    GENERATOR_START_HEIGHT: '0',
    ...settings,
  }
  const start = (): ChildProgram => startChild('src/main.ts', { args: ['generator'], env })
  let child = start()
  const end = async (): Promise<void> => {
    child.process.kill('SIGKILL')
    await child.ended()
  }
  t.after(async () => {
    if (child.process.exitCode === null && child.process.signalCode === null) await end()
    await anvil.close()
  })
  const healthUrl = `http://127.0.0.1:${health}`
  const apiUrl = `http://127.0.0.1:${api}`
  const program = {
    anvil,
    get child() {
      return child
    },
    healthUrl,
    apiUrl,
    env,
    async health() {
      return onRoomyDisk((await (await fetch(`${healthUrl}/health`)).json()) as HealthReport)
    },
    async reports(isSo: (report: HealthReport) => boolean) {
      for (;;) {
        const report = await program.health()
        if (isSo(report)) return report
        await pause(20)
      }
    },
    async caughtUp() {
      for (;;) {
        const { hash } = await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
        const text =
          '{ Block(order: {number: DESC}, limit: 1) { hash } BlockSignature(order: {blockNumber: DESC}, limit: 1) { blockHash } }'
        const { Block, BlockSignature } = await program.query<{
          Block: { hash: string }[]
          BlockSignature: { blockHash: string }[]
        }>(text)
        if (Block[0]?.hash === hash && BlockSignature[0]?.blockHash === hash) return
        await pause(20)
      }
    },
    async query<T>(text: string) {
      const response = await fetch(`${apiUrl}/api/v0/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: text }),
      })
      const { data, errors } = (await response.json()) as { data: T; errors?: unknown }
      assert.equal(errors, undefined, JSON.stringify(errors))
      return data
    },
    async restart() {
      child = start()
      await child.says('generator ready')
    },
  }
  await child.says('generator ready')
  return program
}

interface Seals {
  BlockSignature: { blockNumber: number; blockHash: string; signatureIdentity: string }[]
}

const sealQuery =
  '{ BlockSignature(order: {blockNumber: ASC}) { blockNumber blockHash signatureIdentity } }'

test('blocks are mined, sealed, queried, pruned, orphaned and resumed after SIGTERM and kill -9', async (t) => {
  const keysFile = join(testDirectory(t), 'schema-keys')
  writeFileSync(keysFile, 'a-schema-key')
  const program = await startGenerator(t, { SCHEMA_API_KEYS_FILE: keysFile })
  const { anvil } = program
  const emitter = await deployEmitter(anvil)

  await t.test('documents nest in both directions and carry the receipts', async () => {
    await mineBusyBlocks(anvil, emitter, 3)
    await program.caughtUp()
    const { Block } = await program.query<{ Block: { number: number; transactions: object[] }[] }>(
      '{ Block(order: {number: DESC}, limit: 1) { number transactions { status gasUsed logs { address topics transaction { hash block { number } } } accessList { address storageKeys } } } }',
    )
    const [block] = Block
    assert.equal(block?.number, 4)
    assert.equal(block?.transactions.length, 5)
    assert.match(JSON.stringify(block), new RegExp(`"logs":\\[\\{"address":"${emitter}"`))
    assert.match(JSON.stringify(block), /"accessList":\[\{"address"/)
    assert.match(JSON.stringify(block), /"status":true/)
  })

  await t.test('/health is healthy and says who and where it is', async () => {
    const report = await program.reports(({ upstream_mode: mode }) => mode === 'websocket')
    assert.equal(report.status, 'healthy')
    assert.equal(report.program, 'generator')
    assert.equal(report.current_block, 4)
    assert.match(report.p2p.self?.id ?? '', /^12D3KooW/)
    assert.deepEqual([report.tail, report.head, report.gaps, report.error], [0, 4, [], null])
    assert.deepEqual(report.p2p.peers, [])
  })

  await t.test(
    '/metrics has the writer’s and the main thread’s, and the JSON form its counters',
    async () => {
      const text = await (await fetch(`${program.healthUrl}/metrics`)).text()
      assert.match(text, /^viewmesh_generator_blocks_total 5$/m)
      assert.match(text, /^viewmesh_generator_head_height 4$/m)
      assert.match(text, /^viewmesh_generator_tail_height 0$/m)
      assert.match(text, /^viewmesh_generator_lag_blocks 0$/m)
      assert.match(text, /^viewmesh_generator_encode_seconds_count ([5-9]|\d\d+)$/m)
      assert.match(text, /^viewmesh_chain_websocket_connected 1$/m)
      const headers = { accept: 'application/json' }
      const json = await (await fetch(`${program.healthUrl}/metrics`, { headers })).json()
      assert.equal((json as { blocks_processed: number }).blocks_processed, 5)
      assert.equal((json as { current_block: number }).current_block, 4)
    },
  )

  await t.test('the schema endpoint wants the key', async () => {
    const url = `${program.healthUrl}/api/v1/schema/block`
    const headers = { authorization: 'Bearer a-schema-key' }
    assert.equal((await fetch(url)).status, 401)
    const answer = (await (await fetch(url, { headers })).json()) as { network: string }
    assert.equal(answer.network, 'Local__Devnet')
  })

  await t.test(
    'a renewed schema key is accepted without a restart, and the old one still is',
    async () => {
      const statusWith = async (key: string): Promise<number> =>
        (await fetch(`${program.healthUrl}/api/v1/schema`, { headers: { 'x-api-key': key } }))
          .status
      assert.equal(await statusWith('another-key'), 403)
      writeFileSync(keysFile, 'another-key')
      await program.child.says('file read again')
      assert.equal(await statusWith('another-key'), 200)
      assert.equal(await statusWith('a-schema-key'), 200)
      assert.doesNotMatch(program.child.stdout(), /another-key/)
    },
  )

  await t.test(
    'SIGTERM stops it at once with code 0, and it resumes without sealing twice',
    async () => {
      const before = await program.query<Seals>(sealQuery)
      program.child.process.kill('SIGTERM')
      const { code } = await program.child.ended()
      assert.equal(code, 0)
      await mineBusyBlocks(anvil, emitter, 2)
      await program.restart()
      await program.caughtUp()
      const after = await program.query<Seals>(sealQuery)
      assert.deepEqual(after.BlockSignature.slice(0, 5), before.BlockSignature)
      assert.deepEqual(
        after.BlockSignature.map(({ blockNumber }) => blockNumber),
        [0, 1, 2, 3, 4, 5, 6],
      )
    },
  )

  await t.test('a reorganisation is followed and its blocks are sealed', async () => {
    await anvil.rpc('anvil_reorg', 3, [])
    await program.caughtUp()
    await program.child.says('node changed branches')
    await assertEqualToNode(program)
  })

  await t.test('after kill -9 it goes on where it was', async () => {
    await mineBusyBlocks(anvil, emitter, 2)
    program.child.process.kill('SIGKILL')
    await program.child.ended()
    await mineBusyBlocks(anvil, emitter, 2)
    await program.restart()
    await program.caughtUp()
    await assertEqualToNode(program)
  })

  await t.test('each block is in the log, and nothing secret is', () => {
    assert.match(program.child.stdout(), /"height":\d+,.*"msg":"block sealed"/)
    assert.doesNotMatch(program.child.stdout(), /a secret for the tests|a-schema-key/)
  })
})

/** Every block of the node is there with all its documents and one seal. */
async function assertEqualToNode({ anvil, query }: Program): Promise<void> {
  const { Block } = await query<{
    Block: { number: number; hash: string; transactions: { hash: string; logs: object[] }[] }[]
  }>('{ Block(order: {number: ASC}) { number hash transactions { hash logs { logIndex } } } }')
  const { BlockSignature } = await query<Seals>(sealQuery)
  for (const [index, stored] of Block.entries()) {
    const number = `0x${index.toString(16)}`
    const block = await anvil.rpc<{ hash: string; transactions: string[] }>(
      'eth_getBlockByNumber',
      number,
      false,
    )
    const receipts = await anvil.rpc<{ logs: object[] }[]>('eth_getBlockReceipts', number)
    assert.equal(stored.number, index)
    assert.equal(stored.hash, block.hash)
    assert.deepEqual(
      stored.transactions.map(({ hash, logs }) => [hash, logs.length]),
      block.transactions.map((hash, place) => [hash, receipts[place]?.logs.length]),
    )
    assert.equal(BlockSignature.filter(({ blockHash }) => blockHash === block.hash).length, 1)
  }
  assert.equal(Number(await anvil.rpc('eth_blockNumber')), Block.length - 1)
}

test('a problem in the configuration ends it with code 1 and one message', async () => {
  const env = { NODE_RPC_URL: 'localhost:8545' }
  const { code, stdout, stderr } = await startChild('src/main.ts', {
    args: ['generator'],
    env,
  }).ended()
  assert.equal(code, 1)
  assert.equal(
    stdout
      .trim()
      .split('\n')
      .filter((line) => line.includes('"fatal"')).length,
    1,
  )
  assert.match(stdout, /2 problems.*DB_KEYRING_SECRET.*required.*NODE_RPC_URL.*localhost:8545/s)
  assert.equal(stderr, '')
})

test('a Generator whose node hangs says so, claims no lag, and goes on where it was', async (t) => {
  const { anvil, child, reports, caughtUp } = await startGenerator(t, { NODE_WS_URL: '' })
  await anvil.rpc('evm_mine')
  await caughtUp()
  const before = await reports(({ head, lag }) => head === 1 && lag === 0)
  assert.equal(before.upstream_mode, 'http')

  anvil.hang()
  const hung = await reports(({ upstream_mode: mode }) => mode === 'offline')
  assert.deepEqual(
    [hung.status, hung.lag, hung.error?.code, hung.source_head_since],
    ['healthy', null, 'CHAIN_TIMEOUT', before.source_head_since],
  )
  await child.says('execution node fails, will try again until it answers')

  anvil.resume()
  await reports(({ lag, error }) => lag === 0 && error === null)
  await anvil.rpc('evm_mine')
  await caughtUp()
})
