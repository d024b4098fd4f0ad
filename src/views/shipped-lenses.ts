/** Which lenses are ours; `npm run generate` adds the modules in `src/lenses` to this file, and takes nothing away. */

/**
 * Names of the lenses that ship, by the hashes that `lensHash` gives their modules: the present one and earlier ones,
 * which registered Views go on having; one that was in no release may be taken out. Whoever changes what a lens keeps or
 * adds up checks that what `view-hints.ts` and `view-warnings.ts` say under its name holds for each of them, or else
 * gives the lens a new name: a wrong hint loses rows.
 */
export const shippedLenses: ReadonlyMap<string, string> = new Map([
  ['0xcca5a6f51bc5b05e8d0e78be3ae09dda', 'decode_call'],
  ['0x0e7c60b946d2afa69ee5c64fb5650acd', 'decode_log'],
  ['0x6fa88b7911b1fdf184afe61069bcdc43', 'erc20_balances'],
  ['0xef2eb282a22161508de580cd74a565f0', 'erc20_transfers'],
  ['0x7191158557d3303e09915fcd2a2f1eb6', 'filter'],
  ['0xac56ddfa892bc2ad3ba14f4754c92729', 'filter_transaction'],
])
