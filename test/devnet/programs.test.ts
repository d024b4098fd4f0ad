/** The environment that the programs of the development chain are started with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { programFolder } from '../../src/devnet/chain-folder.ts'
import type { ChainSource } from '../../src/devnet/chain-source.ts'
import { loadDevnetSettings } from '../../src/devnet/config.ts'
import {
  devnetGeneratorEnvironment,
  devnetHostEnvironment,
  generatorPorts,
  hostPorts,
  playgroundPort,
  programEnvironment,
} from '../../src/devnet/programs.ts'

const settings = loadDevnetSettings({ argv: [], env: { DEVNET_LISTEN: '127.0.0.2' } })
const folder = programFolder('/data/8b630696', 'host')
const source: ChainSource = {
  chain: 'Local',
  network: 'Devnet',
  genesisHash: '0x',
  folder: '/data/8b630696',
  node: { rpcUrl: 'http://127.0.0.1:8545' },
  rpcUrls: ['http://a.test', 'http://b.test'],
  wsUrl: null,
  startHeight: '-200',
  isLocal: true,
}

test('a program gets its chain, folders and ports, and nothing inherited that is against them', () => {
  const env = {
    LOG_LEVEL: 'debug',
    CHAIN_NAME: 'Other',
    DB_KEYRING_SECRET: 'inherited',
    BOOTSTRAP_PEERS: '/ip4/10.0.0.1/tcp/9171',
    BOOTSTRAP_PEERS_FILE: '/peers',
  }
  const ports = hostPorts(settings)
  assert.deepEqual(programEnvironment({ settings, source, folder, ports, env }), {
    LOG_LEVEL: 'debug',
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    DB_STORE_PATH: '/data/8b630696/host/store',
    DB_KEY_PATH: '/data/8b630696/host/keys',
    DB_KEYRING_SECRET: '',
    DB_KEYRING_SECRET_FILE: '/data/8b630696/host/keyring-secret',
    DB_API_ADDR: '127.0.0.2:9181',
    DB_P2P_LISTEN_ADDR: '/ip4/127.0.0.2/tcp/9171',
    HEALTH_ADDR: '127.0.0.2:8080',
    BOOTSTRAP_PEERS: '',
    BOOTSTRAP_PEERS_FILE: '',
  })
})

test('the two programs have ports of their own, and the playground is beside the Host’s API', () => {
  assert.deepEqual(generatorPorts(settings), { api: 9191, p2p: 9172, health: 8090 })
  assert.deepEqual(hostPorts(settings), { api: 9181, p2p: 9171, health: 8080 })
  assert.equal(playgroundPort({ api: 1000, p2p: 1, health: 2 }), 1001)
})

test('the Generator gets the node and where to start, which the user may say', () => {
  assert.deepEqual(devnetGeneratorEnvironment(settings, source, {}), {
    NODE_RPC_URL: 'http://a.test,http://b.test',
    NODE_WS_URL: '',
    NODE_API_KEY: '',
    NODE_API_KEY_FILE: '',
    NODE_API_KEY_TYPE: 'Authorization',
    GENERATOR_START_HEIGHT: '-200',
    SCHEMA_AUTH_MODE: 'none',
  })
  const own = loadDevnetSettings({
    argv: [],
    env: { NODE_API_KEY: 'key', NODE_API_KEY_TYPE: 'X-Key', GENERATOR_START_HEIGHT: '7' },
  })
  const given = devnetGeneratorEnvironment(own, { ...source, wsUrl: 'ws://a.test' }, {})
  assert.partialDeepStrictEqual(given, {
    NODE_WS_URL: 'ws://a.test',
    NODE_API_KEY: 'key',
    NODE_API_KEY_TYPE: 'X-Key',
    GENERATOR_START_HEIGHT: '7',
  })
})

test('the schema is open on a developer’s machine, unless anything about it is set', () => {
  const modeOf = (env: NodeJS.ProcessEnv): string | undefined =>
    devnetGeneratorEnvironment(settings, source, env)['SCHEMA_AUTH_MODE']
  assert.deepEqual([modeOf({}), modeOf({ SCHEMA_API_KEYS: '' })], ['none', 'none'])
  for (const name of ['SCHEMA_AUTH_MODE', 'SCHEMA_API_KEYS', 'SCHEMA_API_KEYS_FILE'])
    assert.equal(modeOf({ [name]: 'x' }), undefined, name)
})

test('the Host gets its peer, its admin token, and the registry chain that comes with it', () => {
  const peer = '/ip4/127.0.0.1/tcp/9172/p2p/peer'
  const own = {
    BOOTSTRAP_PEERS: peer,
    HOST_ADMIN_TOKEN: '',
    HOST_ADMIN_TOKEN_FILE: '/data/8b630696/host/admin-token',
  }
  const urls = { cometUrl: 'http://c.test', lcdUrl: 'http://l.test' }
  assert.deepEqual(devnetHostEnvironment(folder, peer, urls), {
    REGISTRY_RPC_URL: 'http://c.test',
    REGISTRY_LCD_URL: 'http://l.test',
    ...own,
  })
  assert.deepEqual(devnetHostEnvironment(folder, peer, null), own)
})
