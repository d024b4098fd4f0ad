/** Nothing is stored or sealed of an execution node whose chain ID is not that of the configured chain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceError } from '../../../src/errors.ts'
import { requiredChainId } from '../../../src/generator/config.ts'
import type { RequiredChainId } from '../../../src/generator/ingest/chain-id.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { startAnvil } from '../../support/chain/anvil.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import type { GeneratedNode } from '../../support/chain/generated-node.ts'
import { openGeneratorInProcess } from '../../support/generator-in-process.ts'
import { storedChain, testDirectory } from '../../support/test-store.ts'
import { assertStored, ingestSetting } from '../support/running-ingest.ts'

const mainnet: RequiredChainId = { id: 1, network: 'Ethereum Mainnet' }
const chain = createChain({ count: 3 })

function sayChainId(node: GeneratedNode, answer: object): void {
  node.change((method) => (method === 'eth_chainId' ? { error: {}, ...answer } : undefined))
}

const answers: readonly [string, RequiredChainId, object, string, RegExp][] = [
  [
    'of a development chain under the names of mainnet',
    mainnet,
    { error: undefined, result: '0x7a69' },
    'The execution node has chain ID 31337, and Ethereum Mainnet has 1; nothing of it was stored.',
    /CHAIN_NAME and CHAIN_NETWORK.*DB_STORE_PATH.*NODE_RPC_URL to a node of Ethereum Mainnet/,
  ],
  [
    'of another known network, which is named',
    mainnet,
    { error: undefined, result: '0xaa36a7' },
    'The execution node has chain ID 11155111 (Ethereum Sepolia), and Ethereum Mainnet has 1; nothing of it was stored.',
    /CHAIN_NAME/,
  ],
  [
    'other than CHAIN_ID',
    { id: 5, network: null },
    { error: undefined, result: '0x6' },
    'The execution node has chain ID 6, and chain.id (CHAIN_ID) is 5; nothing of it was stored.',
    /CHAIN_ID.*NODE_RPC_URL/,
  ],
  [
    'that a node does not say, though CHAIN_ID is set',
    { id: 5, network: null },
    { error: { code: -32601, message: 'not allowed' } },
    'The execution node does not say its chain ID, and chain.id (CHAIN_ID) is 5; nothing of it was stored.',
    /CHAIN_ID.*eth_chainId/,
  ],
]

for (const [name, required, answer, message, remedy] of answers)
  test(`a chain ID ${name} is refused, with what to do, and nothing is stored`, async (t) => {
    const { store, node, run } = await ingestSetting(t, chain)
    sayChainId(node, answer)
    const running = run({ requiredChainId: required })
    await assert.rejects(running.ended, (error: ServiceError) => {
      assertExplained(error)
      assert.deepEqual([error.code, error.message], ['GENERATOR_CHAIN_MISMATCH', message])
      assert.match(error.remedy ?? '', remedy)
      return true
    })
    assert.deepEqual(storedChain(store.reader), [])
    assert.deepEqual(running.heads, [])
  })

test('a chain ID that fits, or that names ask nothing of, is stored and sealed', async (t) => {
  for (const required of [mainnet, null]) {
    const { store, node, run } = await ingestSetting(t, chain)
    sayChainId(node, { error: undefined, result: '0x1' })
    const running = run({ requiredChainId: required })
    await running.sealed(chain[2]?.hash)
    assertStored(store, chain)
  }
})

for (const [name, answer] of [
  ['has no such method', { code: -32601, message: 'the method does not exist' }],
  ['allows no such method', { code: -32000, message: 'method is not whitelisted' }],
  ['answers null to what it does not know', null],
] as const)
  test(`a node that ${name} is taken for the one of the names, which the log says`, async (t) => {
    const { store, node, run } = await ingestSetting(t, chain)
    sayChainId(node, answer === null ? { error: undefined, result: null } : { error: answer })
    const running = run({ requiredChainId: mainnet })
    await running.sealed(chain[2]?.hash)
    assertStored(store, chain)
    await running.log.line('execution node does not say its chain ID, goes on without')
  })

test('a response that is no chain ID is asked for again, and nothing is stored meanwhile', async (t) => {
  const { store, node, run } = await ingestSetting(t, chain)
  let asked = 0
  node.change((method) => {
    if (method !== 'eth_chainId') return undefined
    asked += 1
    assert.deepEqual(storedChain(store.reader), [])
    return { result: asked < 4 ? ['0x', '0x0', 'one'][asked - 1] : '0x1' }
  })
  await run({ requiredChainId: mainnet }).sealed(chain[2]?.hash)
  assert.equal(asked, 4)
})

test('which chain ID is required follows from CHAIN_ID, else from the names of a known network', () => {
  const names = { chainName: 'Ethereum', chainNetwork: 'Mainnet' }
  assert.deepEqual(requiredChainId({ ...names, chainId: null }), mainnet)
  const own = { chainName: 'Local', chainNetwork: 'Devnet' }
  assert.equal(requiredChainId({ ...own, chainId: null }), null)
  assert.deepEqual(requiredChainId({ ...own, chainId: 31337 }), { id: 31337, network: null })
})

test('a Generator without names seals no anvil as Ethereum__Mainnet, and shows its chain ID', async (t) => {
  const anvil = await startAnvil({ blockTime: 1 })
  t.after(() => anvil.close())
  const env = { NODE_RPC_URL: anvil.url }
  const unnamed = { ...env, CHAIN_NAME: '', CHAIN_NETWORK: '' }
  const refused = await openGeneratorInProcess(t, testDirectory(t), unnamed)
  const error = await refused.failed
  assert.match(String(error), /has chain ID 31337, and Ethereum Mainnet has 1/)
  const report = await refused.reports(() => true)
  assert.deepEqual([report.chain_id, report.head], [31337, null])

  const named = await openGeneratorInProcess(t, testDirectory(t), env)
  const { chain_id: chainId } = await named.reports(({ head }) => head !== null)
  assert.equal(chainId, 31337)
})
