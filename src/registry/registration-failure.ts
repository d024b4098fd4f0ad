/**
 * Why the registration of a View failed. The chain says it once, in an event of the transaction that ends the registration; its
 * consensus RPC (CometBFT) finds that transaction by the address of the View, as long as it keeps an index of transactions.
 */
import { basicAuthorization } from '../basic-authorization.ts'
import { membersOf } from '../json-object.ts'
import { readBounded } from '../read-bounded.ts'
import { maxAnswerValues, parseAnswerJson } from './answer-json.ts'
import { answerMalformed, placeOf, refused, tooLarge, unreachable } from './registry-failure.ts'
import { attributesOf, eventsOf } from './tx-events.ts'

/** How a registration ended. */
export interface RegistrationFailure {
  readonly kind: 'refused' | 'timedOut'
  /** In the words of the chain, at most 1,000 characters of them. */
  readonly error: string
  /** Of the transaction that says so. */
  readonly height: number
}

const eventTypes = {
  refused: 'view.view_registration_failed',
  timedOut: 'view.view_registration_timed_out',
} as const
type Kind = keyof typeof eventTypes

const timeoutMs = 20_000
/** A transaction may acknowledge several Views, and has the bytes of each. */
const maxAnswerBytes = 16 * 1024 * 1024
const maxErrorCharacters = 1_000

/**
 * The last failure of the View at this address, with its checksum; null where there is none. `url` is http or https, with
 * `/websocket` or without.
 * @throws ServiceError `REGISTRY_UNREACHABLE`, `REGISTRY_REFUSED`, `REGISTRY_ANSWER_MALFORMED`, `REGISTRY_ANSWER_TOO_LARGE`;
 *   the signal's reason
 */
export async function findRegistrationFailure(
  url: string,
  address: string,
  signal: AbortSignal,
): Promise<RegistrationFailure | null> {
  const kinds = Object.keys(eventTypes) as Kind[]
  const found = await Promise.all(kinds.map((kind) => lastOf(url, address, kind, signal)))
  const failures = found.filter((failure) => failure !== null)
  return failures.toSorted((one, other) => other.height - one.height)[0] ?? null
}

async function lastOf(
  url: string,
  address: string,
  kind: Kind,
  signal: AbortSignal,
): Promise<RegistrationFailure | null> {
  const query = `${eventTypes[kind]}.address='${address}'`
  const { txs } = membersOf(await search(url, query, signal))
  if (!Array.isArray(txs)) throw answerMalformed(placeOf(url), 'it has no list of transactions')
  if (txs.length === 0) return null
  const { height, tx_result: result } = membersOf(txs[0])
  const error = errorIn(result, kind, address)
  if (typeof height !== 'string' || !/^\d{1,15}$/.test(height) || error === null)
    throw answerMalformed(placeOf(url), 'it is another transaction than was asked for')
  return { kind, error, height: Number(height) }
}

/** A transaction may have the events of other Views as well. */
function errorIn(result: unknown, kind: Kind, address: string): string | null {
  const own = eventsOf(result)
    .filter(({ type }) => type === eventTypes[kind])
    .map(attributesOf)
    .find((attributes) => attributes['address'] === address)
  if (own === undefined) return null
  const { error } = own
  return typeof error === 'string' ? error.slice(0, maxErrorCharacters) : ''
}

/** The newest transaction that fits. CometBFT takes numbers as texts. */
async function search(url: string, query: string, signal: AbortSignal): Promise<unknown> {
  const place = placeOf(url)
  const params = { query, order_by: 'desc', page: '1', per_page: '1' }
  const { status, text } = await post(
    url,
    { jsonrpc: '2.0', id: 1, method: 'tx_search', params },
    signal,
  )
  const { error, result } = membersOf(parse(place, text))
  // It answers errors of its own with status 500.
  if (error !== undefined) {
    const { code } = membersOf(error)
    const facts = { rpcCode: typeof code === 'number' ? code : null }
    throw refused(place, 'a search for a transaction', facts)
  }
  if (status !== 200) throw refused(place, `HTTP status ${status}`, { status })
  return result
}

function parse(place: string, text: string): unknown {
  try {
    return parseAnswerJson(text)
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(place, { maxValues: maxAnswerValues })
    throw answerMalformed(place, 'it is not JSON', cause)
  }
}

async function post(
  url: string,
  body: unknown,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const target = new URL(url)
  const path = target.pathname.replace(/\/(?:websocket\/?)?$/, '')
  try {
    const response = await fetch(`${target.origin}${path}/${target.search}`, {
      method: 'POST',
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...basicAuthorization(target) },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const bytes = await readBounded(response.body ?? [], maxAnswerBytes)
    return { status: response.status, text: bytes.toString() }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof RangeError) throw tooLarge(placeOf(url), { maxBytes: maxAnswerBytes })
    throw unreachable(placeOf(url), '--comet or REGISTRY_RPC_URL', causeOf(error))
  }
}

/** fetch says only that it failed. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error
}
