/** The View that `npm start` posts to its Host: the transfers of the token of its chain, as rows. */
import { readFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import { codeOf, ServiceError } from '../errors.ts'
import { paths } from '../service/contract.ts'
import { noSender, viewIDs } from '../views/view-id.ts'
import { encodeView } from '../views/wire.ts'
import { waitForPeerId } from './health.ts'
import { replaceFile } from './replace-file.ts'

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

interface ReplacedViewOptions extends TokenViewOptions {
  /** A file that has the ID of the View that was posted last. */
  readonly notePath: string
}

/**
 * Posts the View as `replaceTokenView` does once the Host is up, so that there are rows to begin with. Without them
 * everything else works: a failure is a warning.
 */
export async function showTokenView(
  { healthUrl, ...options }: ReplacedViewOptions & { readonly healthUrl: string },
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await waitForPeerId(healthUrl, signal)
    await replaceTokenView(options, signal)
  } catch (err) {
    if (!signal.aborted) log.warn({ err }, 'the View of the token could not be posted')
  }
}

/**
 * Posts the View; harmless where the Host has it already.
 * @throws ServiceError `DEVNET_VIEW_REFUSED` with what the Host says.
 */
export async function postTokenView(options: TokenViewOptions, signal: AbortSignal): Promise<void> {
  await post(await tokenViewWire(options.token), options, signal)
}

/**
 * Posts the View in place of the one whose ID the file has, if that is another one: both would be
 * served beside each other once a version brings another lens. Then the file has the new ID.
 * @throws ServiceError `DEVNET_VIEW_REFUSED` as `postTokenView` does; an error of the file system.
 */
export async function replaceTokenView(
  { notePath, ...options }: ReplacedViewOptions,
  signal: AbortSignal,
): Promise<void> {
  const wire = await tokenViewWire(options.token)
  const { id } = viewIDs(noSender, wire)
  const before = await readNote(notePath)
  if (before !== null && before !== id) await remove(before, options, signal)
  await post(wire, options, signal)
  replaceFile(notePath, `${id}\n`)
}

async function tokenViewWire(token: string): Promise<Uint8Array> {
  const tokenAddress = token.toLowerCase()
  const query = `Log(filter: {address: {_eq: "${tokenAddress}"}}) { address topics data blockNumber transaction { hash } }`
  const args = JSON.stringify({ tokenAddress })
  return encodeView({ query, sdl, lenses: [{ wasm: await readFile(lens), args }] })
}

async function post(wire: Uint8Array, host: TokenViewOptions, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ wire: Buffer.from(wire).toString('base64') })
  const headers = { 'content-type': 'application/json', ...authorization(host) }
  const url = `${host.hostUrl}${paths.views}`
  const response = await fetch(url, { method: 'POST', headers, body, signal })
  if (!response.ok) throw await refused(response)
}

async function remove(id: string, host: TokenViewOptions, signal: AbortSignal): Promise<void> {
  const url = `${host.hostUrl}${paths.views}/${encodeURIComponent(id)}`
  const response = await fetch(url, { method: 'DELETE', headers: authorization(host), signal })
  if (!response.ok && response.status !== 404) throw await refused(response)
}

function authorization({ adminToken }: TokenViewOptions): { readonly authorization: string } {
  return { authorization: `Bearer ${adminToken}` }
}

async function refused(response: Response): Promise<ServiceError> {
  const message = `the Host refuses the View of the token: ${await response.text()}`
  return new ServiceError('DEVNET_VIEW_REFUSED', message, {
    facts: { status: response.status },
    remedy: 'Read the log of the Host; its folder is printed above.',
  })
}

async function readNote(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
