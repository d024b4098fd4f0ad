/** Failures of the chain's JSON-RPC as viem has them, made ours; without viem's text, which repeats the whole request. */
import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { messageWithCode, ServiceError } from '../../errors.ts'
import { onOneLine } from '../../one-line.ts'

/** Node and chain put the reason last. */
const rpcPrefix = /^(?:rpc error: code = \w+ desc = |execution reverted: ?)/

/** Characters of the reason: an answer may be megabytes, and with lines of its own look like our remedies. */
const maxReason = 1_000

/** A time-out closes the channel to the other chain. */
const closedChannel = /no active channel|no connection ID/i

/** What to do about reasons of the chain, by a part of their text. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /invalid chain id/i,
    'The chain signs with another ID than its RPC says: give it with --chain-id N.',
  ],
  [
    closedChannel,
    'The channel of the registry chain is closed; there is nothing to do but to try later.',
  ],
  [
    /insufficient funds/i,
    'Send coins to the address that signs: test networks have a faucet; npm start has funded keys.',
  ],
  [
    /invalid (?:sequence|nonce)|nonce too (?:low|high)/i,
    'Another transaction of this key was first: wait for its block, then try again.',
  ],
]

/** Whether a reason of the chain is that it reaches the other one no longer, as after a time-out. */
export function isChannelClosed(reason: string): boolean {
  return closedChannel.test(reason)
}

/** REGISTRY_UNREACHABLE, REGISTRY_REFUSED with the reason in its facts, or REGISTRY_ANSWER_MALFORMED. */
export function registryRpcFailure(error: unknown, url: string): ServiceError {
  if (error instanceof ServiceError) return error
  const endpoint = new URL(url).host
  const found = causeOf(error)
  if (found instanceof RpcRequestError) {
    const reason = onOneLine(found.details.replace(rpcPrefix, '').slice(0, maxReason), maxReason)
    return new ServiceError(
      'REGISTRY_REFUSED',
      `the registry chain at ${endpoint} refuses: ${reason}`,
      {
        facts: { endpoint, reason, code: found.code },
        remedy: remedyOf(reason),
      },
    )
  }
  if (found instanceof HttpRequestError || found instanceof TimeoutError) {
    return new ServiceError(
      'REGISTRY_UNREACHABLE',
      `the registry chain at ${endpoint} does not answer: ${reasonOf(found)}`,
      {
        facts: { endpoint },
        remedy: 'Check --rpc and that the registry chain can be reached from here.',
      },
    )
  }
  return new ServiceError(
    'REGISTRY_ANSWER_MALFORMED',
    `the registry chain at ${endpoint} does not answer as its JSON-RPC does`,
    {
      facts: { endpoint },
      remedy: 'Check that --rpc is the JSON-RPC of the EVM of the registry chain.',
    },
  )
}

function remedyOf(reason: string): string {
  const found = remedies.find(([pattern]) => pattern.test(reason))
  return found?.[1] ?? 'Remove the cause that the chain names, and try again.'
}

function causeOf(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error
  return error.walk(
    (cause) =>
      cause instanceof RpcRequestError ||
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError,
  )
}

function reasonOf(error: HttpRequestError | TimeoutError): string {
  const status = error instanceof HttpRequestError && error.status !== undefined
  if (status) return `HTTP ${error.status}`
  // fetch says only that it failed.
  const reason = error.cause instanceof Error ? error.cause.cause : undefined
  return reason === undefined ? error.details || error.shortMessage : messageWithCode(reason)
}
