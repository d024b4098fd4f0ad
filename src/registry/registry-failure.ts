/** How the registry chain fails, with a remedy for each way. */
import { codeOf, type Fact, messageWithCode, ServiceError } from '../errors.ts'

/** A URL as texts show it: name, password and query may be secrets. */
export function placeOf(url: string): string {
  return new URL(url).host
}

/** REGISTRY_UNREACHABLE: there was no answer, or it broke off. */
export function unreachable(place: string, setting: string, cause: unknown): ServiceError {
  return new ServiceError(
    'REGISTRY_UNREACHABLE',
    `the registry chain at ${place} does not answer: ${messageWithCode(cause)}`,
    {
      facts: { endpoint: place },
      remedy: isOfCertificate(cause)
        ? `The certificate has to be of the host in ${setting}, and its authority known here: NODE_EXTRA_CA_CERTS names a file with one of your own.`
        : `Check ${setting} and that the registry chain can be reached from here.`,
      cause,
    },
  )
}

/** Node names what is wrong about a certificate so, and OpenSSL what is wrong about who issued it. */
function isOfCertificate(cause: unknown): boolean {
  return /CERT|ISSUER|_LEAF_/.test(codeOf(cause) ?? '')
}

/** REGISTRY_REFUSED: it answered with an error. */
export function refused(
  place: string,
  what: string,
  facts: Readonly<Record<string, Fact>> = {},
): ServiceError {
  return new ServiceError('REGISTRY_REFUSED', `the registry chain at ${place} refuses: ${what}`, {
    facts: { endpoint: place, ...facts },
    remedy: 'Where this goes on, name another node with REGISTRY_LCD_URL and REGISTRY_RPC_URL.',
  })
}

/** REGISTRY_REFUSED with status 429: it is asked too often. `retryAfter` is the header as it came. */
export function rateLimited(place: string, retryAfter: unknown): ServiceError {
  const seconds = secondsOf(retryAfter)
  return new ServiceError(
    'REGISTRY_REFUSED',
    `the registry chain at ${place} refuses: it limits how often it is asked (HTTP status 429)`,
    {
      facts: {
        endpoint: place,
        status: 429,
        ...(seconds !== null && { retryAfterSeconds: seconds }),
      },
      remedy: 'It is asked again later; ask an endpoint that allows more, or one of your own.',
    },
  )
}

/** Nobody makes us wait for longer than a list is due anyway. */
const maxRetryAfterSeconds = 300

/** Of the header, seconds or a date; null where it is neither. */
function secondsOf(retryAfter: unknown): number | null {
  if (typeof retryAfter !== 'string') return null
  const seconds = /^\d{1,9}$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - Date.now()) / 1_000)
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), maxRetryAfterSeconds)
}

/** For how long the chain asked not to be asked; 0 where it did not. At most five minutes. */
export function retryAfterMs(failure: ServiceError | null): number {
  return Number(failure?.facts['retryAfterSeconds'] ?? 0) * 1_000
}

/** REGISTRY_ANSWER_MALFORMED: what it answered is not what was asked for. */
export function answerMalformed(place: string, what: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'REGISTRY_ANSWER_MALFORMED',
    `the answer of the registry chain at ${place} is not usable: ${what}`,
    {
      facts: { endpoint: place },
      remedy:
        'Check that REGISTRY_LCD_URL is the LCD (REST) of the registry chain and REGISTRY_RPC_URL its consensus RPC.',
      cause,
    },
  )
}

/** REGISTRY_ANSWER_TOO_LARGE: more than may be read, or than the chain itself can pass on. */
export function tooLarge(
  place: string,
  most: { readonly maxBytes: number } | { readonly maxValues: number },
): ServiceError {
  const what = 'maxBytes' in most ? `${most.maxBytes} bytes` : `${most.maxValues} values`
  return new ServiceError(
    'REGISTRY_ANSWER_TOO_LARGE',
    `the answer of the registry chain at ${place} has more than ${what}`,
    {
      facts: { endpoint: place, ...most },
      remedy: 'Where this goes on, name another node with REGISTRY_LCD_URL and REGISTRY_RPC_URL.',
    },
  )
}

/** Any failure as one that can be shown; one that is not the chain's is a mistake of ours, and shows as its cause. */
export function asFailure(error: unknown, place: string): ServiceError {
  return error instanceof ServiceError
    ? error
    : answerMalformed(place, messageWithCode(error), error)
}
