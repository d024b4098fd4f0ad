/** What the API server refuses, as errors whose codes say what to do next. */
import { type ErrorCode, type Fact, ServiceError } from '../../../src/errors.ts'
import type { ResourceType } from './resource-type.ts'

/** What is asked, as roles name it; `apply` is a patch there. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'replace' | 'apply' | 'patch' | 'delete'

/** One request, as errors, metrics and hooks name it. */
export interface Call {
  readonly verb: Verb
  readonly type: ResourceType
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

/** A `Status` of Kubernetes, as far as it is read. */
interface StatusBody {
  readonly message?: unknown
  readonly reason?: unknown
  readonly code?: unknown
  readonly details?: {
    readonly retryAfterSeconds?: unknown
    readonly causes?: readonly { readonly message?: unknown; readonly field?: unknown }[]
  }
}

/** Whether an error carries this code. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is ServiceError {
  return error instanceof ServiceError && codes.includes(error.code)
}

/** How long the API server asked to wait; undefined where it did not. */
export function retryAfterOf(error: unknown): number | undefined {
  const found = error instanceof ServiceError ? error.facts['retryAfterMs'] : undefined
  return typeof found === 'number' ? found : undefined
}

/** The error for an answer that is none of success; `retryAfter` is the header. */
export function answerError(
  call: Call,
  status: number,
  text: string,
  retryAfter?: string,
): ServiceError {
  return statusError(call, { code: status, ...parseStatus(text) }, retryAfter)
}

/** The error for a Status in a watch, which comes with HTTP status 200. */
export function statusError(call: Call, body: StatusBody, retryAfter?: string): ServiceError {
  const status = Number(body.code ?? 0)
  const reason = typeof body.reason === 'string' ? body.reason : ''
  const code = codeOf(status, reason)
  const said = call.type.confidential ? quotaOf(body.message) : textOf(body.message)
  const seconds = Number(retryAfter ?? body.details?.retryAfterSeconds)
  const fields = fieldsOf(body)
  return new ServiceError(code, `${describeCall(call)}: ${status} ${said || reason}`.trimEnd(), {
    facts: {
      ...factsOf(call),
      status,
      reason,
      ...(fields === '' ? {} : { fields }),
      ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {}),
    },
    remedy: remedyOf(code, textOf(body.message)),
  })
}

/** How the API server words what a role does not allow; admission, which also answers 403, words it otherwise. */
const lacksRight = /cannot \S+ (resource|path) |cannot set blockOwnerDeletion/

/** How a ResourceQuota refuses; names and figures alone, whatever else stands around them. */
const quantities = '[a-z0-9./-]+=[0-9.]+[A-Za-z]{0,2}'
const exceededQuota = new RegExp(
  `exceeded quota: [a-z0-9.-]+(, (requested|used|limited): ${quantities}(,${quantities})*){3}`,
)

/** What a quota says is never data; of anything else nothing is said. */
function quotaOf(message: unknown): string {
  return exceededQuota.exec(textOf(message))?.[0] ?? ''
}

function remedyOf(code: ErrorCode, message: string): string {
  if (exceededQuota.test(message)) return quotaRemedy
  const isPolicy = code === 'OPERATOR_API_FORBIDDEN' && message !== '' && !lacksRight.test(message)
  return isPolicy ? policyRemedy : (remedies[code] ?? remedies.OPERATOR_API_FAILED)
}

/**
 * The error of a JSON patch. Where an operation does not fit the object, a test among them, the API
 * server says Invalid and names no field: the object was written after it was read, and whoever reads it
 * again and asks again gets on.
 */
export function jsonPatchError(error: unknown): unknown {
  if (!hasCode(error, 'OPERATOR_API_INVALID') || error.facts['fields'] !== undefined) return error
  return new ServiceError(
    'OPERATOR_API_CONFLICT',
    `${error.message}: the object is no longer as it was read`,
    { facts: error.facts, remedy: later, cause: error },
  )
}

/** `apply hosts/status apps/mainnet`. */
export function describeCall({ verb, type, namespace, name, subresource }: Call): string {
  const object = [namespace, name].filter((part) => part !== undefined).join('/')
  const plural = subresource === undefined ? type.plural : `${type.plural}/${subresource}`
  return [verb, plural, object].filter((part) => part !== '').join(' ')
}

/** The facts that every error of a call has. */
export function factsOf({ verb, type, namespace, name }: Call): Readonly<Record<string, Fact>> {
  return {
    verb,
    kind: type.kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  }
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'OPERATOR_API_UNAUTHORIZED',
  403: 'OPERATOR_API_FORBIDDEN',
  404: 'OPERATOR_API_NOT_FOUND',
  409: 'OPERATOR_API_CONFLICT',
  410: 'OPERATOR_API_EXPIRED',
  422: 'OPERATOR_API_INVALID',
  429: 'OPERATOR_API_BUSY',
}

function codeOf(status: number, reason: string): ErrorCode {
  if (reason === 'AlreadyExists') return 'OPERATOR_API_EXISTS'
  const code = codes[status]
  if (code !== undefined) return code
  return status >= 400 && status < 500 ? 'OPERATOR_API_REFUSED' : 'OPERATOR_API_FAILED'
}

const later = 'Nothing: it is tried again.'
const quotaRemedy = 'Raise the quota of the namespace, or free something.'
const policyRemedy =
  'A policy of the cluster refuses it, whatever the role of the operator is: correct in the spec, mostly in podTemplate, what it complains of, or ask the owner of the policy to allow it.'
const remedies: Partial<Record<ErrorCode, string>> & { readonly OPERATOR_API_FAILED: string } = {
  OPERATOR_API_UNAUTHORIZED: 'Check the service account token or the kubeconfig of the operator.',
  OPERATOR_API_FORBIDDEN:
    'Give the role of the operator this verb on this kind; its chart has the whole list.',
  OPERATOR_API_NOT_FOUND: 'Nothing where the object is meant to go; else install its kind.',
  OPERATOR_API_CONFLICT: later,
  OPERATOR_API_EXISTS: later,
  OPERATOR_API_EXPIRED: later,
  OPERATOR_API_INVALID: 'Correct what the message names in the spec of the resource.',
  OPERATOR_API_REFUSED: 'Check that the cluster is of a version that the operator supports.',
  OPERATOR_API_BUSY: later,
  OPERATOR_API_FAILED: 'See the log of the API server if this does not pass.',
}

function parseStatus(text: string): StatusBody {
  try {
    const body = JSON.parse(text) as (StatusBody & { readonly kind?: unknown }) | null
    return body?.kind === 'Status' ? body : {}
  } catch {
    return { message: text.trim() }
  }
}

const maxTextLength = 1_024

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxTextLength) : ''
}

/** The fields that are named, which never hold data. */
function fieldsOf(body: StatusBody): string {
  const causes = body.details?.causes
  if (!Array.isArray(causes)) return ''
  return causes
    .map(({ field }) => textOf(field))
    .filter((field) => field !== '')
    .join(', ')
}
