import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  concatHex,
  keccak256,
  parseSignature,
  type TransactionSerializable,
  toHex,
  toRlp,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { registryAddress } from '../../../src/registry/precompile/abi.ts'
import {
  readSigned,
  registerCall,
  transactionFaults,
} from '../../../src/registry/precompile/signed-transaction.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const creator = account.address
const chainId = 91_273_001
const wire = Uint8Array.of(1, 2, 3)
const to = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const common = { to, chainId, nonce: 7, gas: 21_000n, value: 5n, data: '0x0102' } as const

const signed = (transaction: TransactionSerializable): Promise<string> =>
  account.signTransaction(transaction)

test('what a signed transaction says is read, whatever its type', async () => {
  const cases = [
    [{ type: 'legacy', gasPrice: 9n }, '0x0', 9n, 9n],
    [{ type: 'eip2930', gasPrice: 9n }, '0x1', 9n, 9n],
    [{ type: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 4n }, '0x2', 4n, 9n],
    [{ type: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }, '0x2', 9n, 9n],
    [{ type: 'eip1559', maxFeePerGas: 9n }, '0x2', 0n, 9n],
  ] as const
  for (const [terms, type, gasPrice, maxPrice] of cases) {
    const raw = await signed({ ...common, ...terms })
    const hash = keccak256(raw as `0x${string}`)
    assert.deepEqual(await readSigned(raw), {
      ...{ hash, from: creator.toLowerCase(), to: to.toLowerCase(), data: '0x0102' },
      ...{ chainId, nonce: 7, gas: 21_000n, gasPrice, maxFee: 21_000n * maxPrice, value: 5n },
      fields: { hash, nonce: '0x7', gas: '0x5208', gasPrice: `0x${gasPrice}`, type },
    })
  }
})

test('what a signed transaction leaves out is nothing', async () => {
  const raw = await signed({ type: 'legacy', to: null, gasPrice: 0n })
  const hash = keccak256(raw as `0x${string}`)
  assert.deepEqual(await readSigned(raw), {
    ...{ hash, from: creator.toLowerCase(), to: null, data: '0x', chainId: null, nonce: 0 },
    ...{ gas: 0n, gasPrice: 0n, maxFee: 0n, value: 0n },
    fields: { hash, nonce: '0x0', gas: '0x0', gasPrice: '0x0', type: '0x0' },
  })
})

test('what is no transaction, or has no valid signature, is not read', async () => {
  const raw = await signed({ type: 'eip1559', ...common })
  for (const bad of [
    '',
    '0x',
    '0x02',
    'x',
    raw.slice(0, -2),
    `${raw.slice(0, -64)}${'00'.repeat(32)}`,
  ])
    assert.equal(await readSigned(bad), null, bad)
})

test('a transaction whose tip is above its fee, which no chain takes, is not read', async () => {
  const signedWith = async (tip: `0x${string}`, fee: `0x${string}`): Promise<string> => {
    const parts = [toHex(chainId), '0x07', tip, fee, '0x5208', to, '0x', '0x', []] as const
    const unsigned = concatHex(['0x02', toRlp([...parts])])
    const { r, s, yParity } = parseSignature(await account.sign({ hash: keccak256(unsigned) }))
    return concatHex(['0x02', toRlp([...parts, yParity === 0 ? '0x' : '0x01', r, s])])
  }
  assert.equal((await readSigned(await signedWith('0x09', '0x09')))?.gasPrice, 9n)
  assert.equal(await readSigned(await signedWith('0x0a', '0x09')), null)
})

test('a transaction is told from one that registers a View by each of its parts', async () => {
  const terms = { maxFeePerGas: 9n, maxPriorityFeePerGas: 4n, nonce: 7, gas: 90_000n }
  const registering = { type: 'eip1559', ...terms, chainId, to: registryAddress } as const
  const faultsOf = async (other: Partial<TransactionSerializable>, hash?: string) => {
    const raw = await signed({
      ...registering,
      data: registerCall(wire),
      ...other,
    } as TransactionSerializable)
    const own = keccak256(raw as `0x${string}`)
      .toUpperCase()
      .replace('0X', '0x')
    return transactionFaults({ hash: hash ?? own, raw }, { creator, chainId, wire })
  }
  assert.deepEqual(await faultsOf({}), [])
  assert.deepEqual(await faultsOf({}, `0x${'22'.repeat(32)}`), ['another hash'])
  assert.deepEqual(await faultsOf({ to }), ['another receiver'])
  assert.deepEqual(await faultsOf({ chainId: 1 }), ['another chain ID'])
  assert.deepEqual(await faultsOf({ data: registerCall(Uint8Array.of(1)) }), ['another View'])
  assert.deepEqual(await faultsOf({ value: 1n }), ['coins with it'])
  assert.deepEqual(await faultsOf({ to: null, value: 1n }), ['another receiver', 'coins with it'])
  const raw = await signed({ ...registering, data: registerCall(wire) })
  const hash = keccak256(raw as `0x${string}`)
  assert.deepEqual(await transactionFaults({ hash, raw }, { creator: to, chainId, wire }), [
    'another creator',
  ])
  assert.deepEqual(await transactionFaults({ hash, raw: '0x' }, { creator, chainId, wire }), [
    'no signature',
  ])
})
