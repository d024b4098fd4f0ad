import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkName, typeName } from '../../src/primitives/names.ts'

test('every collection name carries the prefix <Chain>__<Network>__', () => {
  const network = networkName('Ethereum', 'Mainnet')
  assert.equal(network, 'Ethereum__Mainnet')
  assert.equal(typeName(network, 'Block'), 'Ethereum__Mainnet__Block')
})

test('names that can be read back from a type name are accepted', () => {
  assert.equal(networkName('Arbitrum_One', '42161'), 'Arbitrum_One__42161')
  assert.equal(networkName('L2', 'test_net'), 'L2__test_net')
  const longest = 'x'.repeat(64)
  assert.equal(networkName(longest, longest), `${longest}__${longest}`)
})

test('names that cannot be read back are refused with the reason', () => {
  const bad = ['', ' ', 'A__B', '_A', 'A_', 'Ä', 'a-b', 'a b', 'x'.repeat(65), 'A\n']
  for (const name of [...bad, '1Chain']) {
    assert.throws(() => networkName(name, 'Mainnet'), { code: 'PRIMITIVES_NAME_INVALID' })
  }
  for (const name of bad) {
    assert.throws(() => networkName('Ethereum', name), {
      code: 'PRIMITIVES_NAME_INVALID',
      remedy: /letters, digits and single underscores/,
    })
  }
})

test('a long name is shown up to its 80th character', () => {
  const shown = 'x'.repeat(80)
  assert.throws(() => networkName('Ethereum', `${shown}y`), {
    message: `The network name "${shown}" cannot be part of a type name.`,
    facts: { part: 'network', value: shown },
  })
})
