/**
 * JSON-RPC 2.0 as text (https://www.jsonrpc.org/specification): encodes calls into a request
 * body, and decodes a response body into one outcome per call, in the order of the calls.
 */
import { ServiceError } from '../errors.ts'
import { hasMoreParts, isNestedDeeper } from '../json-parts.ts'
import { onOneLine } from '../one-line.ts'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * The outcome of one call; `missing` = the batch response has no element for it, or the batch failed.
 */
export type RpcOutcome =
  | { readonly kind: 'result'; readonly value: unknown }
  | RpcError
  | { readonly kind: 'missing' }

interface RpcError {
  readonly kind: 'error'
  readonly code: number
  /** One line, cut where it is long. */
  readonly message: string
}

/** `refused` = one error for the whole batch, which is how nodes refuse batches. */
type RpcResponse =
  | { readonly kind: 'outcomes'; readonly outcomes: readonly RpcOutcome[] }
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }

/** The code of an error about a method that a node does not have (chapter 5.1). */
export const methodNotFound = -32601
/** The outcome of a call without a response. */
export const missing: RpcOutcome = { kind: 'missing' }
const maxShownCharacters = 120
/** Brackets that may be open at once: at a topic of a receipt in a batch 6 are. */
const maxDepth = 64
/** Commas and opening brackets of a long response, by its length: blocks have one in 45 to 70 characters. */
const charactersPerPart = 8
/** Shorter than this no response takes much memory, and those of most blocks are. */
const longCharacters = 4 * 1024 * 1024
/** Characters of an error's message: it goes into messages, the log and `/health`. */
const maxMessageCharacters = 300

/** The request body: one object for one call, an array for more. Ids count up from `firstId`. */
export function encodeCalls(calls: readonly RpcCall[], firstId: number): string {
  const parts = calls.map(({ method, params }, index) =>
    JSON.stringify({ jsonrpc: '2.0', id: firstId + index, method, params }),
  )
  const joined = parts.join(',')
  return calls.length === 1 ? joined : `[${joined}]`
}

/** Decodes the response to `encodeCalls`. Throws CHAIN_ANSWER_MALFORMED. */
export function decodeResponse(text: string, count: number, firstId: number): RpcResponse {
  const response = parseJson(text)
  if (Array.isArray(response))
    return { kind: 'outcomes', outcomes: sortOut(response, count, firstId) }
  const outcome = outcomeOf(response)
  if (outcome === null) throw malformed('neither a result nor an error', text)
  if (count === 1) return { kind: 'outcomes', outcomes: [outcome] }
  if (outcome.kind !== 'error') throw malformed('one result for a batch', text)
  return { ...outcome, kind: 'refused' }
}

function parseJson(text: string): unknown {
  if (isNestedDeeper(text, maxDepth))
    throw malformed(`nested deeper than ${maxDepth} brackets`, text)
  if (text.length > longCharacters && hasMoreParts(text, text.length / charactersPerPart))
    throw malformed('of more values than its length explains', text)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed('not JSON, or cut short', text, cause)
  }
}

function sortOut(response: readonly unknown[], count: number, firstId: number): RpcOutcome[] {
  const outcomes: RpcOutcome[] = new Array(count).fill(missing)
  for (const item of response) {
    const outcome = outcomeOf(item)
    if (outcome === null) continue
    const index = toNumber((item as { id: unknown }).id) - firstId
    if (index in outcomes) outcomes[index] = outcome
  }
  return outcomes
}

function outcomeOf(item: unknown): RpcOutcome | null {
  const { result, error } = (item ?? {}) as { result?: unknown; error?: unknown }
  if (typeof error === 'object' && error !== null) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    const text =
      typeof message === 'string' ? onOneLine(message, maxMessageCharacters) : 'no message'
    return { kind: 'error', code: toNumber(code), message: text }
  }
  return result === undefined ? null : { kind: 'result', value: result }
}

/** A number, also one in a string; NaN for all else, as converting an object may throw. */
function toNumber(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

function malformed(what: string, text: string, cause?: unknown): ServiceError {
  return new ServiceError('CHAIN_ANSWER_MALFORMED', `the node's response is ${what}`, {
    facts: { starts: onOneLine(text, maxShownCharacters), characters: text.length },
    remedy: 'Check that the URL is the JSON-RPC address of an execution node.',
    cause,
  })
}
