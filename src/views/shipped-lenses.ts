/** Which lenses are ours; `npm run generate` writes this file from the modules in `src/lenses`. */

/** Names of the lenses that ship, by the hash that `lensHash` gives their modules. */
export const shippedLenses: ReadonlyMap<string, string> = new Map([
  ['0x9fcf59f4bebd3c1bea4ed0e6442797bd', 'decode_call'],
  ['0x6fb349a3abfe807bd62c7ce7976ee4a6', 'decode_log'],
  ['0x972f492ceee677783a5dc68b97351257', 'erc20_balances'],
  ['0xe9bbb326f6e149afb651d6b318c5d33f', 'erc20_transfers'],
  ['0x06745544b1acebb168334508a7c0dff7', 'filter'],
  ['0xf02d36280e35b49509320a7b74b6f4b3', 'filter_transaction'],
])
