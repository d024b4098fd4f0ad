/** The View that `npm start` posts to its Host: the transfers of the token of its chain, as rows. */
import { readFile } from 'node:fs/promises'
import { ServiceError } from '../errors.ts'
import { paths } from '../service/contract.ts'

const lens = new URL('../lenses/erc20_transfers.wasm', import.meta.url)

const sdl = `"Transfers of the token that npm start creates."
type TokenTransfer @materialized(if: true) {
  tokenAddress: String
  hash: String
  from: String @index
  to: String @index
  amount: BigInt
  blockNumber: Int
}`

interface TokenViewOptions {
  /** Base URL of the Host's API. */
  readonly hostUrl: string
  /** Opens the routes of Views. */
  readonly adminToken: string
  /** The token's address. */
  readonly token: string
}

/**
 * Posts the View; harmless where the Host has it already.
 * @throws ServiceError `DEVNET_VIEW_REFUSED` with what the Host says.
 */
export async function postTokenView(
  { hostUrl, adminToken, token }: TokenViewOptions,
  signal: AbortSignal,
): Promise<void> {
  const tokenAddress = token.toLowerCase()
  const query = `Log(filter: {address: {_eq: "${tokenAddress}"}}) { address topics data blockNumber transaction { hash } }`
  const wasm = (await readFile(lens)).toString('base64')
  const response = await fetch(`${hostUrl}${paths.views}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` },
    body: JSON.stringify({ query, sdl, lenses: [{ wasm, args: { tokenAddress } }] }),
    signal,
  })
  const text = await response.text()
  if (response.ok) return
  throw new ServiceError('DEVNET_VIEW_REFUSED', `the Host refuses the View of the token: ${text}`, {
    facts: { status: response.status },
    remedy: 'Read the log of the Host; its folder is printed above.',
  })
}
