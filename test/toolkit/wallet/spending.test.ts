import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registryChainIds } from '../../../src/registry/registry-chains.ts'
import type { Terminal } from '../../../src/toolkit/cli/terminal.ts'
import {
  chainToSignFor,
  parseSpending,
  requireAffordable,
  requireNamedChain,
} from '../../../src/toolkit/wallet/spending.ts'

const limits = { chainId: null, maxFee: 10n }
const afford = (fee: bigint, balance: bigint) => (): void =>
  requireAffordable({ fee, balance }, '0x12', limits)

test('a fee may be as high as the limit, and take the whole balance', () => {
  assert.doesNotThrow(afford(10n, 10n))
})

test('a fee above the limit is refused, whatever the balance', () => {
  assert.throws(afford(11n, 10n ** 18n), {
    code: 'TOOLKIT_FEE_HIGH',
    message:
      'registering may cost 0.000000000000000011 SHNZ, and at most 0.00000000000000001 SHNZ may be spent',
  })
})

test('a fee above the balance is refused with the account', () => {
  assert.throws(afford(10n, 9n), {
    code: 'TOOLKIT_BALANCE_LOW',
    message:
      '0x12 has 0.000000000000000009 SHNZ, and registering may cost 0.00000000000000001 SHNZ',
  })
})

test('without flags the node names the chain, and a tenth of a coin may be spent', () => {
  assert.deepEqual(parseSpending({}), { chainId: null, maxFee: 10n ** 17n })
  const given = parseSpending({ chainId: '999999999999999', maxFee: '0.25' })
  assert.deepEqual(given, { chainId: 999_999_999_999_999, maxFee: 25n * 10n ** 16n })
  assert.deepEqual(parseSpending({ chainId: '1', maxFee: '0' }), { chainId: 1, maxFee: 0n })
})

test('what is no chain ID or no amount is wrong usage that shows it', () => {
  const code = 'TOOLKIT_USAGE_INVALID'
  for (const chainId of ['', '0', '01', '-1', '1.5', '0x1', '1e3', ' 1', '1000000000000000'])
    assert.throws(() => parseSpending({ chainId }), {
      code,
      message: `'${chainId}' is not a chain ID`,
    })
  for (const maxFee of ['', 'all', '-1'])
    assert.throws(() => parseSpending({ maxFee }), {
      code,
      message: `'${maxFee}' is not an amount of SHNZ`,
    })
})

test('--chain-id may name the chain that was prepared for, and no other', () => {
  requireNamedChain(7, { chainId: null, maxFee: 0n })
  requireNamedChain(7, { chainId: 7, maxFee: 0n })
  assert.throws(() => requireNamedChain(7, { chainId: 8, maxFee: 0n }), {
    code: 'TOOLKIT_USAGE_INVALID',
    message: 'what was prepared is for chain 7',
  })
})

test('what is signed is for the named chain, else for that of the node where it is a registry', async () => {
  const remarks: string[] = []
  const terminal = {
    stderr: { write: (text: string) => remarks.push(text) },
  } as unknown as Terminal
  const chain = (chainId: number | null, said: number): Promise<number> =>
    chainToSignFor(terminal, { chainId, maxFee: 0n }, async () => said)
  for (const known of Object.values(registryChainIds)) assert.equal(await chain(null, known), known)
  assert.equal(await chain(5, 5), 5)
  assert.deepEqual(remarks, [])
  assert.equal(await chain(5, 6), 5)
  assert.deepEqual(remarks, ['the node calls its chain 6; what is signed is for chain 5\n'])
  await assert.rejects(chain(null, 6), {
    code: 'TOOLKIT_CHAIN_REFUSED',
    message: 'the node of --rpc is on chain 6: no known registry chain',
  })
  await assert.rejects(chain(null, 1), {
    code: 'TOOLKIT_CHAIN_REFUSED',
    message: 'the node of --rpc is on chain 1: Ethereum Mainnet, no registry chain',
  })
})
