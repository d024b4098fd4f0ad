import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { anvilState } from '../../src/devnet/anvil-state.ts'
import { nodeFolder, openProgramFolder, programFolder } from '../../src/devnet/chain-folder.ts'
import { type ChainSource, openChainSource } from '../../src/devnet/chain-source.ts'
import { openChildren } from '../../src/devnet/children.ts'
import { loadDevnetSettings } from '../../src/devnet/config.ts'
import { callNode, type RpcAddress } from '../../src/devnet/rpc.ts'
import { openBody } from '../../src/primitives/body/body.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { captureLog } from '../support/captured-log.ts'
import { startAnvil } from '../support/chain/anvil.ts'
import { type ChainBlock, createChain } from '../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../support/chain/sealed-blocks.ts'
import { freePorts } from '../support/free-port.ts'
import { testDirectory } from '../support/test-store.ts'
import { openJsonServer } from './support/json-server.ts'

const { log } = captureLog()
const [strange] = createChain({ seed: 'a chain the node does not know', count: 1 })
assert.ok(strange !== undefined)

test('the local chain continues while its node has the last sealed block', async (t) => {
  const path = testDirectory(t)
  // As an earlier start leaves it that was ended before the chain had a name.
  const unnamed = nodeFolder(join(path, 'unnamed'))
  await mkdir(unnamed, { recursive: true })
  await writeFile(anvilState(unnamed), '{')
  const open = await sourceOpener(t, { DEVNET_PATH: path })
  const first = await open()
  assert.deepEqual([first.source.isLocal, first.said], [true, []])
  const { folder, genesisHash, chain, network, node } = first.source
  assert.equal(basename(folder), genesisHash.slice(2, 10))
  assert.equal(`${chain}__${network}`, 'Local__Devnet')
  const newest = await newestBlock(node)
  await first.close()

  await writeSealed(first.source, newest)
  const second = await open()
  await second.close()
  assert.deepEqual(second.source, first.source)
  assert.deepEqual(second.said, [])
})

test('a new chain starts with a message when the node lost the last sealed block', async (t) => {
  const open = await sourceOpener(t, {})
  const first = await open()
  await first.close()
  await writeSealed(first.source, strange)
  const second = await open()
  await second.close()
  assert.notEqual(second.source.folder, first.source.folder)
  assert.match(second.said.join(), /does not have block 1 \(0x.* A new chain begins/)

  await rm(anvilState(nodeFolder(second.source.folder)))
  const third = await open()
  await third.close()
  assert.notEqual(third.source.folder, second.source.folder)
  assert.match(third.said.join(), /is gone or damaged/)
})

test('a given node keeps its folder while it has the last sealed block, then gets a numbered one', async (t) => {
  const node = await startAnvil()
  t.after(() => node.close())
  await node.rpc('evm_mine')
  const open = await sourceOpener(t, { NODE_RPC_URL: node.url })
  const first = await open()
  assert.equal(`${first.source.chain}__${first.source.network}`, 'Ethereum__Mainnet')
  assert.deepEqual([first.source.isLocal, first.said], [false, []])
  assert.deepEqual(first.source.node, { rpcUrl: node.url })
  await writeSealed(first.source, await newestBlock(first.source.node))
  const second = await open()
  assert.equal(second.source.folder, first.source.folder)

  await rm(programFolder(first.source.folder, 'generator').storePath, { recursive: true })
  await writeSealed(first.source, strange)
  const third = await open()
  assert.equal(third.source.folder, `${first.source.folder}-2`)
  assert.match(third.said.join(), /does not have block 1 .* A new folder begins/)

  openProgramFolder(third.source.folder, 'generator')
  const fourth = await open()
  assert.equal(fourth.source.folder, third.source.folder)
  assert.deepEqual(fourth.said, [])
  for (const opened of [first, second, third, fourth]) await opened.close()
})

test('a given node is asked with its API key, and beside a store that cannot be read none begins', async (t) => {
  const hash = `0x${'ab'.repeat(32)}`
  const { url } = await openJsonServer(t, () => ({ result: { hash } }))
  const path = testDirectory(t)
  const key = { NODE_API_KEY: 'key', NODE_API_KEY_TYPE: 'X-Key' }
  const open = await sourceOpener(t, { NODE_RPC_URL: url, DEVNET_PATH: path, ...key })
  const { source, close } = await open()
  assert.deepEqual(source.node, { rpcUrl: url, headers: { 'X-Key': 'key' } })
  const { storePath } = openProgramFolder(source.folder, 'generator')
  await writeFile(storePath, '')
  await assert.rejects(open(), { code: 'STORE_PATH_UNUSABLE' })
  assert.deepEqual(await readdir(path), ['abababab'])
  await close()
})

test('what answers without a block 0 is no node, and no folder is made for it', async (t) => {
  const results = [null, '0x0', {}, { hash: 1 }, { hash: '0x12' }]
  const asked = [...results]
  const { url } = await openJsonServer(t, () => ({ result: asked.shift() }))
  const path = testDirectory(t)
  const open = await sourceOpener(t, { NODE_RPC_URL: url, DEVNET_PATH: path })
  for (const _ of results)
    await assert.rejects(open(), {
      code: 'DEVNET_NODE_UNREACHABLE',
      message: 'the node has no block 0',
    })
  assert.deepEqual([asked, await readdir(path)], [[], []])
})

test('a chain that gets other names begins again, and goes on under either', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'viewmesh-names-'))
  t.after(() => rm(path, { recursive: true }))
  const node = await startAnvil()
  t.after(() => node.close())
  const given = { NODE_RPC_URL: node.url, DEVNET_PATH: path }
  const openUsual = await sourceOpener(t, given)
  const first = await openUsual()
  await writeSealed(first.source, await newestBlock(first.source.node))
  const openRenamed = await sourceOpener(t, { ...given, CHAIN_NAME: 'My', CHAIN_NETWORK: 'Net' })
  const second = await openRenamed()
  assert.equal(second.source.folder, `${first.source.folder}-2`)
  assert.match(
    second.said.join(),
    /^What \S+ holds is not for My__Net, as CHAIN_NAME and CHAIN_NETWORK say\. A new folder begins/,
  )
  await writeSealed(second.source, await newestBlock(second.source.node))
  const third = await openRenamed()
  assert.deepEqual([third.source, third.said], [second.source, []])
  const fourth = await openUsual()
  assert.deepEqual([fourth.source, fourth.said], [first.source, []])
  for (const opened of [first, second, third, fourth]) await opened.close()
})

test('the local chain under other names is another one, and both go on', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'viewmesh-names-'))
  t.after(() => rm(path, { recursive: true }))
  const openUsual = await sourceOpener(t, { DEVNET_PATH: path })
  const first = await openUsual()
  await writeSealed(first.source, await newestBlock(first.source.node))
  await first.close()
  const openRenamed = await sourceOpener(t, { DEVNET_PATH: path, CHAIN_NAME: 'My' })
  const second = await openRenamed()
  await writeSealed(second.source, await newestBlock(second.source.node))
  await second.close()
  assert.notEqual(second.source.folder, first.source.folder)
  assert.match(second.said.join(), /holds is not for My__Devnet, .* A new chain begins\.$/)
  for (const [open, { source }] of [
    [openUsual, first],
    [openRenamed, second],
  ] as const) {
    const again = await open()
    await again.close()
    assert.deepEqual([again.source.folder, again.said], [source.folder, []])
  }
})

interface Opened {
  readonly source: ChainSource
  readonly said: readonly string[]
  close(): Promise<void>
}

/** Opens a source in the same new directory each time it is called, or in the one that `env` names. */
async function sourceOpener(
  t: TestContext,
  env: Record<string, string>,
): Promise<() => Promise<Opened>> {
  const path = await mkdtemp(join(tmpdir(), 'viewmesh-source-'))
  t.after(() => rm(path, { recursive: true }))
  const [port] = await freePorts(1)
  const settings = loadDevnetSettings({
    argv: [],
    env: { DEVNET_PATH: path, DEVNET_NODE_PORT: String(port), ...env },
  })
  return async () => {
    const said: string[] = []
    const failure = Promise.withResolvers<never>()
    const children = openChildren({ onFailure: failure.reject })
    const parts = { children, signal: t.signal, log, say: (text: string) => void said.push(text) }
    const source = await Promise.race([openChainSource(settings, parts), failure.promise])
    return { source, said, close: () => children.close() }
  }
}

/** The newest block of a chain without transactions. */
async function newestBlock(node: RpcAddress): Promise<ChainBlock> {
  const call = { method: 'eth_getBlockByNumber', params: ['latest', true] }
  const block = (await callNode(node, call)) as ChainBlock['block']
  const { hash, parentHash } = block as { hash: `0x${string}`; parentHash: `0x${string}` }
  return { number: Number(block.number), hash, parentHash, block, receipts: [] }
}

/** Stores a block and its seal as the Generator of this folder. */
async function writeSealed(source: ChainSource, block: ChainBlock): Promise<void> {
  const network = `${source.chain}__${source.network}`
  const { storePath: path } = programFolder(source.folder, 'generator')
  const { number, hash, body, documents, seal } = sealBlock(block, testSigner('generator'), network)
  const { parentHash, timestamp } = documents
  const { merkleRoot: root, cidCount: count } = seal
  const { counts: sections } = openBody(body)
  const header = {
    number,
    hash,
    parentHash,
    timestamp,
    root,
    count,
    sections,
    bodyBytes: body.length,
  }
  const writer = await openWriter({ path, network, retainBlocks: null }, { log })
  await writer.putSealedBlock({ header, body, terms: [], seals: [seal] })
  await writer.close()
}
