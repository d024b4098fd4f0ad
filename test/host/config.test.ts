/** The Host's own settings. What is common to both programs is tested with the service room. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type HostSettings,
  loadHostSettings,
  playgroundListen,
  retainedOf,
  trustModeOf,
} from '../../src/host/config.ts'
import { decideNames } from '../../src/host/network.ts'
import { testSigner } from '../support/chain/sealed-blocks.ts'

const load = (env: Readonly<Record<string, string>>): HostSettings =>
  loadHostSettings({ argv: [], env: { DB_KEYRING_SECRET: 'secret', ...env } }).settings

describe('settings', () => {
  test('GENERATOR_SCHEMA_URL and GENERATOR_SCHEMA_AUTH_TOKEN: none, the embedded schema is used', () => {
    const {
      schemaUrl,
      schemaAuthToken,
      trustedSigners,
      registryLcdUrl,
      registryRpcUrl,
      adminToken,
    } = load({})
    assert.deepEqual(
      [schemaUrl, schemaAuthToken, trustedSigners, registryLcdUrl, registryRpcUrl, adminToken],
      [null, null, [], null, null, null],
    )
  })

  test('HOST_TRUST is bootstrap without a list and signers with one, and takes no two at once', () => {
    const { identity } = testSigner('a')
    const mode = (env: Record<string, string>): string => trustModeOf(load(env))
    assert.equal(mode({}), 'bootstrap')
    assert.equal(mode({ HOST_TRUSTED_SIGNERS: identity }), 'signers')
    assert.equal(mode({ HOST_TRUSTED_SIGNERS_FILE: '/signers' }), 'bootstrap')
    assert.equal(mode({ HOST_TRUST: 'signers', HOST_TRUSTED_SIGNERS_FILE: '/signers' }), 'signers')
    assert.equal(mode({ HOST_TRUST: 'signers', HOST_TRUSTED_SIGNERS: identity }), 'signers')
    assert.equal(mode({ HOST_TRUST: 'anyone' }), 'anyone')
    for (const HOST_TRUST of ['bootstrap', 'anyone'])
      assert.throws(() => load({ HOST_TRUST, HOST_TRUSTED_SIGNERS: identity }), {
        code: 'CONFIG_INVALID',
        message: /HOST_TRUST\): found \w+ beside .*HOST_TRUSTED_SIGNERS\), accepted is signers, or/,
      })
    assert.throws(() => load({ HOST_TRUST: 'signers' }), {
      code: 'CONFIG_INVALID',
      message: /HOST_TRUST\): found signers, accepted is that with .*HOST_TRUSTED_SIGNERS_FILE/,
    })
    assert.throws(() => load({ HOST_TRUST: 'nobody' }), { message: /signers, bootstrap, anyone/ })
  })

  test('HOST_TRUSTED_SIGNERS is a comma list of keys of both kinds, in any case', () => {
    const [a, b] = [testSigner('a').identity, testSigner('b', 'Ed25519').identity]
    assert.deepEqual(load({ HOST_TRUSTED_SIGNERS: `${a.toUpperCase()}, ${b}` }).trustedSigners, [
      a,
      b,
    ])
  })

  test('HOST_TRUSTED_HOSTS is a comma list of keys of Hosts, beside any HOST_TRUST', () => {
    const [a, b] = [testSigner('a').identity, testSigner('b', 'Ed25519').identity]
    const settings = load({ HOST_TRUST: 'anyone', HOST_TRUSTED_HOSTS: `${a}, ${b.toUpperCase()}` })
    assert.deepEqual(settings.trustedHosts, [a, b])
    assert.equal(load({ HOST_TRUSTED_HOSTS_FILE: '/hosts' }).trustedHostsFile, '/hosts')
    assert.throws(() => load({ HOST_TRUSTED_HOSTS: '12D3KooW' }), {
      code: 'CONFIG_INVALID',
      message: /a Host’s public key in hex: identity in its \/health, not its peer ID/,
    })
  })

  test('HOST_READY_MIN_BLOCKS, HOST_READY_MAX_LAG: one block, any lag, no more than are kept', () => {
    assert.deepEqual([load({}).readyMinBlocks, load({}).readyMaxLag], [1, null])
    const kept = { HOST_READY_MIN_BLOCKS: '50', PRUNER_MAX_BLOCKS: '50' }
    assert.equal(load(kept).readyMinBlocks, 50)
    assert.throws(() => load({ ...kept, PRUNER_MAX_BLOCKS: '49' }), {
      code: 'CONFIG_INVALID',
      message:
        /HOST_READY_MIN_BLOCKS\): found 50, accepted is no more than are kept: 49 \(PRUNER_MAX_BLOCKS\)/,
    })
    const all = { ...kept, PRUNER_MAX_BLOCKS: '49', PRUNER_ENABLED: 'false' }
    assert.equal(load(all).readyMinBlocks, 50)
  })

  test('VIEW_MAX_BLOCKS: no fewer than the blocks that are kept, where any are pruned', () => {
    assert.equal(load({}).viewMaxBlocks, null)
    const kept = { VIEW_MAX_BLOCKS: '50', PRUNER_MAX_BLOCKS: '50' }
    assert.equal(load(kept).viewMaxBlocks, 50)
    assert.throws(() => load({ ...kept, PRUNER_MAX_BLOCKS: '51' }), {
      code: 'CONFIG_INVALID',
      message:
        /VIEW_MAX_BLOCKS\): found 50, accepted is at least as many as are kept: 51 \(PRUNER_MAX_BLOCKS\)/,
    })
    const all = { ...kept, PRUNER_MAX_BLOCKS: '51', PRUNER_ENABLED: 'false' }
    assert.equal(load(all).viewMaxBlocks, 50)
  })

  test('VIEW_MAX_BYTES is a gibibyte for each View by default, and at least a mebibyte', () => {
    assert.equal(load({}).viewMaxBytes, 2 ** 30)
    assert.equal(load({ VIEW_MAX_BYTES: '1048576' }).viewMaxBytes, 2 ** 20)
    assert.throws(() => load({ VIEW_MAX_BYTES: '1048575' }), {
      code: 'CONFIG_INVALID',
      message: /VIEW_MAX_BYTES.*found "1048575".*from 1048576 to/,
    })
  })

  test('mistakes name the key, what was found and what is accepted', () => {
    const mistakes: readonly [env: Record<string, string>, text: RegExp][] = [
      [{ HOST_TRUSTED_SIGNERS: 'alice' }, /HOST_TRUSTED_SIGNERS: found "alice".*public key in hex/],
      [{ GENERATOR_SCHEMA_URL: 'generator:8080' }, /GENERATOR_SCHEMA_URL.*begins with http:/],
      [{ BOOTSTRAP_PEERS: '/ip4/10.0.0.1/tcp/9171' }, /BOOTSTRAP_PEERS.*p2p\/<peer id>/],
      [{ HOST_READY_MAX_LAG: '0' }, /HOST_READY_MAX_LAG.*found "0".*from 1 to/],
      [{ HOST_READY_MIN_BLOCKS: '-1' }, /HOST_READY_MIN_BLOCKS.*found "-1".*from 0 to/],
      [{ DB_KEYRING_SECRET: '' }, /db\.keyring_secret \(DB_KEYRING_SECRET.*required/],
    ]
    for (const [env, text] of mistakes)
      assert.throws(() => load(env), { code: 'CONFIG_INVALID', message: text })
  })

  test('the playground is one port above the API', () => {
    const { apiAddress } = load({})
    assert.deepEqual(playgroundListen(apiAddress).address, { host: '0.0.0.0', port: 9182 })
    assert.equal(playgroundListen({ host: '::1', port: 0 }).address.port, 0)
    assert.throws(() => load({ DB_API_ADDR: '127.0.0.1:65535' }), {
      code: 'CONFIG_INVALID',
      message:
        'db.url (DB_API_ADDR): found port 65535, accepted is a lower one: the playground is served one port above it',
    })
    assert.equal(load({ DB_API_ADDR: '127.0.0.1:65534' }).apiAddress.port, 65_534)
  })

  test('no two of its own addresses may want the same port; both settings are named', () => {
    const playground = /the playground \(one port above db\.url, DB_API_ADDR\) at 0\.0\.0\.0:9182/
    for (const [env, names] of [
      [{ HEALTH_ADDR: '127.0.0.1:9181' }, [/DB_API_ADDR/, /HEALTH_ADDR\) at 127\.0\.0\.1:9181/]],
      [{ HEALTH_ADDR: ':9182' }, [playground, /HEALTH_ADDR/]],
      [{ HEALTH_PUBLIC_ADDR: ':8080' }, [/\(HEALTH_ADDR\)/, /\(HEALTH_PUBLIC_ADDR\) at/]],
      [{ DB_P2P_LISTEN_ADDR: '/ip4/0.0.0.0/tcp/9182' }, [playground, /DB_P2P_LISTEN_ADDR/]],
      [{ DB_API_ADDR: '[::]:8079' }, [/HEALTH_ADDR/, /the playground .* at \[::\]:8080/]],
    ] as const)
      for (const name of names)
        assert.throws(() => load(env), { code: 'CONFIG_INVALID', message: name })
    load({ DB_API_ADDR: '127.0.0.1:0', HEALTH_ADDR: '127.0.0.1:0' })
    load({ DB_API_ADDR: '127.0.0.1:7000', HEALTH_ADDR: '127.0.0.2:7000' })
  })
})

test('a store keeps as many blocks as the pruner leaves, all without it, and rows as is set', () => {
  const kept = { PRUNER_MAX_BLOCKS: '50', VIEW_MAX_BLOCKS: '70', VIEW_MAX_BYTES: '2000000' }
  const some = { retainBlocks: 50, retainRows: 70, maxViewBytes: 2_000_000 }
  assert.deepEqual(retainedOf(load(kept)), some)
  const all = { ...some, retainBlocks: null }
  assert.deepEqual(retainedOf(load({ ...kept, PRUNER_ENABLED: 'false' })), all)
  assert.equal(retainedOf(load({})).retainRows, null)
})

describe('the network', () => {
  const names = (env: Record<string, string>, fetched: string | null): string[] => {
    const { settings, origins } = loadHostSettings({
      argv: [],
      env: { DB_KEYRING_SECRET: 'secret', ...env },
    })
    const { chain, network, isGuess } = decideNames(settings, origins, fetched)
    return [chain, network, isGuess ? 'guessed' : 'known']
  }

  test('is what is configured, else the Generator’s, else the default until a store knows better', () => {
    assert.deepEqual(names({ CHAIN_NETWORK: 'Sepolia' }, 'Local__Devnet'), [
      'Ethereum',
      'Sepolia',
      'known',
    ])
    const renamed = names({ CHAIN_NAME: 'Arbitrum' }, 'Local__Devnet')
    assert.deepEqual(renamed, ['Arbitrum', 'Mainnet', 'known'])
    assert.deepEqual(names({}, 'Local__Devnet'), ['Local', 'Devnet', 'known'])
    assert.deepEqual(names({}, null), ['Ethereum', 'Mainnet', 'guessed'])
  })
})
