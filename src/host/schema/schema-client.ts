/** Asks a Generator for its schema, with bounds on time and size and a remedy for each way to fail. */
import { bearerAuthorization } from '../../bearer-authorization.ts'
import { ServiceError } from '../../errors.ts'
import { readBounded } from '../../read-bounded.ts'
import { paths } from '../../service/contract.ts'
import { compareSchemas, parseSchemaFields, type SchemaFields } from './schema-diff.ts'

export interface SchemaSource {
  /** The Generator's health port, as in `http://generator:8080`; the whole path is accepted too. */
  readonly url: string
  /** Sent as a Bearer credential. */
  readonly token: string | null
  /** Default 5,000. */
  readonly timeoutMs?: number
}

/** A Generator's schema. */
export interface FetchedSchema {
  /** The prefix that the Generator uses, as in `Ethereum__Mainnet`. */
  readonly network: string
  readonly fields: SchemaFields
}

/** What the Generator may answer at most. */
const maxSchemaBytes = 64 * 1024

/**
 * Fetches the schema once. Throws HOST_SCHEMA_UNREACHABLE, HOST_SCHEMA_UNAUTHORIZED or
 * HOST_SCHEMA_UNREADABLE.
 */
export async function fetchSchema(
  source: SchemaSource,
  signal: AbortSignal,
): Promise<FetchedSchema> {
  const url = schemaUrl(source.url)
  const place = placeOf(url)
  const response = await request(url, source, signal)
  if (!response.ok) {
    await response.body?.cancel()
    throw refusal(response.status, place)
  }
  return parseAnswer(await readBody(response, place), place)
}

/** The differences between a Generator's schema and ours, one sentence each. */
export function schemaDifferences(fetched: FetchedSchema, network: string, sdl: string): string[] {
  const differing = compareSchemas(parseSchemaFields(sdl, network), fetched.fields)
  if (fetched.network === network) return differing
  return [`network: ${network} here, ${fetched.network} at the Generator`, ...differing]
}

/** A URL as texts show it: name, password and query may be secrets. */
function placeOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

function schemaUrl(base: string): string {
  const trimmed = base.replace(/\/+$/, '')
  return trimmed.endsWith(paths.schema) ? trimmed : `${trimmed}${paths.schema}`
}

async function request(url: string, source: SchemaSource, signal: AbortSignal): Promise<Response> {
  const deadline = AbortSignal.timeout(source.timeoutMs ?? 5_000)
  const authorization = source.token === null ? {} : bearerAuthorization(source.token)
  if (authorization === null) throw unsendable(placeOf(url))
  try {
    return await fetch(url, {
      headers: { accept: 'application/json', ...authorization },
      redirect: 'error',
      signal: AbortSignal.any([signal, deadline]),
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw unreachable(placeOf(url), cause)
  }
}

function unsendable(url: string): ServiceError {
  const what = 'a line end, or another character that no request can carry'
  return new ServiceError(
    'HOST_SCHEMA_UNAUTHORIZED',
    `the token for the Generator at ${url} has ${what}`,
    { facts: { url }, remedy: 'Write GENERATOR_SCHEMA_AUTH_TOKEN, or its file, on one line.' },
  )
}

function unreachable(url: string, cause: unknown): ServiceError {
  return new ServiceError('HOST_SCHEMA_UNREACHABLE', `no answer from ${url}`, {
    facts: { url },
    remedy: 'Check GENERATOR_SCHEMA_URL and that the Generator’s health port can be reached.',
    cause,
  })
}

function refusal(status: number, url: string): ServiceError {
  const facts = { url, status }
  if (status === 401 || status === 403) {
    const what = status === 401 ? 'wants a token' : 'does not accept the token'
    return new ServiceError('HOST_SCHEMA_UNAUTHORIZED', `the Generator at ${url} ${what}`, {
      facts,
      remedy: 'Set GENERATOR_SCHEMA_AUTH_TOKEN to one of the Generator’s SCHEMA_API_KEYS.',
    })
  }
  if (status === 503) {
    return new ServiceError('HOST_SCHEMA_UNAUTHORIZED', `the Generator at ${url} has no keys`, {
      facts,
      remedy: 'Give the Generator SCHEMA_API_KEYS, or set its SCHEMA_AUTH_MODE to none.',
    })
  }
  return unreadable(url, `HTTP status ${status}`, facts)
}

function unreadable(
  url: string,
  what: string,
  facts: Readonly<Record<string, string | number>> = { url },
  cause?: unknown,
): ServiceError {
  return new ServiceError('HOST_SCHEMA_UNREADABLE', `no schema at ${url}: ${what}`, {
    facts,
    remedy: 'Point GENERATOR_SCHEMA_URL at the health port of a Generator.',
    cause,
  })
}

async function readBody(response: Response, url: string): Promise<string> {
  try {
    return (await readBounded(response.body ?? [], maxSchemaBytes)).toString()
  } catch (cause) {
    if (cause instanceof RangeError) throw unreadable(url, `more than ${maxSchemaBytes} bytes`)
    throw unreachable(url, cause)
  }
}

function parseAnswer(text: string, url: string): FetchedSchema {
  try {
    const { network, schema }: Readonly<Record<string, unknown>> = JSON.parse(text)
    if (!isNetwork(network) || typeof schema !== 'string')
      throw new Error('network and schema are missing')
    const fields = parseSchemaFields(schema, network)
    if (!fields.has('Block.number')) throw new Error('it has no blocks')
    return { network, fields }
  } catch (cause) {
    throw unreadable(url, 'the answer is not a schema', { url }, cause)
  }
}

function isNetwork(network: unknown): network is string {
  return typeof network === 'string' && /^[A-Za-z]\w{0,63}__[A-Za-z]\w{0,63}$/.test(network)
}
