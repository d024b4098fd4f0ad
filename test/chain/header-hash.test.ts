import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkHeaderHash } from '../../src/chain/header-hash.ts'
import type { RpcBlock } from '../../src/primitives/rpc-block.ts'
import { startAnvil } from '../support/chain/anvil.ts'

const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const zeroHash = `0x${'00'.repeat(32)}`

/** Ethereum mainnet's first block, as every node answers it. */
const mainnetGenesis = {
  hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  parentHash: zeroHash,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: `0x${'00'.repeat(20)}`,
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
  transactionsRoot: emptyRoot,
  receiptsRoot: emptyRoot,
  logsBloom: `0x${'00'.repeat(256)}`,
  difficulty: '0x400000000',
  number: '0x0',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x0',
  extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
  mixHash: zeroHash,
  nonce: '0x0000000000000042',
  size: '0x21c',
  totalDifficulty: '0x400000000',
  transactions: [],
  uncles: [],
}

test('the hash of a header from before all forks is that of mainnet block 0', () => {
  assert.deepEqual(checkHeaderHash(mainnetGenesis), { kind: 'matches' })
})

for (const fork of ['berlin', 'london', 'shanghai', 'cancun', 'prague', 'osaka'])
  test(`headers of ${fork} are recomputed from a real node’s responses`, async (t) => {
    const anvil = await startAnvil({ args: ['--hardfork', fork] })
    t.after(() => anvil.close())
    await anvil.rpc('anvil_mine', '0x2')
    const block = await anvil.rpc<RpcBlock>('eth_getBlockByNumber', '0x2', true)
    assert.deepEqual(checkHeaderHash(block), { kind: 'matches' })
  })

test('a changed field is noticed, with the hash that the header really has', () => {
  const verdict = checkHeaderHash({ ...mainnetGenesis, gasLimit: '0x1389' })
  assert.equal(verdict.kind, 'differs')
})

test('padded quantities and upper case do not change the hash', () => {
  const block = {
    ...mainnetGenesis,
    hash: mainnetGenesis.hash.toUpperCase().replace('0X', '0x'),
    gasLimit: '0x0001388',
    stateRoot: mainnetGenesis.stateRoot.toUpperCase().replace('0X', '0x'),
  }
  assert.deepEqual(checkHeaderHash(block), { kind: 'matches' })
})

test('numbers of forks may have an odd number of digits, and nothing else may', () => {
  for (const name of ['baseFeePerGas', 'blobGasUsed', 'excessBlobGas']) {
    const verdictOf = (value: string): unknown =>
      checkHeaderHash({ ...mainnetGenesis, [name]: value })
    assert.deepEqual(verdictOf('0x7'), verdictOf('0x07'))
    assert.notDeepEqual(verdictOf('0x7'), verdictOf('0x'))
  }
  const odd = { ...mainnetGenesis, nonce: '0x000000000000042' }
  assert.deepEqual(checkHeaderHash(odd), { kind: 'unknown', fields: ['nonce'] })
})

test('a field of a fork not known here makes a hash that differs unknown, not wrong', () => {
  const block = { ...mainnetGenesis, hash: zeroHash, blockAccessListHash: zeroHash }
  assert.deepEqual(checkHeaderHash(block), { kind: 'unknown', fields: ['blockAccessListHash'] })
})

test('a field beside the header does not keep a hash from being recomputed', () => {
  const block = { ...mainnetGenesis, l1BlockNumber: '0x1' }
  assert.deepEqual(checkHeaderHash(block), { kind: 'matches' })
})

test('a header that lacks a field belongs to another kind of chain', () => {
  const { nonce: _, ...block } = mainnetGenesis
  assert.deepEqual(checkHeaderHash(block), { kind: 'unknown', fields: ['nonce'] })
})

test('a field that is no hex is as good as lacking', () => {
  for (const nonce of ['', '42', '0xzz', 66, null, ['0x0000000000000042']]) {
    const block: RpcBlock = Object.assign({ ...mainnetGenesis }, { nonce })
    assert.deepEqual(checkHeaderHash(block), { kind: 'unknown', fields: ['nonce'] })
  }
})

test('a header that lacks a field matches no hash, not even that with the field empty', () => {
  const { nonce: _, ...block } = mainnetGenesis
  const verdict = checkHeaderHash({ ...block, nonce: '0x' })
  const hash = verdict.kind === 'differs' ? verdict.computed : assert.fail(verdict.kind)
  assert.deepEqual(checkHeaderHash({ ...block, nonce: '0x', hash }), { kind: 'matches' })
  assert.deepEqual(checkHeaderHash({ ...block, hash }), { kind: 'unknown', fields: ['nonce'] })
})

test('no header of any shape crashes the check', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefG') })
  const value = fc.oneof(
    digits.map((hex) => `0x${hex}`),
    fc.anything(),
  )
  const names = Object.keys(mainnetGenesis).filter((name) => name !== 'hash')
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), (changes) => {
      checkHeaderHash({ ...mainnetGenesis, ...(changes as object) })
    }),
  )
})
