import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownChainId, knownNetworks, networkOfChainId } from '../../src/service/known-networks.ts'

test('names of a known network have its chain ID in whatever case, and other names have none', () => {
  assert.equal(knownChainId('Ethereum', 'Mainnet'), 1)
  assert.equal(knownChainId('ethereum', 'SEPOLIA'), 11155111)
  assert.equal(knownChainId('Local', 'Devnet'), null)
  assert.equal(knownChainId('Ethereum', 'Devnet'), null)
})

test('every chain ID of the table is called by the names that have it', () => {
  for (const [network, chainId] of knownNetworks) {
    const [chain = '', name = ''] = network.split('__')
    assert.equal(networkOfChainId(chainId), `${chain} ${name}`)
    assert.equal(knownChainId(chain, name), chainId)
  }
  assert.equal(networkOfChainId(31337), null)
})
