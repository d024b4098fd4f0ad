import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { announcement, localUrl, queryToPaste } from '../../src/devnet/announcement.ts'
import type { ChainSource } from '../../src/devnet/chain-source.ts'
import { loadDevnetSettings } from '../../src/devnet/config.ts'

const settings = loadDevnetSettings({ argv: [], env: {} })
const genesisHash = `0x8b630696${'0'.repeat(56)}`

function sourceWith(parts: Partial<ChainSource> = {}): ChainSource {
  return {
    chain: 'Local',
    network: 'Devnet',
    genesisHash,
    folder: '/data/8b630696',
    node: { rpcUrl: 'http://127.0.0.1:8545' },
    rpcUrls: ['http://127.0.0.1:8545'],
    wsUrl: 'ws://127.0.0.1:8545',
    startHeight: '-200',
    isLocal: true,
    ...parts,
  }
}

const registry = {
  rpcUrl: 'http://127.0.0.1:8645',
  chainId: 91_273_002,
  cometUrl: 'http://127.0.0.1:26657',
  lcdUrl: 'http://127.0.0.1:1317',
}

/** The line that an announcement has about something. */
function lineAbout(name: string, source: ChainSource): string {
  const text = announcement({ settings, source, registry: null, token: 'secret' })
  const line = text.split('\n').find((one) => one.startsWith(`  ${name}`))
  return line?.slice(`  ${name}`.length).trim() ?? ''
}

test('what runs where is said in one table', () => {
  const text = announcement({ settings, source: sourceWith(), registry, token: 'secret' })
  assert.equal(
    text,
    `
Local__Devnet, genesis ${genesisHash}
  Execution node  http://127.0.0.1:8545   ws://127.0.0.1:8545
  Generator       http://127.0.0.1:9191/api/v0/graphql   http://127.0.0.1:8090/health
                  P2P port 9172
  Host            http://127.0.0.1:9181/api/v0/graphql   http://127.0.0.1:8080/health
                  P2P port 9171
                  admin token secret
  Playground      http://127.0.0.1:9182
  Registry chain  http://127.0.0.1:8645   chain ID 91273002
                  CometBFT http://127.0.0.1:26657   LCD http://127.0.0.1:1317
  Data and logs   /data/8b630696

Ctrl-C stops everything; started again it goes on where it was.
`,
  )
})

test('of the URLs of a node nothing is shown that may be a key', () => {
  const rpcUrls = ['https://node.test/v3/key', 'https://user:key@other.test:8000/?key=1']
  assert.equal(
    lineAbout('Execution node', sourceWith({ rpcUrls, wsUrl: 'wss://node.test/ws/key' })),
    'https://node.test   https://other.test:8000   wss://node.test',
  )
  assert.equal(
    lineAbout('Execution node', sourceWith({ rpcUrls, wsUrl: null })).includes('ws'),
    false,
  )
})

test('without a registry chain of ours nothing is said of one', () => {
  const text = announcement({ settings, source: sourceWith(), registry: null, token: 'secret' })
  assert.doesNotMatch(text, /Registry|Comet|LCD/)
})

test('a folder is shown from the home folder where it is in it, and whole elsewhere', () => {
  const shown = (folder: string): string => lineAbout('Data and logs', sourceWith({ folder }))
  assert.equal(shown(join(homedir(), '.viewmesh', 'dev')), join('~', '.viewmesh', 'dev'))
  for (const folder of [`${homedir()}-of-others/dev`, join('/mnt', homedir(), 'dev')])
    assert.equal(shown(folder), folder)
})

test('programs that listen on all addresses are reached on this machine’s own', () => {
  const open = loadDevnetSettings({ argv: [], env: { DEVNET_LISTEN: '0.0.0.0' } })
  assert.equal(localUrl(open, 9181), 'http://127.0.0.1:9181')
  const one = loadDevnetSettings({ argv: [], env: { DEVNET_LISTEN: '127.0.0.2' } })
  assert.equal(localUrl(one, 9181), 'http://127.0.0.2:9181')
})

test('the command to paste asks the Host, and holds its query in quotes that a shell keeps', () => {
  const text = queryToPaste(settings)
  const [, url, body = ''] =
    /^curl -s (\S+) -H 'content-type: application\/json' -d '([^']+)'$/m.exec(text) ?? []
  assert.equal(url, 'http://127.0.0.1:9181/api/v0/graphql')
  assert.match(JSON.parse(body).query, /^\{ Block\(order: \{number: DESC\}, limit: 1\) \{ number/)
})
