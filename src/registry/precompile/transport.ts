/** How the chain's JSON-RPC is reached: with bounds on time and size, and until a signal. */
import { type HttpTransport, http } from 'viem'

const timeoutMs = 20_000
const maxResponseBodySize = 8 * 1024 * 1024

/** The signal ends requests under way, which fail then. */
export function registryTransport(url: string, signal: AbortSignal): HttpTransport {
  return http(url, {
    timeout: timeoutMs,
    retryCount: 2,
    maxResponseBodySize,
    // Not by fetchOptions: a signal there takes the place of that of the timeout.
    fetchFn: (input, init) => fetch(input, { ...init, signal: eitherOf(signal, init?.signal) }),
  })
}

function eitherOf(signal: AbortSignal, other: AbortSignal | null | undefined): AbortSignal {
  return other == null ? signal : AbortSignal.any([signal, other])
}
