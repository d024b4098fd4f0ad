import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GeneratorSettings, loadGeneratorSettings } from '../../src/generator/config.ts'

const needed = { DB_KEYRING_SECRET: 'secret', NODE_RPC_URL: 'http://127.0.0.1:8545' }

const load = (env: Readonly<Record<string, string>>, argv: string[] = []): GeneratorSettings =>
  loadGeneratorSettings({ argv, env: { ...needed, ...env } }).settings

test('the execution node and the keyring secret are all that must be set', () => {
  const settings = load({})
  assert.deepEqual(settings.rpcUrls, ['http://127.0.0.1:8545'])
  assert.equal(settings.wsUrl, null)
  assert.equal(settings.apiKey, null)
  assert.equal(settings.apiKeyHeader, 'Authorization')
  assert.deepEqual(settings.startHeight, { kind: 'behind', blocks: 0 })
  assert.equal(settings.verify, 'headers')
  assert.equal(settings.receipts, 'per-transaction')
  assert.equal(settings.schemaAuthMode, 'token')
  assert.deepEqual(settings.schemaApiKeys, [])
  assert.equal(settings.prunerMaxBlocks, 1000)
})

test('several URLs and several keys are lists with commas', () => {
  const settings = load({
    NODE_RPC_URL: 'http://a:8545, https://b/v2/key',
    SCHEMA_API_KEYS: 'one, two,,three',
  })
  assert.deepEqual(settings.rpcUrls, ['http://a:8545', 'https://b/v2/key'])
  assert.deepEqual(
    settings.schemaApiKeys.map((key) => key.trim()),
    ['one', 'two', 'three'],
  )
})

test('a chain ID is that of the known network, or any where the chain has names of its own', () => {
  assert.equal(load({ CHAIN_ID: '1' }).chainId, 1)
  const names = { CHAIN_NAME: 'Local', CHAIN_NETWORK: 'Devnet' }
  assert.equal(load({ ...names, CHAIN_ID: '31337' }).chainId, 31_337)
})

const problems: readonly [string, Readonly<Record<string, string>>, RegExp][] = [
  ['no node', { NODE_RPC_URL: '' }, /NODE_RPC_URL.*required/],
  ['only commas for a node', { NODE_RPC_URL: ',' }, /NODE_RPC_URL/],
  [
    'a node that is no URL',
    { NODE_RPC_URL: 'localhost:8545' },
    /NODE_RPC_URL.*localhost:8545.*http/,
  ],
  ['HTTP for a WebSocket', { NODE_WS_URL: 'http://127.0.0.1:8546' }, /NODE_WS_URL.*ws:\/\//],
  [
    'verify full, which does not exist',
    { GENERATOR_VERIFY: 'full' },
    /GENERATOR_VERIFY.*headers or off/,
  ],
  [
    'a start height in words',
    { GENERATOR_START_HEIGHT: 'genesis' },
    /GENERATOR_START_HEIGHT.*latest/,
  ],
  ['auth by mtls', { SCHEMA_AUTH_MODE: 'mtls' }, /SCHEMA_AUTH_MODE.*token, none/],
  [
    'one port for health and queries',
    { HEALTH_ADDR: '127.0.0.1:9181' },
    /DB_API_ADDR\) at 0\.0\.0\.0:9181 and health\.addr \(HEALTH_ADDR\) at 127\.0\.0\.1:9181.*accepted/,
  ],
  [
    'one port for peers and health',
    { DB_P2P_LISTEN_ADDR: '/ip4/0.0.0.0/tcp/8080' },
    /DB_P2P_LISTEN_ADDR\) at 0\.0\.0\.0:8080 and health\.addr \(HEALTH_ADDR\)/,
  ],
  [
    'a chain ID of another network than the names',
    { CHAIN_ID: '31337' },
    /chain\.id \(CHAIN_ID\) is 31337, and Ethereum Mainnet has 1: correct it, or.*CHAIN_NAME/,
  ],
  ['a chain ID of 0', { CHAIN_ID: '0' }, /CHAIN_ID.*1 or more/],
  ['a header name with a space', { NODE_API_KEY_TYPE: 'Api Key' }, /NODE_API_KEY_TYPE.*header/],
]

for (const [name, env, message] of problems)
  test(`${name} is refused with the setting, what was found and what is accepted`, () => {
    assert.throws(() => load(env), { code: 'CONFIG_INVALID', message })
  })
