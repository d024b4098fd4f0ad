/** The View of the tests: transfers of the token of the chain, by a lens that ships. */
import { readFile } from 'node:fs/promises'
import { paths } from '../../../../src/service/contract.ts'

export const transfersSdl = `type Transfer @materialized(if: true) {
  hash: String
  from: String @index
  to: String @index
  amount: BigInt
  blockNumber: Int
}`

/** Fields of a row that the chain has too. */
export const transferFields = 'hash from to amount blockNumber'

const lens = new URL('../../../../src/lenses/erc20_transfers.wasm', import.meta.url)

interface PostedTo {
  readonly viewsUrl: string
  readonly adminToken: string
}

/** Posts the View, or one with another SDL, to a Host; returns its long ID. */
export async function postTransfers(
  tokenAddress: string,
  { viewsUrl, adminToken }: PostedTo,
  sdl: string = transfersSdl,
): Promise<string> {
  const query = `Log(filter: {address: {_eq: "${tokenAddress}"}}) { address topics data blockNumber transaction { hash } }`
  const wasm = (await readFile(lens)).toString('base64')
  const response = await fetch(viewsUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` },
    body: JSON.stringify({ query, sdl, lenses: [{ wasm, args: { tokenAddress } }] }),
  })
  const { id } = (await response.json()) as { readonly id?: string }
  if (id === undefined) throw new Error(`a Host refuses the View: ${response.status}`)
  return id
}

/** Where a Host takes Views, from where it answers queries. */
export function viewsUrlOf(graphqlUrl: string): string {
  return new URL(paths.views, graphqlUrl).href
}
