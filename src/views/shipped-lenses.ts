/** Which lenses are ours; `npm run generate` writes this file from the modules in `src/lenses`. */

/** Names of the lenses that ship, by the hash that `lensHash` gives their modules. */
export const shippedLenses: ReadonlyMap<string, string> = new Map([
  ['0x022ad3d1bedf37be8e4f4a55f22675fe', 'decode_call'],
  ['0x005b784fcb4ac8544d9c9cd56af0ebbb', 'decode_log'],
  ['0x6f2773f158e3cc1b3058cedc5dff3a18', 'erc20_balances'],
  ['0xd1cf0b686dc5ef017c556b11ee2894f9', 'erc20_transfers'],
  ['0x39668914efb030afb3bdf90ba60557ab', 'filter'],
  ['0x6f68d04a7e4b53111472c2309a8f1807', 'filter_transaction'],
])
