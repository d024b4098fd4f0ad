/** What a Host says at `/health` of peers and Generators that are not as its settings have them. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { schemaSdl } from '../../src/primitives/sdl.ts'
import { assertExplained } from '../docs/support/explained.ts'
import { testSigner } from '../support/chain/sealed-blocks.ts'
import { freePorts } from '../support/free-port.ts'
import { openGeneratorInProcess } from '../support/generator-in-process.ts'
import { openHostInProcess } from '../support/host-in-process.ts'
import { until } from '../support/p2p-room.ts'
import { testDirectory } from '../support/test-store.ts'

const network = 'Local__Devnet'
const stranger = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'

test('a wrong peer ID and a refused token show in /health until corrected; the Host is healthy', async (t) => {
  const home = testDirectory(t)
  const [peers, token] = [join(home, 'peers'), join(home, 'token')]
  const generator = await openGeneratorInProcess(t, testDirectory(t), {
    NODE_RPC_URL: 'http://127.0.0.1:1',
    SCHEMA_API_KEYS: 'the right key',
  })
  const { id, addresses } = generator.p2p.self()
  const url = `http://127.0.0.1:${generator.healthPort}`
  writeFileSync(peers, `${addresses[0]}/p2p/${stranger}\n`)
  writeFileSync(token, 'a marked wrong key')
  const host = await openHostInProcess(t, home, {
    DB_KEYRING_SECRET: 'a secret of its own',
    BOOTSTRAP_PEERS_FILE: peers,
    GENERATOR_SCHEMA_URL: url,
    GENERATOR_SCHEMA_AUTH_TOKEN_FILE: token,
  })
  await host.opened
  await until(async () => (await host.health()).report.errors.length === 3)

  const { status, report } = await host.health()
  assert.deepEqual([status, report.status, report.p2p.peers], [200, 'healthy', []])
  const [mismatch, noSigner, refusal] = report.errors
  assert.equal(noSigner?.code, 'HOST_NO_SIGNER')
  assert.deepEqual(mismatch, {
    code: 'P2P_PEER_ID_MISMATCH',
    message: `peer id mismatch: expected ${stranger}, but remote key matches ${id}, at ${addresses[0]}`,
    remedy:
      "Take the current ID from the Generator's health endpoint (.p2p.self.id) and set BOOTSTRAP_PEERS.",
    expected_peer: stranger,
  })
  assertExplained(refusal ?? assert.fail())
  assert.deepEqual(refusal, {
    code: 'HOST_SCHEMA_UNAUTHORIZED',
    message: `the Generator at ${url}/api/v1/schema does not accept the token`,
    remedy: 'Set GENERATOR_SCHEMA_AUTH_TOKEN to one of the Generator’s SCHEMA_API_KEYS.',
  })
  assert.deepEqual(report.error, mismatch)
  assert.equal(report.schema?.state, 'embedded')

  writeFileSync(peers, `${addresses[0]}/p2p/${id}\n`)
  writeFileSync(token, 'the right key')
  await until(async () => (await host.health()).report.errors.length === 0)
  const mended = (await host.health()).report
  assert.equal(mended.error, null)
  assert.deepEqual(mended.schema, { state: 'current', differing: [] })
  assert.deepEqual(
    mended.p2p.peers.map((peer) => peer.id),
    [id],
  )
  assert.equal(JSON.stringify(host.captured.lines).includes('marked'), false)
})

test('HOST_NETWORK_UNKNOWN: a Host without a chain makes no store until its Generator names one', async (t) => {
  const home = testDirectory(t)
  const [port = 0] = await freePorts(1)
  const unnamed = {
    CHAIN_NAME: '',
    CHAIN_NETWORK: '',
    GENERATOR_SCHEMA_URL: `http://127.0.0.1:${port}`,
  }
  const host = await openHostInProcess(t, home, unnamed)
  await host.captured.line('waits for the Generator to say which chain this is')
  const { status, report } = await host.health()
  assert.deepEqual([status, report.status], [503, 'unhealthy'])
  assert.equal(report.error?.code, 'HOST_NETWORK_UNKNOWN')
  assertExplained(report.error ?? assert.fail())
  assert.match(`${report.error?.message}`, /no schema of the Generator at GENERATOR_SCHEMA_URL/)
  assert.match(`${report.error?.remedy}`, /or set CHAIN_NAME and CHAIN_NETWORK/)
  assert.equal(existsSync(join(home, 'store')), false)

  const schema = createServer((_, response) =>
    response.end(JSON.stringify({ network, schema: schemaSdl(network) })),
  )
  schema.listen(port, '127.0.0.1')
  await host.opened
  const named = (await host.health()).report
  assert.deepEqual([named.chain, named.network], ['Local', 'Devnet'])
  assert.deepEqual(
    named.errors.map(({ code }) => code),
    ['HOST_NO_SIGNER'],
  )
  await host.close()
  schema.closeAllConnections()
  schema.close()

  const again = await openHostInProcess(t, home, unnamed)
  await again.opened
  const known = (await again.health()).report
  assert.deepEqual([known.chain, known.network], ['Local', 'Devnet'], 'the store says it')
})

test('HOST_SIGNERS_FILE_UNUSABLE: a partly readable list changes nothing, and its line is named', async (t) => {
  const home = testDirectory(t)
  const file = join(home, 'signers')
  const alice = testSigner('alice').identity
  writeFileSync(file, `${alice}\n`)
  const host = await openHostInProcess(t, home, { HOST_TRUSTED_SIGNERS_FILE: file })
  await host.opened
  const problem = async (): Promise<string | undefined> => {
    const { errors } = (await host.health()).report
    return errors.find(({ code }) => code === 'HOST_SIGNERS_FILE_UNUSABLE')?.message
  }
  assert.equal(await problem(), undefined)
  writeFileSync(file, `${alice}\nnot a key\n`)
  await until(async () => (await problem()) !== undefined)
  assert.match(`${await problem()}`, /line 2 cannot be read/)
  const { signers } = (await host.health()).report
  assert.deepEqual(
    signers?.map(({ identity, source }) => [identity, source]),
    [[alice, 'file']],
  )
  writeFileSync(file, `${alice}\n`)
  await until(async () => (await problem()) === undefined)
})
