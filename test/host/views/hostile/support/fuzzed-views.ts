/** Views of fuzzed lenses, each with the documents and arguments that its lens wants as long as it is whole. */
import { encodeView } from '../../../../../src/views/wire.ts'
import { fuzzedLenses, type OriginalLens } from '../../../../lens/support/fuzzed-lenses.ts'
import { watchedAddresses } from '../../../../support/chain/block-factory.ts'

const [address = ''] = watchedAddresses
const transfer = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256' },
  ],
}
const call = {
  type: 'function',
  name: 'transfer',
  inputs: [
    { name: 'to', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
}

const logs = 'Log { address topics data blockNumber logIndex transaction { hash from to } }'
const transactions = 'Transaction { hash to input blockNumber }'

const uses: Readonly<Record<OriginalLens, readonly [query: string, args: object]>> = {
  identity: [logs, { any: 'arguments' }],
  terminal: [logs, {}],
  decode_call: [transactions, { abi: JSON.stringify([call]) }],
  decode_log: [logs, { abi: JSON.stringify([transfer]), unmatched: 'keep' }],
  erc20_balances: [logs, { tokenAddress: address }],
  erc20_transfers: [logs, { tokenAddress: address }],
  filter: [logs, { src: 'address', value: address }],
  filter_transaction: [logs, { src: 'address', value: address }],
}

/** The wire bytes of as many Views, the same ones for the same seed. */
export function fuzzedViews(seed: string, count: number): readonly Uint8Array[] {
  return fuzzedLenses(seed, count).map(({ original, wasm }, index) => {
    const [query, args] = uses[original]
    const sdl = `type Fuzzed${index} { hash: String address: String blockNumber: Int }`
    return encodeView({ query, sdl, lenses: [{ wasm, args: JSON.stringify(args) }] })
  })
}
