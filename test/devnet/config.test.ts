import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { anvilPath } from '../../src/devnet/anvil.ts'
import { listeningPorts, loadDevnetSettings } from '../../src/devnet/config.ts'
import { requireFreePorts } from '../../src/devnet/free-ports.ts'
import { ServiceError } from '../../src/errors.ts'
import { failureText } from '../../src/service/failure-text.ts'
import { freePorts } from '../support/free-port.ts'
import { testDirectory } from '../support/test-store.ts'

test('without any setting the Host has the documented ports and the Generator those beside them', () => {
  const settings = loadDevnetSettings({ argv: [], env: {} })
  assert.deepEqual(
    listeningPorts(settings).map(([, port]) => port),
    [8545, 9191, 9172, 8090, 9181, 9182, 9171, 8080, 8645, 26_657, 1317],
  )
  assert.equal(settings.path, join(homedir(), '.viewmesh', 'dev'))
  assert.equal(settings.listen, '127.0.0.1')
})

test('with a node of your own no port is needed for one', () => {
  const env = { NODE_RPC_URL: 'http://127.0.0.1:8545', DEVNET_NODE_PORT: '9181' }
  const settings = loadDevnetSettings({ argv: [], env })
  assert.equal(listeningPorts(settings).length, 10)
})

test('with a registry chain of your own no port is needed for one', () => {
  for (const env of [
    { REGISTRY_LCD_URL: 'http://127.0.0.1:1317' },
    { REGISTRY_RPC_URL: 'http://127.0.0.1:26657' },
  ])
    assert.equal(listeningPorts(loadDevnetSettings({ argv: [], env })).length, 8)
})

test('a port is one of all there are, that of the Host one with another after it', () => {
  for (const [name, last] of [
    ['DEVNET_NODE_PORT', 65_535],
    ['DEVNET_HOST_API_PORT', 65_534],
  ] as const) {
    const load = (port: number) =>
      listeningPorts(loadDevnetSettings({ argv: [], env: { [name]: String(port) } }))
    for (const port of [1, last])
      assert.ok(load(port).some(([each, number]) => each === name && number === port))
    for (const port of [0, last + 1]) assert.throws(() => load(port), { code: 'CONFIG_INVALID' })
  }
})

test('two settings with the same port are reported by name', () => {
  const env = { DEVNET_HOST_HEALTH_PORT: '9182' }
  assert.throws(
    () => loadDevnetSettings({ argv: [], env }),
    /DEVNET_HOST_HEALTH_PORT and DEVNET_HOST_API_PORT both need port 9182/,
  )
})

test('the API key of a node may be in a file, as other secrets', (t) => {
  const file = join(testDirectory(t), 'key')
  writeFileSync(file, 'secret\n')
  assert.equal(loadDevnetSettings({ argv: [], env: { NODE_API_KEY_FILE: file } }).apiKey, 'secret')
})

test('a taken port is named with the setting that moves it', async () => {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const error = await requireFreePorts('127.0.0.1', [['DEVNET_HOST_API_PORT', port]]).catch(
    (reason: unknown) => reason,
  )
  server.close()
  assert.ok(error instanceof ServiceError)
  assert.equal(error.code, 'SERVICE_PORT_UNAVAILABLE')
  assert.equal(error.message, 'ports of 127.0.0.1 cannot be listened on')
  assert.deepEqual(error.facts, { DEVNET_HOST_API_PORT: `port ${port}, in use` })
})

test('of several ports those that are taken are named, each on a line of its own', async (t) => {
  const [first, second] = [createServer(), createServer()]
  for (const server of [first, second]) {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
  }
  const portOf = (server: Server): number => (server.address() as AddressInfo).port
  const [free = 0] = await freePorts(1)
  const ports = [
    ['DEVNET_HOST_API_PORT', portOf(first)],
    ['DEVNET_HOST_P2P_PORT', free],
    ['DEVNET_NODE_PORT', portOf(second)],
  ] as const
  const error = await requireFreePorts('127.0.0.1', ports).catch((reason: unknown) => reason)
  assert.equal(
    failureText(error),
    `error: ports of 127.0.0.1 cannot be listened on
  DEVNET_HOST_API_PORT: port ${portOf(first)}, in use
  DEVNET_NODE_PORT: port ${portOf(second)}, in use
What to do: Stop the program that uses them (perhaps one like this, started before), or set what is named above to other ports.`,
  )
  await requireFreePorts('127.0.0.1', ports.slice(1, 2))
})

test('an address that is none is reported with what the system says of it', async () => {
  const refused = requireFreePorts('999.1.1.1', [['DEVNET_HOST_API_PORT', 9181]])
  await assert.rejects(refused, ({ facts }: ServiceError) => {
    const reason = /^port 9181, not to be had \(getaddrinfo .*999\.1\.1\.1\)$/
    assert.match(String(facts['DEVNET_HOST_API_PORT']), reason)
    return true
  })
})

test('an address that is not of this machine is reported as such', async () => {
  const taken = requireFreePorts('192.0.2.1', [['DEVNET_HOST_API_PORT', 9181]])
  await assert.rejects(taken, ({ facts }: ServiceError) => {
    const reason = /DEVNET_LISTEN is not an address of this machine$/
    assert.match(String(facts['DEVNET_HOST_API_PORT']), reason)
    return true
  })
})

test('a machine that anvil is not made for is sent to a node of its own', () => {
  assert.throws(
    () => anvilPath('sunos', 'x64'),
    (error) =>
      error instanceof ServiceError &&
      error.code === 'DEVNET_ANVIL_MISSING' &&
      /NODE_RPC_URL/.test(error.remedy ?? ''),
  )
})

test('on a machine without anvil the error names the missing package', () => {
  const other = process.platform === 'darwin' ? 'linux' : 'darwin'
  assert.throws(() => anvilPath(other, 'arm64'), new RegExp(`@foundry-rs/anvil-${other}-arm64`))
})
