/** The chain's JSON-RPC: asked with bounds on time and size, and until a signal. */
import {
  createPublicClient,
  type Hex,
  type HttpTransport,
  http,
  type PublicClient,
  type RpcTransactionReceipt,
} from 'viem'
import { registryRpcFailure } from './rpc-failure.ts'

/** The chain behind one URL. */
interface ChainRpc {
  /** @throws ServiceError `REGISTRY_UNREACHABLE`, `REGISTRY_REFUSED`, `REGISTRY_ANSWER_MALFORMED`; the signal's reason */
  ask<T>(action: (client: PublicClient) => Promise<T>): Promise<T>
}

const timeoutMs = 20_000
const maxResponseBodySize = 8 * 1024 * 1024

/** Reaches nothing yet. The signal ends requests under way. */
export function openChainRpc(url: string, signal: AbortSignal): ChainRpc {
  const client = createPublicClient({ transport: boundedTransport(url, signal) })
  return {
    async ask(action) {
      try {
        return await action(client)
      } catch (error) {
        signal.throwIfAborted()
        throw registryRpcFailure(error, url)
      }
    },
  }
}

/** The gas limit for what the chain estimates: a tenth more, since it may be called in another state. */
export function gasLimit(estimated: bigint): bigint {
  return (estimated * 11n + 9n) / 10n
}

/** A number of the node that is signed or shown. @throws RangeError below 0, which for `ask` is an answer of no JSON-RPC */
export function notNegative<Value extends number | bigint>(value: Value): Value {
  if (value < 0) throw new RangeError(`${value} is negative`)
  return value
}

/** As the chain returns it, unread: its logs name other heights than viem accepts. Null while it is in no block. */
export async function requestReceipt(
  client: PublicClient,
  hash: string,
): Promise<RpcTransactionReceipt | null> {
  return await client.request({ method: 'eth_getTransactionReceipt', params: [hash as Hex] })
}

function boundedTransport(url: string, signal: AbortSignal): HttpTransport {
  return http(url, {
    timeout: timeoutMs,
    retryCount: 2,
    maxResponseBodySize,
    // Not by fetchOptions: a signal there takes the place of that of the timeout.
    fetchFn: (input, init) => {
      const signals = [signal, init?.signal].filter((each) => each != null)
      return fetch(input, { ...init, signal: AbortSignal.any(signals) })
    },
  })
}
