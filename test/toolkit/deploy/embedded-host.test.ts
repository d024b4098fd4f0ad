import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import {
  embeddedEnvironment,
  embeddedUrl,
  openEmbeddedHost,
} from '../../../src/toolkit/deploy/embedded-host.ts'
import { freePorts } from '../../support/free-port.ts'
import { until } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'
import { hurry } from '../support/hurried-clock.ts'

test('a Host of the toolkit is reached on this machine, wherever else it listens', () => {
  const urlOf = (DB_API_ADDR?: string): string =>
    embeddedUrl({ env: { DB_API_ADDR } } as Pick<Terminal, 'env'> as Terminal)
  for (const unsaid of [undefined, '']) assert.equal(urlOf(unsaid), 'http://127.0.0.1:9181')
  for (const host of ['', '0.0.0.0', '[::]', '127.0.0.1'])
    assert.equal(urlOf(`${host}:99`), 'http://127.0.0.1:99')
  assert.equal(urlOf('[::1]:99'), 'http://[::1]:99')
  assert.equal(urlOf('10.0.0.1:99'), 'http://10.0.0.1:99')
})

test('a Host that does not start is reported with its last five lines, and leaves no token', async (t) => {
  const folder = join(testDirectory(t), 'host')
  const [port] = await freePorts(1)
  const env = { DB_API_ADDR: `127.0.0.1:${port}`, LOG_LEVEL: 'loud'.repeat(300) }
  const { signal } = new AbortController()
  const asked = t.mock.method(globalThis, 'fetch')
  await assert.rejects(
    openEmbeddedHost({ env, signal } as Pick<Terminal, 'env' | 'signal'> as Terminal, folder),
    (error) => {
      const { code, message, facts } = error as Record<string, unknown>
      assert.equal(code, 'TOOLKIT_HOST_ENDED')
      const [first, ...lines] = String(message).split('\n')
      assert.match(`${first}`, /^the Host ended \(exit code [1-9]\d*\); its last lines:$/)
      const log = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
      assert.deepEqual(
        lines,
        log.slice(-5).map((line) => line.slice(0, 1_000)),
      )
      assert.ok(lines.some((line) => line.length === 1_000))
      assert.match(lines.join(), /LOG_LEVEL/)
      assert.deepEqual(facts, { log: join(folder, 'log') })
      return true
    },
  )
  assert.equal(existsSync(join(folder, 'admin-token')), false)
  for (const file of ['log', 'keyring-secret'])
    assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
  const [, request] = asked.mock.calls.at(-1)?.arguments ?? []
  assert.equal(request?.signal?.aborted, true, 'nobody asks it any more')
  // Nor is what would end it with this process there any more.
  await until(() => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8') === '')
})

test('a Host that does not answer within a minute is given up and ended, and leaves no token', async (t) => {
  const folder = join(testDirectory(t), 'host')
  const [port] = await freePorts(1)
  const env = { DB_API_ADDR: `127.0.0.1:${port}` }
  const controller = new AbortController()
  t.after(() => controller.abort())
  const { signal } = controller
  hurry(t, 60_001)
  await assert.rejects(
    openEmbeddedHost({ env, signal } as Pick<Terminal, 'env' | 'signal'> as Terminal, folder),
    { code: 'TOOLKIT_HOST_UNREACHABLE' },
  )
  assert.equal(existsSync(join(folder, 'admin-token')), false)
})

test('a Host of the toolkit gets settings, and neither keys nor passwords of wallets', () => {
  const secrets = { VIEWMESH_PRIVATE_KEY: '0x01', VIEWMESH_WALLET_PASSWORD: 'secret' }
  const unsaid = { CHAIN_NAME: '', CHAIN_NETWORK: undefined }
  const env = embeddedEnvironment(
    { ...secrets, LOG_LEVEL: 'debug', HOST_ADMIN_TOKEN: 'x', ...unsaid },
    { folder: '/folder', token: 'of this run' },
  )
  assert.deepEqual(
    Object.keys(env).filter((name) => name in secrets),
    [],
  )
  assert.deepEqual([env['LOG_LEVEL'], env['HOST_ADMIN_TOKEN']], ['debug', 'of this run'])
  assert.deepEqual([env['CHAIN_NAME'], env['CHAIN_NETWORK']], ['Ethereum', 'Mainnet'])
})
