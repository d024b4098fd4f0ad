/**
 * Authorization of routes that are not for everybody: refused without configured keys, granted to requests with one
 * of them as `Authorization: Bearer` or `X-Api-Key`.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface TokenAuthOptions {
  readonly mode: 'token' | 'none'
  /** The keys that are accepted now. */
  readonly keys: () => readonly string[]
  /** What whoever is refused should do, in a sentence for each status; left out where nothing is said. */
  readonly remedies?: Readonly<Record<RefusalStatus, string>>
}

/** Without any key that is accepted, without one in the request, and with another one. */
type RefusalStatus = 503 | 401 | 403

/** Headers of a request that may carry a key. */
interface KeyHeaders {
  readonly authorization?: string | undefined
  readonly 'x-api-key'?: string | readonly string[] | undefined
}

/** Why a request is refused. */
interface Refusal {
  readonly status: RefusalStatus
  readonly body: { readonly error: string; readonly message: string }
}

const unconfigured: Refusal = {
  status: 503,
  body: { error: 'service_unavailable', message: 'no API keys configured on server' },
}
const anonymous: Refusal = {
  status: 401,
  body: { error: 'unauthorized', message: 'missing or empty credentials' },
}
const unknown: Refusal = {
  status: 403,
  body: { error: 'forbidden', message: 'invalid credentials' },
}

/** A hook of fastify's `onRequest`, which answers those that are refused: 503 without keys, 401 without one, 403. */
export function requireToken(
  options: TokenAuthOptions,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const check = createCheck(options)
  return async (request, reply) => {
    void reply.header('cache-control', 'no-cache')
    const refusal = check(request.headers)
    if (refusal === null) return
    if (refusal.status === 401) void reply.header('www-authenticate', 'Bearer')
    const remedy = options.remedies?.[refusal.status]
    await reply.code(refusal.status).send({ ...refusal.body, ...(remedy && { remedy }) })
  }
}

/** A check of requests' headers; null lets a request in. */
function createCheck(options: TokenAuthOptions): (headers: KeyHeaders) => Refusal | null {
  if (options.mode === 'none') return () => null
  return (headers) => {
    const known = options.keys().map(digest)
    if (known.length === 0) return unconfigured
    const shown = shownKey(headers)
    if (shown === null) return anonymous
    return isKnown(digest(shown), known) ? null : unknown
  }
}

/** An `Authorization` header that holds no bearer token does not let `X-Api-Key` speak for it. */
function shownKey(headers: KeyHeaders): string | null {
  const { authorization, 'x-api-key': apiKey } = headers
  if (authorization !== undefined) return textOf(/^bearer[ \t]+(.*)$/is.exec(authorization)?.[1])
  return textOf([apiKey].flat()[0])
}

function textOf(value: string | undefined): string | null {
  const text = value?.trim() ?? ''
  return text === '' ? null : text
}

/** Equal lengths for the comparison, whatever was shown. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Compares with every key, so that the timing reveals neither whether nor which one matches. */
function isKnown(shown: Buffer, known: readonly Buffer[]): boolean {
  let found = 0
  for (const key of known) found |= Number(timingSafeEqual(shown, key))
  return found === 1
}
