/** Which lenses are ours; `npm run generate` writes this file from the modules in `src/lenses`. */

/** Names of the lenses that ship, by the hash that `lensHash` gives their modules. */
export const shippedLenses: ReadonlyMap<string, string> = new Map([
  ['0x36771fa0c5ace552ea74333168840e2a', 'decode_call'],
  ['0x25332dcd879b704b629a80ed53f10cbe', 'decode_log'],
  ['0xafd4254430453f409c4ae793d46bf57f', 'erc20_balances'],
  ['0xa3ec5ef3954354446eb136fa830fdce4', 'erc20_transfers'],
  ['0xab7da3db338f87be4503a2c1a9c56864', 'filter'],
  ['0xeba79d55aa997cbfe9febb6eb632ca85', 'filter_transaction'],
])
