/** Failures of the chain's JSON-RPC as viem has them, made ours; without viem's text, which repeats the whole request. */
import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { ServiceError } from '../../errors.ts'

/** Node and chain put the reason last. */
const rpcPrefix = /^(?:rpc error: code = \w+ desc = |execution reverted: ?)/

/** Characters of the reason: an answer may be megabytes. */
const maxReason = 1_000

/** REGISTRY_UNREACHABLE, REGISTRY_REFUSED with the reason in its facts, or REGISTRY_ANSWER_MALFORMED. */
export function registryRpcFailure(error: unknown, url: string): ServiceError {
  if (error instanceof ServiceError) return error
  const endpoint = new URL(url).host
  const found = causeOf(error)
  if (found instanceof RpcRequestError) {
    const reason = found.details.replace(rpcPrefix, '').slice(0, maxReason)
    return new ServiceError(
      'REGISTRY_REFUSED',
      `the registry chain at ${endpoint} refuses: ${reason}`,
      {
        facts: { endpoint, reason, code: found.code },
        remedy: 'Remove the cause that the chain names, and try again.',
      },
    )
  }
  if (found instanceof HttpRequestError || found instanceof TimeoutError) {
    return new ServiceError(
      'REGISTRY_UNREACHABLE',
      `no answer from the registry chain at ${endpoint}: ${reasonOf(found)}`,
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
  return status ? `HTTP ${error.status}` : error.details || error.shortMessage
}
