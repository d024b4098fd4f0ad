import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hostSettings } from '../../../src/host/config.ts'
import { containerUser, environment, homeDirectory, ports } from '../../../src/service/contract.ts'
import {
  type CommonSettings,
  commonSettings,
} from '../../../src/service/settings/common-settings.ts'
import type { AnyTable } from '../../../src/service/settings/setting.ts'
import { loadSettings } from '../../../src/service/settings/settings.ts'

const home = join(homedir(), homeDirectory)

function load(env: Readonly<Record<string, string>>): CommonSettings {
  const withSecret = { DB_KEYRING_SECRET: 'secret', ...env }
  return loadSettings(commonSettings('host'), { argv: [], env: withSecret })
}

/**
 * Service page: "Pruning | enabled by default; retains the last 1,000 blocks by default; older blocks'
 * documents are removed".
 */
test('a Host with nothing but a secret prunes to 1,000 blocks and gets the other defaults', () => {
  assert.deepEqual(load({}), {
    chainName: 'Ethereum',
    chainNetwork: 'Mainnet',
    storePath: join(home, 'host'),
    keyPath: join(home, 'keys'),
    keyringSecret: 'secret',
    apiAddress: { host: '0.0.0.0', port: ports.api },
    p2pListen: `/ip4/0.0.0.0/tcp/${ports.p2p}`,
    p2pAnnounce: [],
    p2pAnnounceFile: null,
    bootstrapPeers: [],
    bootstrapPeersFile: null,
    healthAddress: { host: '0.0.0.0', port: ports.health },
    publicHealthAddress: null,
    registrationAddress: null,
    registrationChainId: 91_273_001,
    registrationEndpoint: null,
    registrationMessage: 'bound',
    prunerEnabled: true,
    prunerMaxBlocks: 1_000,
    logLevel: 'info',
    logBlocks: true,
    graphqlMaxDepth: 15,
    graphqlMaxConditions: 2_000,
    graphqlMaxCost: 2_000_000,
    graphqlMaxRows: 10_000,
    graphqlMaxResultBytes: 64 * 1024 * 1024,
    graphqlMaxMs: 20_000,
    graphqlMaxHeldBytes: 256 * 1024 * 1024,
  })
})

/** Service page: "Generator default ports | 8080 health and schema, 9181 database API, 9171 P2P". */
test('a Generator listens on 8080 for health and schema, 9181 for its API, 9171 for peers', () => {
  const { healthAddress, apiAddress, p2pListen } = commonSettings('generator')
  assert.deepEqual(
    [healthAddress.default, apiAddress.default, p2pListen.default],
    ['0.0.0.0:8080', '0.0.0.0:9181', '/ip4/0.0.0.0/tcp/9171'],
  )
})

test('--log-blocks=false is a flag of both programs', () => {
  for (const program of ['generator', 'host'] as const) {
    const sources = { argv: ['--log-blocks=false'], env: { DB_KEYRING_SECRET: 'secret' } }
    assert.equal(loadSettings(commonSettings(program), sources).logBlocks, false)
  }
})

test('Generator and Host keep their stores apart and share the key directory', () => {
  const generator: AnyTable = commonSettings('generator')
  assert.equal(generator['storePath']?.default, '~/.viewmesh/generator')
  assert.equal(generator['keyPath']?.default, '~/.viewmesh/keys')
})

test('service page: BOOTSTRAP_PEERS holds multiaddrs that end in the peer ID', () => {
  const peer = '/ip4/203.0.113.9/tcp/9171/p2p/12D3KooWHHzSeKaY8xuZVzkLbKFfvNgPPeKhFBGrMbNzbm5akpqu'
  assert.deepEqual(load({ BOOTSTRAP_PEERS: `${peer},` }).bootstrapPeers, [peer])
  assert.throws(() => load({ BOOTSTRAP_PEERS: peer.split('/p2p/')[0] ?? '' }), {
    code: 'CONFIG_INVALID',
    message: /BOOTSTRAP_PEERS: found "\/ip4\/203.0.113.9\/tcp\/9171", accepted is .*p2p\.self\.id/,
  })
})

test('queries share no less memory than a few of them take, and no limit and no chain ID is 0', () => {
  assert.throws(() => load({ GRAPHQL_MAX_HELD_BYTES: '1000000' }), {
    message:
      /^GRAPHQL_MAX_HELD_BYTES: found "1000000", accepted is a whole number from 16777216 to 68719476736$/,
  })
  const limits = ['DEPTH', 'CONDITIONS', 'COST', 'ROWS', 'MS'].map((name) => `GRAPHQL_MAX_${name}`)
  for (const name of [...limits, 'REGISTRATION_CHAIN_ID']) {
    assert.doesNotThrow(() => load({ [name]: '1' }))
    const message = new RegExp(`^${name}: found "0", accepted is a whole number (from|of) 1 `)
    assert.throws(() => load({ [name]: '0' }), { message })
  }
})

const bounds: readonly (readonly [variable: string, least: number, most: number])[] = [
  ['PRUNER_MAX_BLOCKS', 1, 1_000_000_000],
  ['GRAPHQL_MAX_DEPTH', 1, 100],
  ['GRAPHQL_MAX_CONDITIONS', 1, 20_000],
  ['GRAPHQL_MAX_RESULT_BYTES', 1_024, 1_073_741_824],
  ['GRAPHQL_MAX_MS', 1, 600_000],
  ['GRAPHQL_MAX_HELD_BYTES', 16_777_216, 68_719_476_736],
]
for (const [variable, least, most] of bounds)
  test(`${variable} is from ${least} to ${most}`, () => {
    for (const value of [least, most]) assert.doesNotThrow(() => load({ [variable]: `${value}` }))
    const message = new RegExp(
      `^${variable}: found "\\d+", accepted is .* from ${least} to ${most}`,
    )
    for (const value of [least - 1, most + 1])
      assert.throws(() => load({ [variable]: `${value}` }), { message })
  })

test('a variable that looks misspelt is refused from eight letters on', () => {
  assert.throws(() => load({ LOG_LEVE: 'debug' }), {
    message: 'LOG_LEVE is not a variable of ours; did you mean LOG_LEVEL?',
  })
  assert.doesNotThrow(() => load({ LOG_LEV: 'debug' }))
})

test('a name with two underscores cannot be part of the prefix', () => {
  assert.throws(() => load({ CHAIN_NAME: 'My__Chain' }), {
    message: /^CHAIN_NAME: found "My__Chain"/,
  })
})

test('the names an orchestrator sets are settings of a Host, and the container user is 1001:1001', () => {
  const entries = Object.values<AnyTable[string]>(hostSettings)
  const names = entries.flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env]))
  for (const name of Object.values(environment)) assert.ok(names.includes(name), name)
  assert.deepEqual(containerUser, { uid: 1001, gid: 1001 })
})
