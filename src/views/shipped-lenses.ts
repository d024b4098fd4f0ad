/** Which lenses are ours; `npm run generate` writes this file from the modules in `src/lenses`. */

/** Names of the lenses that ship, by the hash that `lensHash` gives their modules. */
export const shippedLenses: ReadonlyMap<string, string> = new Map([
  ['0xcca5a6f51bc5b05e8d0e78be3ae09dda', 'decode_call'],
  ['0x0e7c60b946d2afa69ee5c64fb5650acd', 'decode_log'],
  ['0x6fa88b7911b1fdf184afe61069bcdc43', 'erc20_balances'],
  ['0xef2eb282a22161508de580cd74a565f0', 'erc20_transfers'],
  ['0x7191158557d3303e09915fcd2a2f1eb6', 'filter'],
  ['0xac56ddfa892bc2ad3ba14f4754c92729', 'filter_transaction'],
])
