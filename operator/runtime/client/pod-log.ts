/** The log of a container, as the kubelet keeps it. */
import { answerError, type Call } from './api-error.ts'
import { type Requests, textOf } from './requests.ts'
import { builtinTypes, type ObjectAddress } from './resource-type.ts'

/** Which part of it. */
export interface PodLogOptions {
  readonly signal?: AbortSignal | undefined
  readonly container: string
  /** The newest lines only. */
  readonly tailLines?: number | undefined
  /** Not older than so many seconds. */
  readonly sinceSeconds?: number | undefined
  /** Of the container before the last restart. */
  readonly previous?: boolean
  /** Goes on until the container ends. */
  readonly follow?: boolean
}

/** A container that says nothing for so long is no longer followed. */
const maxSilenceMs = 86_400_000
const silenceMs = 30_000

/** See `KubernetesApi.readLog`. */
export async function* readLog(
  requests: Pick<Requests, 'stream'>,
  pod: Omit<ObjectAddress, 'type'>,
  { signal, follow = false, ...options }: PodLogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const call: Call = { verb: 'get', type: builtinTypes.Pod, ...pod, subresource: 'log' }
  const given = Object.entries({ follow, ...options }).filter(([, value]) => value !== undefined)
  const query = Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
  const { status, retryAfter, chunks } = await requests.stream(
    call,
    { query, signal },
    follow ? maxSilenceMs : silenceMs,
  )
  if (status >= 300) throw answerError(call, status, await textOf(chunks), retryAfter)
  yield* chunks
}
