/** Requests to a Host's API port, with bounds on time and size: a Host is as little trusted as any other peer. */
import { bearerAuthorization } from '../../bearer-authorization.ts'
import { ServiceError } from '../../errors.ts'
import { hasMoreParts, isNestedDeeper } from '../../json-parts.ts'
import { readBounded } from '../../read-bounded.ts'
import { defaultHostUrl } from '../cli/default-host.ts'

/** A Host as a command was given it. */
export interface HostAddress {
  /** Base URL of its API, as in `http://127.0.0.1:9181`. */
  readonly url: string
  /** `HOST_ADMIN_TOKEN`; null where only what is open to everybody is asked. */
  readonly token: string | null
}

interface HostRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Begins with a slash. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** From sending the request to the last byte of its response; default 30,000. */
  readonly timeoutMs?: number
  /** Largest response that is read; default 64 MiB. */
  readonly maxBytes?: number
}

interface HostResponse {
  readonly status: number
  /** The body as JSON; null where it is empty. */
  readonly body: unknown
}

const defaults = { timeoutMs: 30_000, maxBytes: 64 * 1024 * 1024 }
/** Values and brackets of a response: a block of 64 MiB has some 1,400,000, and as many as this take some 250 MB. */
const maxParts = 2_000_000
/** Brackets that may be open at once: a log of a transaction of a block is at 7. */
const maxDepth = 64

/**
 * Sends a request; follows no redirect.
 * @throws ServiceError `TOOLKIT_HOST_UNREACHABLE`, `TOOLKIT_HOST_TIMEOUT`, `TOOLKIT_HOST_ANSWER_INVALID`,
 *   `TOOLKIT_INPUT_UNREADABLE` for a token that cannot be sent; the reason of the signal.
 */
export async function requestHost(
  { url, token }: HostAddress,
  { method, path, body, signal, ...bounds }: HostRequest,
): Promise<HostResponse> {
  const { timeoutMs, maxBytes } = { ...defaults, ...bounds }
  const { href, origin } = targetOf(url, path)
  const authorization = authorizationOf(token)
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(href, {
      method,
      redirect: 'error',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...authorization,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    const text = await readText(response, origin, maxBytes)
    return { status: response.status, body: text === '' ? null : parseBody(text, origin) }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ServiceError) throw error
    throw timeout.aborted ? timedOut(origin, timeoutMs) : unreachable(origin, error)
  }
}

function authorizationOf(token: string | null): Readonly<Record<string, string>> {
  const authorization = token === null ? {} : bearerAuthorization(token)
  if (authorization !== null) return authorization
  throw new ServiceError(
    'TOOLKIT_INPUT_UNREADABLE',
    'the admin token has a line end, or another character that no request can carry',
    { remedy: 'Give the token of the Host alone, on one line.' },
  )
}

function targetOf(base: string, path: string): { href: string; origin: string } {
  const url = URL.canParse(base) ? new URL(base) : null
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === null || !isHttp || url.username !== '' || url.password !== '')
    throw new ServiceError(
      'TOOLKIT_HOST_URL_INVALID',
      `${JSON.stringify(base.slice(0, 200))} is not a URL of a Host`,
      { remedy: `Write http:// or https:// without user and password, as in ${defaultHostUrl}.` },
    )
  return {
    href: `${url.origin}${url.pathname.replace(/\/+$/, '')}${path}`,
    origin: url.origin,
  }
}

async function readText(response: Response, origin: string, maxBytes: number): Promise<string> {
  try {
    return (await readBounded(response.body ?? [], maxBytes)).toString()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw answerInvalid(origin, `answered more than ${maxBytes} bytes to one request`)
  }
}

function parseBody(text: string, origin: string): unknown {
  if (isNestedDeeper(text, maxDepth))
    throw answerInvalid(origin, `answered JSON of more than ${maxDepth} brackets in each other`)
  if (hasMoreParts(text, maxParts))
    throw answerInvalid(origin, `answered more than ${maxParts} values to one request`)
  try {
    return JSON.parse(text)
  } catch {
    throw answerInvalid(origin, `returned something other than JSON: ${shown(text)}`)
  }
}

/** What is thrown for an answer that is not what a Host gives. */
export function answerInvalid(origin: string, what: string): ServiceError {
  return new ServiceError('TOOLKIT_HOST_ANSWER_INVALID', `${origin} ${what}`, {
    facts: { host: origin },
    remedy: 'Name the API port of a Host (9181 by default), not its playground or its health port.',
  })
}

function timedOut(origin: string, timeoutMs: number): ServiceError {
  return new ServiceError('TOOLKIT_HOST_TIMEOUT', `${origin} did not answer in ${timeoutMs} ms`, {
    facts: { host: origin },
    remedy: 'Try again, or look into the log of the Host.',
  })
}

function unreachable(origin: string, cause: unknown): ServiceError {
  return new ServiceError('TOOLKIT_HOST_UNREACHABLE', `no answer from ${origin}`, {
    facts: { host: origin },
    remedy: 'Check the URL, and that the Host runs: npm start starts one.',
    cause: cause instanceof Error && cause.cause !== undefined ? cause.cause : cause,
  })
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
